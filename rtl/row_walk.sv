// Beats of a row command: groups of its rows go through passes side by side. In step t the first
// pass has group t, the softmax' sum group t - RowSumPass and the write group t - RowSoftmaxWrite
// or RowNormWrite; in the order of row_pass_e, a beat a cycle. A row's logarithm has a beat of its
// own in the write, behind all others. A step has RowStep cycles at least.
module row_walk
  import accsim_pkg::*;
(
  input  logic      clk_i,
  input  logic      load_i,   // the cycle before the command's first
  input  row_cmd_t  cmd_i,    // then
  input  word_t     act_base_i, par_base_i, out_base_i,
  input  row_cmd_t  cmd_q_i,  // the command in work
  input  logic      step_i,   // it is in work
  output logic      beat_o,
  output row_pass_e pass_o,
  output row_slot_t row_o,
  output logic      first_o, last_o,  // of the row in this pass
  output logic      tail_o,           // of a stretch
  output logic      log_o,            // the beat of a row's logarithm
  output word_t     in_addr_o, mask_addr_o, par_addr_o, out_addr_o,
  output logic      done_o    // the command's last cycle
);
  localparam int unsigned Depth = 3 + RowLevels;  // beats, stretches, pieces, rows

  word_t [Depth-1:0]                    counts, in_strides, mask_strides;  // of the first pass
  word_t [Depth-1:0]                    late_counts, late_in_strides, late_mask_strides;
  word_t [Depth-1:0]                    out_strides, par_strides;
  word_t [RowPasses-1:0]                in_addr, mask_addr;
  logic  [RowPasses-1:0]                on, left, run, moves, ended, group_ended, all_ended;
  logic  [RowPasses-1:0]                done_q, all_q;
  logic  [RowPasses-1:0][Depth-1:0]     first_of, last_of;
  row_slot_t [RowPasses-1:0]            row_q;
  logic  [RowPasses-1:0][3:0]           in_group_q;  // rows that the pass has had in the step
  logic  [2:0]                          step_q, write_from;  // stays where all passes have begun
  logic  [3:0]                          cycle_q;
  logic                                 over, log_next;
  logic                                 log_q;  // the row being written has its logarithm left
  word_t                                log_addr_q, out_addr;

  // ---- addresses --------------------------------------------------------------------------------
  assign counts       = {cmd_i.rows, cmd_i.pieces, cmd_i.stretches, cmd_i.beats};
  assign in_strides   = {cmd_i.in_stride, cmd_i.in_piece, cmd_i.stretch, cmd_i.beat};
  assign mask_strides = {cmd_i.second_stride, cmd_i.mask_piece, cmd_i.stretch, cmd_i.beat};
  assign late_counts       = {counts[Depth-1:1], cmd_i.late_beats};
  assign late_in_strides   = {in_strides[Depth-1:1], cmd_i.late_beat};
  assign late_mask_strides = {mask_strides[Depth-1:1], cmd_i.late_beat};
  assign out_strides = {cmd_i.out_stride, cmd_i.out_piece, cmd_i.stretch, cmd_i.late_beat};
  assign par_strides = {cmd_i.second_stride, 32'd0, 32'(RowChannelBytes),
                        cmd_i.mode.row_splat ? 32'd0 : cmd_i.late_beat * RowChannelBytes};

  for (genvar p = 0; p < RowPasses; p++) begin : gen_pass
    if (p == int'(RowWrite)) begin : gen_write
      nest_walk #(.Depth(Depth), .Streams(4)) u_walk (
        .clk_i, .load_i, .count_i(late_counts),
        .stride_i({par_strides, out_strides, late_mask_strides, late_in_strides}),
        .start_i({par_base_i + cmd_i.parameter_offset, out_base_i + cmd_i.out_offset,
                  act_base_i + cmd_i.mask_offset, act_base_i + cmd_i.in_offset}),
        .step_i(moves[p]), .addr_o({par_addr_o, out_addr, mask_addr[p], in_addr[p]}),
        .first_o(first_of[p]), .last_o(last_of[p])
      );
    end else begin : gen_read
      nest_walk #(.Depth(Depth), .Streams(2)) u_walk (
        .clk_i, .load_i, .count_i(p == int'(RowFirst) ? counts : late_counts),
        .stride_i(p == int'(RowFirst) ? {mask_strides, in_strides}
                                      : {late_mask_strides, late_in_strides}),
        .start_i({act_base_i + cmd_i.mask_offset, act_base_i + cmd_i.in_offset}),
        .step_i(moves[p]), .addr_o({mask_addr[p], in_addr[p]}), .first_o(first_of[p]),
        .last_o(last_of[p])
      );
    end
    assign moves[p]       = run[p] && !(p == int'(RowWrite) && log_next);
    assign ended[p]       = moves[p] && &last_of[p][2:0];
    assign all_ended[p]   = moves[p] && &last_of[p];
    assign group_ended[p] = ended[p] && in_group_q[p] == cmd_q_i.shifts.group[3:0] - 1;
  end

  // The walk of the write stands still while a row's last elements are written.
  assign log_next = cmd_q_i.mode.row_log && &last_of[RowWrite][2:0] && !log_q;
  always_ff @(posedge clk_i) begin
    if (load_i) log_addr_q <= out_base_i + cmd_i.log_offset;
    else if (log_o) log_addr_q <= log_addr_q + 1;
    log_q <= !load_i && run[RowWrite] ? log_next : !load_i && log_q;
  end

  // ---- steps ------------------------------------------------------------------------------------
  assign write_from   = cmd_q_i.mode.row_norm ? 3'(RowNormWrite) : 3'(RowSoftmaxWrite);
  assign on[RowFirst] = 1'b1;
  assign on[RowSum]   = !cmd_q_i.mode.row_norm && step_q >= 3'(RowSumPass);
  assign on[RowWrite] = step_q >= write_from;
  assign left         = on & ~done_q & ~all_q;
  assign run          = step_i ? left & (~left + 1'b1) : '0;  // the first that is left
  assign over         = step_i && (left & ~group_ended & ~all_ended) == '0 &&
                        cycle_q == 4'(RowStep - 1);
  assign done_o       = over && (all_q[RowWrite] || all_ended[RowWrite]);

  always_ff @(posedge clk_i) begin
    if (load_i || over) begin
      step_q     <= load_i ? '0 : step_q == write_from ? step_q : step_q + 1'b1;
      done_q     <= '0;
      cycle_q    <= '0;
      in_group_q <= '0;
    end else if (step_i) begin
      done_q <= done_q | group_ended;
      if (cycle_q != 4'(RowStep - 1)) cycle_q <= cycle_q + 1'b1;
      for (int unsigned p = 0; p < RowPasses; p++)
        if (ended[p]) in_group_q[p] <= in_group_q[p] + 1'b1;
    end
    all_q <= load_i ? '0 : all_q | all_ended;
    for (int unsigned p = 0; p < RowPasses; p++) begin
      if (load_i)        row_q[p] <= '0;
      else if (ended[p]) row_q[p] <= row_q[p] + 1'b1;
    end
  end

  // ---- the pass whose turn it is ----------------------------------------------------------------
  assign beat_o      = run != '0;
  assign pass_o      = run[RowSum] ? RowSum : run[RowFirst] ? RowFirst : RowWrite;
  assign row_o       = row_q[pass_o];
  assign first_o     = &first_of[pass_o][2:0];
  assign last_o      = &last_of[pass_o][2:0];
  assign tail_o      = last_of[pass_o][0];
  assign in_addr_o   = in_addr[pass_o];
  assign mask_addr_o = mask_addr[pass_o];
  assign log_o       = run[RowWrite] && log_q;
  assign out_addr_o  = log_q ? log_addr_q : out_addr;
endmodule
