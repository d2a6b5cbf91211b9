// Checks exec_os.sv: tokens taken are there, one drain waits at most, rows stay in the accumulator.
`include "sva.svh"

module exec_os_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned AccSlots = 2,
  parameter int unsigned AccRows = 16
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        act_full_i,
  input logic        wgt_full_i,
  input logic        acc_free_i,
  input logic        act_take_o,
  input logic        wgt_take_o,
  input logic        acc_take_o,
  input logic        row_valid_o,
  input word_t       row_o,
  input gemm_flags_t flags_q,
  input word_t       m_q,
  input word_t       k_q,
  input logic        active,
  input logic        ends,
  input logic        wait_q,
  input logic        drain_start,
  input word_t       drain_left_q
);
  if (Rows < 1 || AccSlots < 1 || AccRows < 1) begin : gen_illegal
    $error("exec_os: no size may be zero");
  end

  `ASSERT(ActTakenIsFull_A, act_take_o |-> act_full_i);
  `ASSERT(WgtTakenIsFull_A, wgt_take_o |-> wgt_full_i);
  `ASSERT(AccTakenIsFree_A, acc_take_o |-> acc_free_i);
  `ASSERT(FitsTheArray_A, active |-> m_q != '0 && m_q <= 32'(Rows) && k_q != '0);
  `ASSERT(OneDrainWaits_A, ends && flags_q.drain |-> !wait_q || drain_start);
  `ASSERT(DrainAlone_A, drain_start |-> drain_left_q == '0);
  `ASSERT(DrainEnds_A, drain_left_q < 32'(Rows));
  `ASSERT(RowIsThere_A, row_valid_o |-> row_o < 32'(AccSlots * AccRows));
endmodule

bind exec_os exec_os_sva #(.Rows(Rows), .AccSlots(AccSlots), .AccRows(AccRows)) u_sva (.*);
