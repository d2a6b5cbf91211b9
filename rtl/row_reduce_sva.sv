// Checks row_reduce.sv: what a row comes to only rises from one of its beats to the next, and a sum
// is no more than its squares.
`include "sva.svh"

module row_reduce_sva (
  input logic               clk_i,
  input logic [4:2]         maximum_on_i,
  input logic [5:3]         sums_on_i,
  input logic [8:6]         terms_on_i,
  input logic               maximum_first_i, sums_first_i, terms_first_i,
  input logic signed [24:0] maximum_o, maximum_row_q,
  input logic signed [24:0] sum_o,
  input logic [31:0]        squares_o, squares_row_q,
  input logic [46:0]        terms_o, terms_row_q
);
  `BEGUN

  `ASSERT_ALWAYS(MaximumRises_A,
                 maximum_on_i[4] && !maximum_first_i |-> maximum_o >= maximum_row_q);
  `ASSERT_ALWAYS(SquaresRise_A, sums_on_i[5] && !sums_first_i |-> squares_o >= squares_row_q);
  `ASSERT_ALWAYS(TermsRise_A, terms_on_i[8] && !terms_first_i |-> terms_o >= terms_row_q);
  `ASSERT_ALWAYS(SumIsInItsSquares_A,
                 sums_on_i[5] |-> 33'(signed'(sum_o)) <= signed'({1'b0, squares_o}) &&
                 -33'(signed'(sum_o)) <= signed'({1'b0, squares_o}));
endmodule

bind row_reduce row_reduce_sva u_sva (.*);
