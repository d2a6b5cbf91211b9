// Checks array_os.sv: sums leave one after another, each drain before the next.
`include "sva.svh"

module array_os_sva #(
  parameter int unsigned Rows      = 8,
  parameter int unsigned Cols      = 8,
  parameter int unsigned IndexBits = 4
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 valid_i,
  input logic [IndexBits-1:0] index_i,
  input logic                 capture_i,
  input logic                 shift_i
);
  if (Rows < 1 || Cols < 1) begin : gen_illegal
    $error("array_os: at least one row and one column");
  end

  // Cycles until the next capture, and the next shift, may come.
  int unsigned capture_q, shift_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      capture_q <= '0;
      shift_q   <= '0;
    end else begin
      if (capture_i)            capture_q <= Rows - 1;
      else if (capture_q != '0) capture_q <= capture_q - 1;
      if (shift_i)              shift_q <= Rows - 1;
      else if (shift_q != '0)   shift_q <= shift_q - 1;
    end
  end

  `ASSERT(DrainsApart_A, capture_i |-> capture_q == '0);
  `ASSERT(ShiftsApart_A, shift_i |-> shift_q == '0);
  `ASSERT(ElementIsThere_A, valid_i |-> 32'(index_i) < 32'(Rows));
endmodule

bind array_os array_os_sva #(.Rows(Rows), .Cols(Cols), .IndexBits(IndexBits)) u_sva (.*);
