// Checks cmd_issue.sv: a command starts once, when it may, and stays until its last cycle.
`include "sva.svh"

module cmd_issue_sva (
  input logic clk_i,
  input logic rst_ni,
  input logic enable_i,
  input logic next_i,
  input logic ready_i,
  input logic done_i,
  input logic load_o,
  input logic start_o,
  input logic active_o,
  input logic valid_q,
  input logic started_q
);
  `ASSERT(StartsWhenItMay_A, start_o |-> enable_i && ready_i && valid_q && !started_q);
  `ASSERT(StartedIsThere_A, started_q |-> valid_q);
  `ASSERT(OnlyActiveEnds_A, done_i |-> active_o);
  `ASSERT(StaysToItsEnd_A, valid_q && !done_i |=> valid_q);
  `ASSERT(NotLoadedOver_A, load_o |-> next_i && (!valid_q || done_i));
  `ASSERT(NextStartsAnew_A, load_o |=> !started_q);
endmodule

bind cmd_issue cmd_issue_sva u_sva (.*);
