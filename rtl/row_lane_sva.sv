// Checks row_lane.sv: softmax and normalisation don't meet at a multiplier, terms
// and values keep to their limits.
`include "sva.svh"

module row_lane_sva
  import accsim_pkg::*;
(
  input logic               clk_i,
  input logic [5:2]         exp_i,
  input logic [9:6]         soft_i,
  input logic [9:1]         norm_i,
  input logic [30:0]        term_q,
  input row_zeros_t         zeros_i,
  input code_t              value_o
);
  `BEGUN

  `ASSERT_ALWAYS(FirstMultiplierFree_A, !(exp_i[4] && norm_i[2]));
  `ASSERT_ALWAYS(SecondMultiplierFree_A,
                 !(soft_i[6] && norm_i[5]) && !(soft_i[7] && norm_i[6]) &&
                 !(soft_i[8] && norm_i[7]) && !(soft_i[9] && norm_i[9]));
  `ASSERT_ALWAYS(TermIsAtMostOne_A, exp_i[5] |=> term_q <= 31'h4000_0000);
  `ASSERT_ALWAYS(BetweenTheLimits_A,
                 soft_i[9] || norm_i[9] |=> signed'(value_o) >= $past(signed'(zeros_i.low)) &&
                 signed'(value_o) <= $past(signed'(zeros_i.high)));
endmodule

bind row_lane row_lane_sva u_sva (.*);
