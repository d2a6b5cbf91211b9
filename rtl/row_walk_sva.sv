// Checks row_walk.sv: one pass a cycle, no row in a pass before it has gone through the one before,
// and as many rows in flight as there are slots for them at most.
`include "sva.svh"

module row_walk_sva
  import accsim_pkg::*;
(
  input logic                      clk_i,
  input logic                      load_i,
  input row_cmd_t                  cmd_q_i,
  input logic                      step_i,
  input logic                      beat_o,
  input logic                      done_o,
  input logic      [RowPasses-1:0] run, ended, left,
  input row_slot_t [RowPasses-1:0] row_q,
  input word_t                     step_q
);
  `BEGUN

  row_slot_t flying, unsummed;  // rows that are begun and not written, or not summed up
  assign flying   = row_q[RowFirst] - row_q[RowWrite];
  assign unsummed = row_q[RowFirst] - row_q[RowSum];

  `ASSERT_ALWAYS(OnePassACycle_A, $onehot0(run));
  `ASSERT_ALWAYS(WorksInItsTime_A, beat_o |-> step_i);
  `ASSERT_ALWAYS(LoadedWhenDone_A, load_i && step_i |-> done_o);
  `ASSERT_ALWAYS(WritesWhatIsBegun_A, run[RowWrite] |-> flying != '0);
  `ASSERT_ALWAYS(SumsWhatIsBegun_A, run[RowSum] |-> unsummed != '0);
  `ASSERT_ALWAYS(SlotsSuffice_A, run[RowFirst] |-> flying < 3'(RowSoftmaxWrite + 1));
  `ASSERT_ALWAYS(EndsWithTheLastRow_A, done_o |-> (left & ~ended) == '0 &&
                 step_q >= cmd_q_i.count);
endmodule

bind row_walk row_walk_sva u_sva (.*);
