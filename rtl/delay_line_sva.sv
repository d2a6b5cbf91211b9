// Checks delay_line.sv: what comes in goes out `Cycles` later, and zeros before that.
`include "sva.svh"

module delay_line_sva #(
  parameter int unsigned Width  = 1,
  parameter int unsigned Cycles = 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [Width-1:0] data_i,
  input logic [Width-1:0] data_o
);
  if (Width < 1 || Cycles < 1) begin : gen_illegal
    $error("delay_line: at least one bit and one cycle");
  end

  int unsigned age_q;  // cycles since reset
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)             age_q <= '0;
    else if (age_q < Cycles) age_q <= age_q + 1;
  end

  `ASSERT(Late_A, age_q == Cycles |-> data_o == $past(data_i, Cycles));
  `ASSERT(ZeroAfterReset_A, age_q < Cycles |-> data_o == '0);
endmodule

bind delay_line delay_line_sva #(.Width(Width), .Cycles(Cycles)) u_sva (.*);
