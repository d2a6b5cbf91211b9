// Checks residual_lane.sv: a sum lies between its limits, a value without a residual stays.
`include "sva.svh"

module residual_lane_sva
  import accsim_pkg::*;
(
  input logic               clk_i,
  input logic [4:0]         valid_i,
  input logic               on_i,
  input limits_t            limits_i,
  input factor_t            value_i,
  input code_t              value_o
);
  `BEGUN

  `ASSERT_ALWAYS(BetweenTheLimits_A,
                 valid_i[4] && on_i |=> signed'(value_o) >= signed'($past(limits_i.low)) &&
                 signed'(value_o) <= signed'($past(limits_i.high)));
  `ASSERT_ALWAYS(StaysWithout_A,
                 valid_i[4] && !on_i |=> value_o == $past(value_i[OperandBits-1:0]));
endmodule

bind residual_lane residual_lane_sva u_sva (.*);
