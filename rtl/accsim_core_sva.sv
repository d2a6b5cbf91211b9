// Checks accsim_core.sv: how each buffer's slots are used, and what comes from outside.
`include "sva.svh"

module accsim_core_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned ActSlots = 2, ActSlotBytes = 4096,
  parameter int unsigned WgtSlots = 2, WgtSlotBytes = 4096,
  parameter int unsigned ParSlots = 2, ParSlotBytes = 1024,
  parameter int unsigned AccSlots = 2, AccRows = 128,
  parameter int unsigned OutSlots = 2, OutSlotBytes = 2048, OutPort = 16,
  parameter int unsigned LaneBits = 4
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic                      enable_q,
  input logic                      input_stationary_i,
  input logic      [2:0]           load_take, load_full,
  input logic                      act_take, act_give, wgt_take, wgt_give, par_take, par_give,
  input logic                      acc_claim, acc_done, acc_take, acc_give,
  input logic                      out_claim, out_done, out_take, out_give,
  input logic      [1:0]           data_valid_i,
  input load_tag_t [1:0]           tag,
  input logic      [2:0][1:0]      data_for,
  input word_t     [1:0]           to,
  input logic      [WindowLines-1:0]               act_read,
  input word_t     [WindowLines-1:0]               act_addr,
  input logic      [WindowLines-1:0][LaneBits-1:0] low, high,
  input logic                      wgt_read,
  input word_t                     wgt_addr,
  input word_t                     wgt_lanes,
  input logic                      par_read,
  input word_t                     par_addr,
  input logic                      sum_valid, sum_valid_last,
  input word_t                     sum_row, sum_row_last,
  input logic                      post_read,
  input word_t                     post_row,
  input logic                      out_write, out_scatter,
  input word_t                     out_addr, out_pitch,
  input logic      [15:0]          out_bytes,
  input logic                      out_read,
  input word_t                     out_read_addr,
  input logic      [15:0]          out_read_bytes,
  input logic                      write_valid_o, write_ready_i,
  input logic      [OutPort*8-1:0] write_data_o
);
  if (Rows < 1 || Cols < 1 || OutPort < 1) begin : gen_illegal
    $error("accsim_core: no size may be zero");
  end

  word_t       out_last;
  word_t [1:0] to_last;
  word_t [WindowLines-1:0] act_first, act_last;
  always_comb begin
    for (int unsigned m = 0; m < 2; m++) to_last[m] = to[m] + 32'(tag[m].bytes) - 1;
    for (int unsigned s = 0; s < WindowLines; s++) begin
      act_first[s] = act_addr[s] + 32'(low[s]);
      act_last[s]  = act_addr[s] + 32'(high[s]) - 1;
    end
    out_last = out_addr + (32'(out_bytes) - 1) * (out_scatter ? out_pitch : 32'd1);
  end

  slot_use_sva #(.Slots(ActSlots), .Size(ActSlotBytes), .Writes(2), .Reads(WindowLines)) u_act (
    .clk_i, .rst_ni, .claim_i(load_take[0]), .fill_i(load_full[0]), .take_i(act_take),
    .give_i(act_give), .write_i(data_for[0]), .write_first_i(to), .write_last_i(to_last),
    .read_i(act_read), .read_first_i(act_first), .read_last_i(act_last));
  slot_use_sva #(.Slots(WgtSlots), .Size(WgtSlotBytes), .Writes(2)) u_wgt (
    .clk_i, .rst_ni, .claim_i(load_take[1]), .fill_i(load_full[1]), .take_i(wgt_take),
    .give_i(wgt_give), .write_i(data_for[1]), .write_first_i(to), .write_last_i(to_last),
    .read_i(wgt_read), .read_first_i(wgt_addr), .read_last_i(wgt_addr + wgt_lanes - 1));
  slot_use_sva #(.Slots(ParSlots), .Size(ParSlotBytes), .Writes(2)) u_par (
    .clk_i, .rst_ni, .claim_i(load_take[2]), .fill_i(load_full[2]), .take_i(par_take),
    .give_i(par_give), .write_i(data_for[2]), .write_first_i(to), .write_last_i(to_last),
    .read_i(par_read), .read_first_i(par_addr), .read_last_i(par_addr + ParameterBytes - 1));
  // The first and the last column of a row: the others come between them.
  slot_use_sva #(.Slots(AccSlots), .Size(AccRows), .Writes(2)) u_acc (
    .clk_i, .rst_ni, .claim_i(acc_claim), .fill_i(acc_done), .take_i(acc_take), .give_i(acc_give),
    .write_i({sum_valid_last, sum_valid}), .write_first_i({sum_row_last, sum_row}),
    .write_last_i({sum_row_last, sum_row}), .read_i(post_read), .read_first_i(post_row),
    .read_last_i(post_row));
  slot_use_sva #(.Slots(OutSlots), .Size(OutSlotBytes)) u_out (
    .clk_i, .rst_ni, .claim_i(out_claim), .fill_i(out_done), .take_i(out_take), .give_i(out_give),
    .write_i(out_write), .write_first_i(out_addr), .write_last_i(out_last), .read_i(out_read),
    .read_first_i(out_read_addr), .read_last_i(out_read_addr + 32'(out_read_bytes) - 1));

  for (genvar m = 0; m < 2; m++) begin : gen_memory
    `ASSERT(DataForABuffer_A, data_valid_i[m] |-> tag[m].buffer <= BufParameter);
  end
  `ASSERT(WriteDataStable_A, write_valid_o && !write_ready_i |=> $stable(write_data_o));
  `ASSERT(DataflowStays_A, enable_q |=> $stable(input_stationary_i));
endmodule

bind accsim_core accsim_core_sva #(
  .Rows(Rows), .Cols(Cols), .ActSlots(ActSlots), .ActSlotBytes(ActSlotBytes), .WgtSlots(WgtSlots),
  .WgtSlotBytes(WgtSlotBytes), .ParSlots(ParSlots), .ParSlotBytes(ParSlotBytes),
  .AccSlots(AccSlots), .AccRows(AccRows), .OutSlots(OutSlots), .OutSlotBytes(OutSlotBytes),
  .OutPort(OutPort), .LaneBits(LaneBits)
) u_sva (
  .wgt_lanes(32'(u_weight.lanes_q)), .out_read_bytes(u_store.bytes),
  .sum_valid_last(bank[Cols-1][AccBits+1]), .sum_row_last(32'(bank[Cols-1][AccBits-1:0])), .*
);
