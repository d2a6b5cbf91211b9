// Checks post_lane.sv: what comes out lies between the limits, and stays until the next.
`include "sva.svh"

module post_lane_sva (
  input logic               clk_i,
  input logic [4:0]         valid_i,
  input logic signed [15:0] low_i,
  input logic signed [15:0] high_i,
  input logic [15:0]        value_o
);
  `BEGUN

  logic signed [15:0] value;
  assign value = 16'(signed'(value_o));

  `ASSERT_ALWAYS(LimitsInOrder_A, valid_i[4] |-> low_i <= high_i);
  `ASSERT_ALWAYS(BetweenLimits_A,
                 valid_i[4] |=> value >= $past(low_i) && value <= $past(high_i));
  `ASSERT_ALWAYS(IdleStays_A, !valid_i[4] |=> $stable(value_o));
endmodule

bind post_lane post_lane_sva u_sva (.*);
