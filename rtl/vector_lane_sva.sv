// Checks vector_lane.sv: a value lies between its limits; the minimum and maximum of taps only fall
// and rise.
`include "sva.svh"

module vector_lane_sva
  import accsim_pkg::*;
(
  input logic               clk_i,
  input logic [6:0]         valid_i,
  input logic               first_i,
  input logic               column_i,
  input logic               window_i,
  input logic [2:0]         kept_i,
  input tap_op_e            tap_op_i,
  input sum_t               taps_q,
  input operand_t           low_i,
  input operand_t           high_i,
  input code_t              value_o
);
  `BEGUN

  `ASSERT_ALWAYS(BetweenTheLimits_A,
                 valid_i[6] |=> signed'(value_o) >= $past(low_i) &&
                 signed'(value_o) <= $past(high_i));
  `ASSERT_ALWAYS(MinimumFalls_A,
                 valid_i[1] && !first_i && tap_op_i == TapMin |=> taps_q <= $past(taps_q));
  `ASSERT_ALWAYS(MaximumRises_A,
                 valid_i[1] && !first_i && tap_op_i == TapMax |=> taps_q >= $past(taps_q));
  `ASSERT_ALWAYS(WindowEndsWithAColumn_A, valid_i[1] && window_i |-> column_i && kept_i != '0);
endmodule

bind vector_lane vector_lane_sva u_sva (.*);
