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
  input logic      [RowPasses-1:0] run, group_ended, all_ended, left,
  input logic                      all_begun, written,  // first pass, a row in the last
  input row_slot_t [RowPasses-1:0] row_q,
  input logic      [2:0]           write_from
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
  `ASSERT_ALWAYS(GroupsAreSmall_A,
                 step_i |-> cmd_q_i.shifts.group != '0 && cmd_q_i.shifts.group <= 8'(RowStep / 2));
  `ASSERT_ALWAYS(SlotsSuffice_A,
                 run[RowFirst] |-> 8'(flying) < (8'(write_from) + 8'd1) * cmd_q_i.shifts.group &&
                 flying != row_slot_t'(RowSlots - 1));
  `ASSERT_ALWAYS(EndsWithTheLastRow_A,
                 done_o |-> (left & ~group_ended & ~all_ended) == '0 && all_begun &&
                 flying == row_slot_t'(written));
endmodule

bind row_walk row_walk_sva u_sva (
  .all_begun(all_q[RowFirst]), .written(ended[RowWrite]), .*
);
