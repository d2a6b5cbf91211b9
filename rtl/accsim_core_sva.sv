// Checks accsim_core.sv: how each buffer's slots are used, and what comes from outside.
`include "sva.svh"

module accsim_core_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned FillRows = 1,
  parameter int unsigned ActSlots = 2, ActSlotBytes = 4096,
  parameter int unsigned WgtSlots = 2, WgtSlotBytes = 4096,
  parameter int unsigned ParSlots = 2, ParSlotBytes = 1024,
  parameter int unsigned AccSlots = 2, AccRows = 128,
  parameter int unsigned OutSlots = 2, OutSlotBytes = 2048, OutPort = 16,
  parameter int unsigned LaneBits = 4
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic      [3:0]           load_take,
  input logic      [3:0][2:0]      load_full,
  input slot_t                     load_out_slot, load_par_slot, exec_slot,
  input logic                      load_par_take, load_par_give,
  input logic                      act_take, act_give, wgt_take, wgt_give, par_take, par_give,
  input logic                      acc_claim, acc_done, acc_take, acc_give,
  input logic                      post_out_claim, post_add, post_done,
  input slot_t                     post_par_slot, post_out_slot,
  input logic                      vec_act_take, vec_act_give, vec_par_take, vec_par_give,
  input logic                      vec_out_claim, vec_done,
  input slot_t                     vec_act_slot, vec_par_slot, vec_out_slot,
  input logic      [2:0]           store_take, store_give,
  input load_tag_t [1:0]           tag,
  input logic      [3:0][1:0]      data_for,
  input word_t     [1:0]           to,
  input logic      [WindowLines-1:0]               act_read,
  input word_t     [WindowLines-1:0]               act_addr,
  input logic      [WindowLines-1:0][LaneBits-1:0] low, high,
  input logic      [FillRows-1:0]  wgt_read,
  input word_t     [FillRows-1:0]  wgt_addr,
  input word_t                     wgt_lanes,  // of the first port
  input logic                      par_read,
  input word_t                     par_addr,
  input logic      [1:0]           vec_par_read,
  input word_t     [1:0]           vec_par_addr,
  input logic                      index_read,
  input word_t                     index_addr,
  input logic      [1:0]           vec_read,
  input word_t     [1:0]           vec_addr,
  input logic                      vec_write,
  input word_t                     vec_out_addr,
  input bytes_t                    vec_bytes,
  input logic                      old_read,
  input word_t                     old_addr,
  input logic                      sum_valid, sum_valid_last,
  input word_t                     sum_row, sum_row_last,
  input logic                      post_read,
  input word_t                     post_row,
  input logic                      out_write, out_scatter,
  input word_t                     out_addr, out_pitch,
  input bytes_t                    out_bytes,
  input logic                      out_read,
  input word_t                     out_read_addr,
  input bytes_t                    out_read_bytes,
  input logic                      write_valid_o, write_ready_i,
  input byte_t     [OutPort-1:0]   write_data_o
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

  // ---- slots: by ring where one queue goes round, by what descriptors say where several do ------
  typedef logic [ActSlots-1:0] act_set_t;
  typedef logic [WgtSlots-1:0] wgt_set_t;
  typedef logic [ParSlots-1:0] par_set_t;
  typedef logic [AccSlots-1:0] acc_set_t;
  typedef logic [OutSlots-1:0] out_set_t;
  act_set_t act_claimed, act_filled, exec_taken, exec_given, vec_act_taken, vec_act_given;
  wgt_set_t wgt_claimed, wgt_filled, wgt_taken, wgt_given;
  par_set_t par_claimed, par_filled, post_par_taken, post_par_given, vec_par_taken, vec_par_given;
  par_set_t load_par_taken, load_par_given;
  acc_set_t acc_claimed, acc_filled, acc_taken, acc_given;
  out_set_t load_claimed, load_filled, post_claimed, post_filled, vec_claimed, vec_filled;
  out_set_t store_taken, store_given;

  slot_round_sva #(.Slots(ActSlots)) u_act_claim (
    .clk_i, .rst_ni, .event_i(load_take[0]), .slot_o(act_claimed));
  slot_round_sva #(.Slots(WgtSlots)) u_wgt_claim (
    .clk_i, .rst_ni, .event_i(load_take[1]), .slot_o(wgt_claimed));
  slot_round_sva #(.Slots(ParSlots)) u_par_claim (
    .clk_i, .rst_ni, .event_i(load_take[2]), .slot_o(par_claimed));
  slot_round_sva #(.Slots(ActSlots)) u_act_fill (
    .clk_i, .rst_ni, .event_i(load_full[0] != '0), .slot_o(act_filled));
  slot_order_sva #(.Slots(ActSlots)) u_act_exec (
    .clk_i, .rst_ni, .take_i(act_take), .slot_i(exec_slot), .give_i(act_give),
    .taken_o(exec_taken), .given_o(exec_given));
  slot_order_sva #(.Slots(ActSlots)) u_act_vec (
    .clk_i, .rst_ni, .take_i(vec_act_take), .slot_i(vec_act_slot), .give_i(vec_act_give),
    .taken_o(vec_act_taken), .given_o(vec_act_given));
  slot_round_sva #(.Slots(WgtSlots)) u_wgt_fill (
    .clk_i, .rst_ni, .event_i(load_full[1] != '0), .slot_o(wgt_filled));
  slot_round_sva #(.Slots(WgtSlots)) u_wgt_take (
    .clk_i, .rst_ni, .event_i(wgt_take), .slot_o(wgt_taken));
  slot_round_sva #(.Slots(WgtSlots)) u_wgt_give (
    .clk_i, .rst_ni, .event_i(wgt_give), .slot_o(wgt_given));
  slot_round_sva #(.Slots(ParSlots)) u_par_fill (
    .clk_i, .rst_ni, .event_i(load_full[2] != '0), .slot_o(par_filled));
  slot_order_sva #(.Slots(ParSlots)) u_par_post (
    .clk_i, .rst_ni, .take_i(par_take), .slot_i(post_par_slot), .give_i(par_give),
    .taken_o(post_par_taken), .given_o(post_par_given));
  slot_order_sva #(.Slots(ParSlots)) u_par_vec (
    .clk_i, .rst_ni, .take_i(vec_par_take), .slot_i(vec_par_slot), .give_i(vec_par_give),
    .taken_o(vec_par_taken), .given_o(vec_par_given));
  slot_order_sva #(.Slots(ParSlots)) u_par_load (
    .clk_i, .rst_ni, .take_i(load_par_take), .slot_i(load_par_slot), .give_i(load_par_give),
    .taken_o(load_par_taken), .given_o(load_par_given));
  slot_round_sva #(.Slots(AccSlots)) u_acc_claim (
    .clk_i, .rst_ni, .event_i(acc_claim), .slot_o(acc_claimed));
  slot_round_sva #(.Slots(AccSlots)) u_acc_fill (
    .clk_i, .rst_ni, .event_i(acc_done), .slot_o(acc_filled));
  slot_round_sva #(.Slots(AccSlots)) u_acc_take (
    .clk_i, .rst_ni, .event_i(acc_take), .slot_o(acc_taken));
  slot_round_sva #(.Slots(AccSlots)) u_acc_give (
    .clk_i, .rst_ni, .event_i(acc_give), .slot_o(acc_given));
  slot_order_sva #(.Slots(OutSlots)) u_out_load (
    .clk_i, .rst_ni, .take_i(load_take[3]), .slot_i(load_out_slot),
    .give_i(load_full[3] != '0), .taken_o(load_claimed), .given_o(load_filled));
  slot_order_sva #(.Slots(OutSlots)) u_out_post (
    .clk_i, .rst_ni, .take_i(post_out_claim || post_add), .slot_i(post_out_slot),
    .give_i(post_done), .taken_o(post_claimed), .given_o(post_filled));
  slot_order_sva #(.Slots(OutSlots)) u_out_vec (
    .clk_i, .rst_ni, .take_i(vec_out_claim), .slot_i(vec_out_slot), .give_i(vec_done),
    .taken_o(vec_claimed), .given_o(vec_filled));
  slot_round_sva #(.Slots(OutSlots)) u_out_take (
    .clk_i, .rst_ni, .event_i(store_take != '0), .slot_o(store_taken));
  slot_round_sva #(.Slots(OutSlots)) u_out_give (
    .clk_i, .rst_ni, .event_i(store_give != '0), .slot_o(store_given));

  localparam int unsigned ActReads = WindowLines + 2;  // the last two: the vector unit's first byte

  slot_use_sva #(.Slots(ActSlots), .Size(ActSlotBytes), .Writes(2), .Reads(ActReads)) u_act (
    .clk_i, .rst_ni, .claim_i(act_claimed),
    .fill_i(act_filled), .take_i(exec_taken | vec_act_taken),
    .give_i(exec_given | vec_act_given), .write_i(data_for[0]), .write_first_i(to),
    .write_last_i(to_last), .read_i({vec_read, act_read}), .read_first_i({vec_addr, act_first}),
    .read_last_i({vec_addr, act_last}));
  // Of ports beyond the first, the first byte of a row.
  logic  [FillRows-1:0] wgt_reads;
  word_t [FillRows-1:0] wgt_last;
  always_comb begin
    wgt_reads = wgt_read;
    wgt_last  = wgt_addr;
    wgt_reads[0] = wgt_read[0] && wgt_lanes != '0;
    wgt_last[0]  = wgt_addr[0] + wgt_lanes - 1;
  end
  slot_use_sva #(.Slots(WgtSlots), .Size(WgtSlotBytes), .Writes(2), .Reads(FillRows)) u_wgt (
    .clk_i, .rst_ni, .claim_i(wgt_claimed),
    .fill_i(wgt_filled), .take_i(wgt_taken), .give_i(wgt_given), .write_i(data_for[1]),
    .write_first_i(to), .write_last_i(to_last), .read_i(wgt_reads), .read_first_i(wgt_addr),
    .read_last_i(wgt_last));
  slot_use_sva #(.Slots(ParSlots), .Size(ParSlotBytes), .Writes(2), .Reads(4)) u_par (
    .clk_i, .rst_ni, .claim_i(par_claimed),
    .fill_i(par_filled), .take_i(post_par_taken | vec_par_taken | load_par_taken),
    .give_i(post_par_given | vec_par_given | load_par_given), .write_i(data_for[2]),
    .write_first_i(to), .write_last_i(to_last), .read_i({index_read, vec_par_read, par_read}),
    .read_first_i({index_addr, vec_par_addr, par_addr}),
    .read_last_i({index_addr + IndexBytes - 1, vec_par_addr, par_addr}));
  // The first and the last column of a row: the others come between them.
  slot_use_sva #(.Slots(AccSlots), .Size(AccRows), .Writes(2)) u_acc (
    .clk_i, .rst_ni, .claim_i(acc_claimed), .fill_i(acc_filled), .take_i(acc_taken),
    .give_i(acc_given), .write_i({sum_valid_last, sum_valid}),
    .write_first_i({sum_row_last, sum_row}), .write_last_i({sum_row_last, sum_row}),
    .read_i(post_read), .read_first_i(post_row), .read_last_i(post_row));
  // A primed slot goes from load to post while it is being filled.
  slot_use_sva #(.Slots(OutSlots), .Size(OutSlotBytes), .Writes(5)) u_out (
    .clk_i, .rst_ni,
    .claim_i(load_claimed | vec_claimed | (post_out_claim ? post_claimed : '0)),
    .fill_i((load_full[3][0] ? load_filled : '0) | post_filled | vec_filled),
    .take_i(store_taken), .give_i(store_given),
    .write_i({old_read, data_for[3], vec_write, out_write}),
    .write_first_i({old_addr, to, vec_out_addr, out_addr}),
    .write_last_i({old_addr, to_last, vec_out_addr + 32'(vec_bytes) - 1, out_last}),
    .read_i(out_read), .read_first_i(out_read_addr),
    .read_last_i(out_read_addr + 32'(out_read_bytes) - 1));

  `ASSERT(WriteDataStable_A, write_valid_o && !write_ready_i |=> $stable(write_data_o));
