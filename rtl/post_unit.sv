// Post queue: accumulator rows through the lanes into the output slot, `Lanes` columns a cycle. A
// transposed post (input stationary) has one channel a row and writes its values a pixel pitch
// apart. Of groups along k a result is put together from several sums, a cycle each. What is
// already in the slot may be added. The queue's other command reads the table.
module post_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Cols     = 8,
  parameter int unsigned Lanes    = 8,
  parameter int unsigned AccSlots = 2, AccRows = 16,
  parameter int unsigned ParStride = 1024, OutStride = 1024
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           enable_i,
  input  logic                           cmd_valid_i,
  output logic                           cmd_ready_o,
  input  post_cmd_t                      cmd_i,
  input  logic                           acc_full_i, out_free_i, out_primed_i, par_full_i,
  output logic                           acc_take_o, out_take_o, out_add_o, par_take_o,
  output logic                           acc_give_o, out_give_o, par_give_o,
  output logic                           acc_read_o,
  output word_t                          acc_row_o,
  input  sum_t [Cols-1:0]                acc_data_i,
  output logic                           par_read_o,
  output word_t                          par_addr_o,
  input  logic [Lanes*ParameterBits-1:0] par_data_i,
  output logic                           old_read_o,  // of the output slot, for the residual
  output logic                           old_scatter_o,
  output word_t                          old_addr_o,
  output word_t                          old_pitch_o,
  input  logic [Lanes*OperandBits-1:0]   old_data_i,
  output logic                           out_write_o,
  output logic                           out_scatter_o,
  output word_t                          out_addr_o,
  output word_t                          out_pitch_o,
  output bytes_t                         out_bytes_o,
  output logic [Lanes*OperandBits-1:0]   out_data_o,
  output logic                           retire_o
);
  post_cmd_t head, cmd_q;
  logic head_valid, load, start, active, beat, tokens, walk_end, done;
  logic table_read, table_last, table_write;
  code_t table_entry;
  word_t acc_base, par_base, out_base, table_addr, walk_par, walk_out;
  logic group_first, group_last;
  bytes_t select, columns;  // first column of the beat, and how many

  cmd_fifo #(.T(post_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  assign tokens  = (!cmd_q.flags.wait_accumulator || acc_full_i) &&
                   (!cmd_q.flags.wait_output || cmd_q.flags.wait_initial || out_free_i) &&
                   (!cmd_q.flags.wait_primed || out_primed_i) &&
                   (!cmd_q.flags.wait_parameter || par_full_i);
  assign beat    = active && !cmd_q.flags.set_table;
  assign done    = active && (cmd_q.flags.set_table ? table_last : walk_end);

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid), .ready_i(tokens), .done_i(done), .load_o(load),
    .start_o(start), .active_o(active)
  );

  assign acc_take_o = start && cmd_q.flags.wait_accumulator;
  assign out_take_o = start && cmd_q.flags.wait_output && !cmd_q.flags.wait_initial;
  assign out_add_o  = start && cmd_q.flags.wait_primed;
  assign par_take_o = start && cmd_q.flags.wait_parameter;

  slot_ring #(.Slots(AccSlots), .Stride(AccRows)) u_acc_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_accumulator), .base_o(acc_base)
  );
  assign par_base = 32'(head.flags.parameter_slot) * ParStride;
  assign out_base = 32'(head.flags.output_slot) * OutStride;

  table_reader #(.Wait(PostLatency)) u_reader (
    .clk_i, .rst_ni, .load_i(load), .start_i(par_base + head.parameter_offset),
    .step_i(active && cmd_q.flags.set_table), .read_o(table_read), .addr_o(table_addr),
    .last_o(table_last), .write_o(table_write), .entry_o(table_entry)
  );

  // Stage -1: reads. Columns go in beats; a row of parameters is read once when it serves all rows.
  post_walk #(.Lanes(Lanes)) u_walk (
    .clk_i, .load_i(load), .next_i(head), .cmd_i(cmd_q), .acc_base_i(acc_base),
    .par_base_i(par_base), .out_base_i(out_base), .step_i(beat), .acc_row_o, .par_addr_o(walk_par),
    .out_addr_o(walk_out), .select_o(select), .columns_o(columns), .first_o(group_first),
    .last_o(group_last), .end_o(walk_end)
  );
  assign acc_read_o = beat;
  assign par_read_o = table_read ||
                      (beat && (start || cmd_q.flags.transposed || cmd_q.cols > 32'(Lanes) ||
                                cmd_q.groups > 32'd1));
  assign par_addr_o = table_read ? table_addr : walk_par;

  always_ff @(posedge clk_i) if (load) cmd_q <= head;

  // The beat's way through the lanes: what the last stages need travels along.
  typedef struct packed {
    logic        scatter;
    bytes_t      bytes;
    word_t       addr;
    word_t       pitch;
  } write_t;
  typedef struct packed {
    logic        residual, table_on;
    residual_t   scale;
    limits_t               limits;
    logic [FactorBits-1:0] zero, low, high;
  } clip_t;
  // Cycles from the read of the sums to that of what is in the slot, to the clip and behind it.
  localparam int unsigned OldRead = PostLatency - 5, Clip = PostLatency - 2;
  localparam int unsigned Table = PostLatency - 1;

  logic [PostLatency:0] stage_q;  // [0]: read from the memories, [5:1]: in the lanes, [6]: table,
                                  // [7]: residual, [8]: being written
  write_t [PostLatency+1:0] write;
  clip_t  [PostLatency:0]   clip;
  logic transposed_q, par_read_q;
  bytes_t select_late_q;

  write_t write_now;
  clip_t  clip_now;
  assign write_now = '{scatter: cmd_q.flags.transposed,
                       bytes: columns, addr: walk_out, pitch: cmd_q.pitch};
  assign clip_now  = '{residual: cmd_q.flags.residual, table_on: cmd_q.flags.table_on,
                       scale: cmd_q.residual, limits: cmd_q.sum_limits,
                       zero: cmd_q.zero[FactorBits-1:0],
                       low: cmd_q.low[FactorBits-1:0], high: cmd_q.high[FactorBits-1:0]};

  tap_line #(.Width($bits(write_t)), .Taps(PostLatency + 2)) u_write (
    .clk_i, .rst_ni, .data_i(write_now), .tap_o(write)
  );
  tap_line #(.Width($bits(clip_t)), .Taps(PostLatency + 1)) u_clip (
    .clk_i, .rst_ni, .data_i(clip_now), .tap_o(clip)
  );

  // All sums of a result go through the product, the last one with them on.
  typedef struct packed {
    logic first, last;
  } group_t;
  localparam int unsigned Whole = 3;  // stage from which on there is one beat a result
  localparam int unsigned LastGroup = max_of(Whole, OldRead);
  group_t [LastGroup:0] group;
  tap_line #(.Width($bits(group_t)), .Taps(LastGroup + 1)) u_group (
    .clk_i, .rst_ni, .data_i({group_first, group_last}), .tap_o(group)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q <= '0;
    end else begin
      stage_q        <= {stage_q[PostLatency-1:0], beat};
      stage_q[Whole] <= stage_q[Whole-1] && group[Whole].last;
    end
  end
  // Stage 0: the beat's columns, and its parameters when they are new.
  logic [Lanes*AccumulatorBits-1:0] sums_q;
  logic [Lanes*ParameterBits-1:0]   parameters_q;

  always_ff @(posedge clk_i) begin
    par_read_q <= par_read_o;
    if (beat) begin
      transposed_q  <= cmd_q.flags.transposed;
      select_late_q <= select;
    end
    if (par_read_q && group[1].first) begin
      parameters_q <= transposed_q ? {Lanes{par_data_i[ParameterBits-1:0]}} : par_data_i;
    end else if (par_read_q) begin
      // Of another group: its multipliers, no bias, and the shift stays.
      for (int unsigned i = 0; i < Lanes; i++) begin
        parameters_q[ParameterBits*i +: ScaledBits] <=
            {MultiplierBits'(signed'(par_data_i[(transposed_q ? 0 : FactorBits*i) +: FactorBits])),
             AccumulatorBits'(0)};
      end
    end
  end

  if (Lanes < Cols) begin : gen_select
    localparam int unsigned Padded = (Cols + Lanes - 1) / Lanes * Lanes;
    localparam int unsigned SelectBits = $clog2(Padded * AccumulatorBits);
    logic [Padded*AccumulatorBits-1:0] sums;
    assign sums = (Padded*AccumulatorBits)'(acc_data_i);
    always_ff @(posedge clk_i) begin
      if (stage_q[0]) sums_q <= sums[SelectBits'({select_late_q, 5'd0}) +: Lanes*AccumulatorBits];
    end
  end else begin : gen_all
    logic unused_select;
    assign unused_select = ^select_late_q;
    always_ff @(posedge clk_i) if (stage_q[0]) sums_q <= acc_data_i;
  end

  logic [Lanes-1:0][FactorBits-1:0] clipped, value_q;
  code_t [Lanes-1:0]                index, looked_up;
  logic [3:0]                       adds;  // beats that add what was in the slot, by stage
  for (genvar s = 0; s < 4; s++) begin : gen_adds
    assign adds[s] = stage_q[OldRead+s] && clip[OldRead+1+s].residual;
  end
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [ParameterBits-1:0] own;
    assign own = parameters_q[ParameterBits*i +: ParameterBits];
    post_lane u_lane (
      .clk_i,
      .valid_i     (stage_q[5:1]),
      .sum_i       (sums_q[AccumulatorBits*i +: AccumulatorBits]),
      .bias_i      (own[AccumulatorBits-1:0]),
      .multiplier_i(own[AccumulatorBits +: MultiplierBits]),
      .shift_i     (own[ScaledBits +: 6]),
      .add_i       (!group[Whole].first),
      .zero_i      (clip[Clip].zero),
      .low_i       (clip[Clip].low),
      .high_i      (clip[Clip].high),
      .value_o     (clipped[i])
    );
    assign index[i] = clipped[i][OperandBits-1:0];
    always_ff @(posedge clk_i) begin
      if (stage_q[Clip]) begin
        value_q[i] <= clip[Table].table_on ? factor_t'(signed'(looked_up[i])) : clipped[i];
      end
    end
    residual_lane u_residual (
      .clk_i,
      .valid_i     ({stage_q[Table], adds}),
      .residual_i  (old_data_i[OperandBits*i +: OperandBits]),
      .zero_i      (clip[OldRead+1].scale.zero),
      .multiplier_i(clip[OldRead+2].scale.multiplier),
      .half_shift_i(clip[OldRead+3].scale.shift[4:0]),
      .shift_i     (clip[OldRead+4].scale.shift[4:0]),
      .on_i        (clip[PostLatency].residual),
      .limits_i    (clip[PostLatency].limits),
      .value_i     (value_q[i]),
      .value_o     (out_data_o[OperandBits*i +: OperandBits])
    );
  end

  assign old_read_o    = stage_q[OldRead-1] && group[OldRead].last && clip[OldRead].residual;
  assign old_scatter_o = write[OldRead].scatter;
  assign old_addr_o    = write[OldRead].addr;
  assign old_pitch_o   = write[OldRead].pitch;
  assign out_write_o   = stage_q[PostLatency];
  assign out_scatter_o = write[PostLatency+1].scatter;
  assign out_addr_o    = write[PostLatency+1].addr;
  assign out_pitch_o   = write[PostLatency+1].pitch;
  assign out_bytes_o   = write[PostLatency+1].bytes;

  lookup_table #(.Lanes(Lanes)) u_table (
    .clk_i, .write_i(table_write), .entry_i(table_entry),
    .data_i(par_data_i[TableBeat*OperandBits-1:0]),
    .value_i(index), .result_o(looked_up)
  );

  // The sums are free when the last was read, the slot is full when the last value is in it.
  logic [1:0] free_q;
  logic [1:0] full;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= '0;
    else         free_q <= {done && cmd_q.flags.signal_accumulator,
                            done && cmd_q.flags.signal_parameter};
  end
  assign par_give_o = free_q[0];
  assign acc_give_o = free_q[1];

  delay_line #(.Width(2), .Cycles(PostLatency + 1)) u_full (
    .clk_i, .rst_ni, .data_i({done, done && cmd_q.flags.signal_output}), .data_o(full)
  );
  assign out_give_o = full[0];
  assign retire_o   = full[1];
endmodule
