// Checks row_log.sv: a sum lies where that of a softmax does, its logarithm between 0 and 16.
`include "sva.svh"

module row_log_sva (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        on_i,
  input logic [46:0] terms_i,
  input logic [20:0] log_q
);
  logic [3:0] on_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) on_q <= '0;
    else         on_q <= {on_q[2:0], on_i};
  end

  `ASSERT(MaximumIsOne_A, on_i |-> terms_i >= 47'h4000_0000);
  `ASSERT(LogarithmFits_A, on_q[3] |-> log_q <= 21'h10_0000);
endmodule

bind row_log row_log_sva u_sva (.*);
