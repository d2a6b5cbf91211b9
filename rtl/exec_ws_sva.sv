// Checks exec_ws.sv: tokens taken are there, the shadow registers are filled when they are free,
// rows stay in the accumulator.
`include "sva.svh"

module exec_ws_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned AccSlots = 2,
  parameter int unsigned AccRows = 16
) (
  input logic      clk_i,
  input logic      rst_ni,
  input logic      act_full_i,
  input logic      wgt_full_i,
  input logic      acc_free_i,
  input logic      act_take_o,
  input logic      wgt_take_o,
  input logic      acc_take_o,
  input logic      row_valid_o,
  input word_t     row_o,
  input logic      input_stationary_q,
  input logic      loads_input_stationary,
  input logic      fill_load,
  input word_t     open_q,
  input logic      done_i,
  input gemm_cmd_t fill_q,
  input logic      fill_start,
  input logic      shadow_busy_q,
  input logic      stream_start,
  input logic      stream_load,
  input logic      stream_active,
  input word_t     stream_left_q
);
  if (Rows < 1 || Cols < 1 || AccSlots < 1 || AccRows < 1) begin : gen_illegal
    $error("exec_ws: no size may be zero");
  end

  `ASSERT(ActTakenIsFull_A, act_take_o |-> act_full_i);
  `ASSERT(WgtTakenIsFull_A, wgt_take_o |-> wgt_full_i);
  `ASSERT(AccTakenIsFree_A, acc_take_o |-> acc_free_i);
  `ASSERT(ShadowIsFree_A, fill_start |-> !shadow_busy_q || stream_start);
  `ASSERT(StreamOfAFill_A, stream_start |-> shadow_busy_q);
  `ASSERT(FitsTheArray_A,
          stream_load |-> fill_q.k != '0 && fill_q.k <= 32'(Rows) && fill_q.m != '0 &&
          fill_q.n != '0 && (input_stationary_q ? fill_q.m : fill_q.n) <= 32'(Cols));
  `ASSERT(DoneWasTaken_A, done_i |-> open_q != '0);
  `ASSERT(DataflowChangesInAnEmptyArray_A, loads_input_stationary != input_stationary_q
          |-> fill_load && open_q == 32'(done_i));
  `ASSERT(RowsAreLeft_A, stream_active |-> stream_left_q != '0);
  `ASSERT(RowIsThere_A, row_valid_o |-> row_o < 32'(AccSlots * AccRows));
endmodule

bind exec_ws exec_ws_sva #(
  .Rows(Rows), .Cols(Cols), .AccSlots(AccSlots), .AccRows(AccRows)
) u_sva (.*);
