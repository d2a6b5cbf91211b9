// Checks memory_marks.sv: a count doesn't wrap, or a mark would be reached that isn't.
`include "sva.svh"

module memory_marks_sva
  import accsim_pkg::*;
(
  input logic   clk_i,
  input logic   rst_ni,
  input logic   load_i,
  input marks_t marks_q
);
  `ASSERT(NoneIsLost_A,
          1'b1 |=> marks_q.loaded >= $past(marks_q.loaded) &&
          marks_q.stored >= $past(marks_q.stored) &&
          marks_q.stored_shared >= $past(marks_q.stored_shared) &&
          marks_q.staged >= $past(marks_q.staged));
  `ASSERT(LoadsCountAtOnce_A, load_i |=> marks_q.loaded != $past(marks_q.loaded));
endmodule

bind memory_marks memory_marks_sva u_sva (.*);