endmodule

bind accsim_core accsim_core_sva #(
  .Rows(Rows), .Cols(Cols), .FillRows(FillRows), .ActSlots(ActSlots), .ActSlotBytes(ActSlotBytes),
  .WgtSlots(WgtSlots), .WgtSlotBytes(WgtSlotBytes), .ParSlots(ParSlots),
  .ParSlotBytes(ParSlotBytes),
  .AccSlots(AccSlots), .AccRows(AccRows), .OutSlots(OutSlots), .OutSlotBytes(OutSlotBytes),
  .OutPort(OutPort), .LaneBits($clog2(Rows + 1))
) u_sva (
  .wgt_lanes(u_execute.gen_walk[0].u_weight.u_sva.bytes), .out_read_bytes(u_store.bytes),
  .low(u_execute.low), .high(u_execute.high),
  .sum_valid(u_execute.sum_valid), .sum_row(u_execute.sum_row),
  .sum_valid_last(u_execute.sum_valid_last), .sum_row_last(u_execute.sum_row_last),
  .exec_slot(u_execute.gen_array.u_exec.taken_slot),
  .load_out_slot(u_load.flags_q.slot), .load_par_slot(u_load.flags_q.parameter_slot),
  .post_out_claim(u_post.start && u_post.cmd_q.flags.wait_output),
  .post_par_slot(u_post.cmd_q.flags.parameter_slot),
  .post_out_slot(u_post.cmd_q.flags.output_slot),
  .vec_out_claim(u_vector.start && u_vector.cmd_q.flags.wait_output),
  .vec_act_slot(u_vector.cmd_q.flags.activation_slot),
  .vec_par_slot(u_vector.cmd_q.flags.parameter_slot),
  .vec_out_slot(u_vector.cmd_q.flags.output_slot), .*
);
