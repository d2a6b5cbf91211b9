// Checks array_ws.sv: what is filled into the shadow registers is swapped in before the next fill.
`include "sva.svh"

module array_ws_sva #(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8
) (
  input logic clk_i,
  input logic swap_i,
  input logic write_i
);
  `BEGUN

  if (Rows < 1 || Cols < 1) begin : gen_illegal
    $error("array_ws: at least one row and one column");
  end

  logic filled_q = 1'b0;  // a fill has begun that isn't swapped in
  always_ff @(posedge clk_i) begin
    if (write_i)     filled_q <= 1'b1;
    else if (swap_i) filled_q <= 1'b0;
  end

  `ASSERT_ALWAYS(FillNotOverwritten_A, write_i |-> !filled_q || swap_i);
  `ASSERT_ALWAYS(SwapOfAFill_A, swap_i |-> filled_q);
endmodule

bind array_ws array_ws_sva #(.Rows(Rows), .Cols(Cols)) u_sva (.*);
