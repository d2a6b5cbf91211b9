// Checks residual_lane.sv: a sum lies between its limits, a value without a residual stays.
`include "sva.svh"

module residual_lane_sva
  import accsim_pkg::*;
(
  input logic               clk_i,
  input logic [4:0]         valid_i,
  input logic               on_i,
  input limits_t            limits_i,
  input logic signed [15:0] value_i,
  input logic [7:0]         value_o
);
  `BEGUN

  `ASSERT_ALWAYS(BetweenTheLimits_A,
                 valid_i[4] && on_i |=> signed'(value_o) >= signed'($past(limits_i.low)) &&
                 signed'(value_o) <= signed'($past(limits_i.high)));
  `ASSERT_ALWAYS(StaysWithout_A, valid_i[4] && !on_i |=> value_o == $past(value_i[7:0]));
endmodule

bind residual_lane residual_lane_sva u_sva (.*);
