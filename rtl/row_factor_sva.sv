// Checks row_factor.sv: one row in a cycle is divided, with the sums in their widths.
`include "sva.svh"

module row_factor_sva
  import accsim_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input row_cmd_t    cmd_i,
  input logic        terms_on_i,
  input logic [46:0] terms_i,
  input logic        sums_on_i,
  input logic        soft_q, root_done,
  input logic [3:1]  sums_q,
  input logic [47:0] length_squares_q, about_squares_q,
  input logic [31:0] root,
  input logic [6:0]  norm_wide
);
  `ASSERT(OneAtATime_A, !(soft_q && root_done));
  `ASSERT(TermsOfASoftmax_A, terms_on_i |-> !cmd_i.mode.row_norm);
  `ASSERT(SumsOfANormalisation_A, sums_on_i |-> cmd_i.mode.row_norm);
  `ASSERT(MaximumIsOne_A,
          terms_on_i |-> terms_i >= 47'h4000_0000 && terms_i <= 47'h4000_0000_0000);
  `ASSERT(VarianceIsPositive_A, sums_q[2] |-> length_squares_q >= about_squares_q);
  `ASSERT(RootIsWhole_A, root_done |-> root[31]);
  `ASSERT(UnitShiftFits_A, sums_q[3] |-> norm_wide[6] || norm_wide <= 7'd32);
endmodule

bind row_factor row_factor_sva u_sva (.*);
