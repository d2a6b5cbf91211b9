// Checks post_lane.sv: what comes out lies between the limits, and stays until the next.
`include "sva.svh"

module post_lane_sva
  import accsim_pkg::*;
(
  input logic                  clk_i,
  input logic [4:0]            valid_i,
  input factor_t               low_i,
  input factor_t               high_i,
  input logic [FactorBits-1:0] value_o
);
  `BEGUN

  factor_t value;
  assign value = factor_t'(signed'(value_o));

  `ASSERT_ALWAYS(LimitsInOrder_A, valid_i[4] |-> low_i <= high_i);
  `ASSERT_ALWAYS(BetweenLimits_A,
                 valid_i[4] |=> value >= $past(low_i) && value <= $past(high_i));
  `ASSERT_ALWAYS(IdleStays_A, !valid_i[4] |=> $stable(value_o));
endmodule

bind post_lane post_lane_sva u_sva (.*);
