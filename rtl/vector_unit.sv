// Vector queue: lane commands, one beat of a run and one tap a step, through slots and lanes into
// the output slot; row commands, which row_unit has; and tables from the parameter slot. A lane
// command's second operand is read with the last tap. Where windows slide, the outer level of the
// taps is the columns of a line of results: `until_q` counts them to the next result. A mac reads a
// weight with each tap, and with the last one the channels' scales through a port of their own.
module vector_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes     = 8, ExpLanes = Lanes, RowLanes = RowStep / 2,
  parameter int unsigned MacLanes  = 0,
  parameter int unsigned ActStride = 1024, ParStride = 1024, OutStride = 1024,
  localparam int unsigned ParBytes = max_of(Lanes * RowChannelBytes, RowTableBeat),
  localparam int unsigned ScaleBytes = max_of(MacLanes, 1) * ParameterBytes
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic enable_i,
  input  logic cmd_valid_i,
  output logic cmd_ready_o,
  input  word_t [VectorWords-1:0] cmd_i,
  input  logic act_full_i, par_full_i, out_free_i,
  output logic act_take_o, par_take_o, out_take_o,
  output logic act_give_o, par_give_o, out_give_o,
  output logic [1:0] act_read_o,  // first operand, second
  output word_t [1:0] act_addr_o,
  input  logic [1:0][Lanes*OperandBits-1:0] act_data_i,
  output logic [1:0] par_read_o,  // what all commands read, scales
  output word_t [1:0] par_addr_o,
  input  logic [ParBytes*ByteBits-1:0] par_data_i,
  input  logic [ScaleBytes*ByteBits-1:0] scale_data_i,
  output logic out_write_o,
  output word_t out_addr_o,
  output bytes_t out_bytes_o,
  output logic [Lanes*OperandBits-1:0] out_data_o,
  output logic retire_o
);
  localparam int unsigned Depth = 1 + TapLevels + RowLevels;  // taps, beats, rows
  localparam int unsigned Beat   = TapLevels;                  // the beats' level
  localparam int unsigned Streams = MacLanes > 0 ? 4 : 3;      // the last one: scales

  // What a step needs on its way through the stages.
  typedef struct packed {
    logic          first, last;  // tap of a result; first of a column where windows slide
    logic          column;       // last tap of a column there
    bytes_t        bytes;
    word_t         out_addr;
    lane_mode_t    mode;
    lane_factors_t factors;
    lane_zeros_t   zeros;
    limits_t       limits;
  } step_t;

  word_t [VectorWords-1:0] head_words, words_q;
  vector_cmd_t head, cmd_q;
  row_cmd_t row_head, row_cmd;
  logic head_valid, load, start, active, tokens, lanes_active, rows_active, done;
  logic table_read, table_last, table_write;
  logic rows_done, row_read, row_mask_read, row_par_read, row_write;
  word_t [1:0] row_addr;
  word_t row_par_addr, row_out_addr;
  bytes_t row_bytes;
  logic [Lanes*OperandBits-1:0] row_out;
  code_t table_entry;
  word_t table_addr, act_base, par_base, out_base, splat_step, line_q;
  logic [2:0] until_q;  // columns to a result, after this
  logic slides, mac;
  word_t [3:0] addr, first_addr;
  word_t [3:0][Depth-1:0] stride;
  word_t [RowLevels:0] channel_stride;  // of rows and beats
  logic [Depth-1:0] first_of, last_of;

  cmd_fifo #(.T(word_t [VectorWords-1:0])) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head_words)
  );
  // Flags and mode lie in the same words of both.
  assign head     = head_words[LaneWords-1:0];
  assign cmd_q    = words_q[LaneWords-1:0];
  assign row_head = head_words;
  assign row_cmd  = words_q;

  assign tokens = (!cmd_q.flags.wait_activation || act_full_i) &&
                  (!cmd_q.flags.wait_output || cmd_q.flags.wait_initial || out_free_i) &&
                  (!cmd_q.flags.wait_parameter || par_full_i);
  assign lanes_active = active && !cmd_q.mode.set_table && !cmd_q.mode.rows;
  assign rows_active  = active && cmd_q.mode.rows;
  assign done = active && (cmd_q.mode.rows        ? rows_done
                           : cmd_q.mode.set_table ? table_last : &last_of);

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid), .ready_i(tokens), .done_i(done), .load_o(load),
    .start_o(start), .active_o(active)
  );

  assign act_take_o = start && cmd_q.flags.wait_activation;
  assign out_take_o = start && cmd_q.flags.wait_output && !cmd_q.flags.wait_initial;
  assign par_take_o = start && cmd_q.flags.wait_parameter;
  always_ff @(posedge clk_i) if (load) words_q <= head_words;

  // ---- addresses --------------------------------------------------------------------------------
  assign act_base   = 32'(head.flags.activation_slot) * ActStride;
  assign par_base   = 32'(head.flags.parameter_slot) * ParStride;
  assign out_base   = 32'(head.flags.output_slot) * OutStride;
  assign splat_step = head.mode.b_splat ? 32'd0 : head.beat;

  // A scale has 12 bytes, where a weight has one.
  for (genvar l = 0; l <= RowLevels; l++) begin : gen_channel_stride
    word_t weights;
    assign weights = l == 0 ? head.beat : head.b_stride[max_of(l, 1) - 1];
    assign channel_stride[l] = (weights << 3) + (weights << 2);
  end
  assign stride = {channel_stride, {TapLevels{32'd0}},
                   head.out_stride, head.mode.across ? 32'd0 : head.beat, {TapLevels{32'd0}},
                   head.b_stride, splat_step, head.weight_stride,
                   head.a_stride, head.beat, head.tap_stride};
  assign first_addr = {par_base + head.channel_offset, out_base + head.out_offset,
                       (head.mode.b_parameter ? par_base : act_base) + head.b_offset,
                       act_base + head.a_offset};
  nest_walk #(.Depth(Depth), .Streams(Streams)) u_walk (
    .clk_i, .load_i(load), .count_i({head.rows, head.beats, head.taps}),
    .stride_i(stride[Streams-1:0]), .start_i(first_addr[Streams-1:0]), .step_i(lanes_active),
    .addr_o(addr[Streams-1:0]), .first_o(first_of), .last_o(last_of)
  );
  table_reader #(.Wait(VectorLatency)) u_reader (
    .clk_i, .rst_ni, .load_i(load), .start_i(par_base + head.b_offset),
    .step_i(active && cmd_q.mode.set_table), .read_o(table_read), .addr_o(table_addr),
    .last_o(table_last), .write_o(table_write), .entry_o(table_entry)
  );

  // ---- steps through the stages -----------------------------------------------------------------
  step_t                    step;
  step_t [VectorLatency+1:0] at;  // the step of so many cycles ago
  logic  [VectorLatency+1:0] valid;
  assign slides        = cmd_q.mode.slide != '0;
  assign mac           = cmd_q.mode.op == LaneMac;
  assign step.first    = slides ? first_of[0]
                         : &first_of[TapLevels-1:0] && (!cmd_q.mode.across || first_of[Beat]);
  assign step.last     = slides ? last_of[0] && until_q == '0
                         : &last_of[TapLevels-1:0] && (!cmd_q.mode.across || last_of[Beat]);
  assign step.column   = slides && last_of[0];
  assign step.bytes    = last_of[Beat] ? bytes_t'(cmd_q.tail) : bytes_t'(cmd_q.beat);
  assign step.out_addr = addr[2] + line_q;
  assign step.mode     = cmd_q.mode;
  assign step.factors  = cmd_q.factors;
  assign step.zeros    = cmd_q.zeros;
  assign step.limits   = cmd_q.limits;
  tap_line #(.Width($bits(step_t)), .Taps(VectorLatency + 2)) u_steps (
    .clk_i, .rst_ni, .data_i(step), .tap_o(at));
  tap_line #(.Width(1), .Taps(VectorLatency + 2)) u_valid (
    .clk_i, .rst_ni, .data_i(lanes_active), .tap_o(valid));

  always_ff @(posedge clk_i) begin
    if (load) begin
      until_q <= head.mode.kept;
      line_q  <= '0;
    end else if (lanes_active && step.column) begin
      until_q <= last_of[1] ? cmd_q.mode.kept
                 : step.last ? cmd_q.mode.slide - 3'd1 : until_q - 3'd1;
      line_q  <= last_of[1] ? '0 : step.last ? line_q + cmd_q.out_stride[0] : line_q;
    end
  end

  logic b_read;
  assign b_read        = lanes_active && (step.last || mac) && cmd_q.mode.b_on;
  assign act_read_o[0] = lanes_active || row_read;
  assign act_read_o[1] = (b_read && !cmd_q.mode.b_parameter) || row_mask_read;
  assign act_addr_o    = rows_active ? row_addr : {addr[1], addr[0]};
  assign par_read_o[0] = table_read || (b_read && cmd_q.mode.b_parameter) || row_par_read;
  assign par_addr_o[0] = table_read ? table_addr : rows_active ? row_par_addr : addr[1];

  // ---- rows -------------------------------------------------------------------------------------
  row_unit #(.Lanes(Lanes), .ExpLanes(ExpLanes), .RowLanes(RowLanes)) u_rows (
    .clk_i, .rst_ni, .load_i(load), .head_i(row_head), .act_base_i(act_base),
    .par_base_i(par_base), .out_base_i(out_base), .cmd_i(row_cmd), .step_i(rows_active),
    .act_read_o(row_read), .mask_read_o(row_mask_read), .par_read_o(row_par_read),
    .act_addr_o(row_addr[0]), .mask_addr_o(row_addr[1]), .par_addr_o(row_par_addr), .act_data_i,
    .par_data_i, .out_write_o(row_write), .out_addr_o(row_out_addr), .out_bytes_o(row_bytes),
    .out_data_o(row_out), .done_o(rows_done)
  );

  // ---- lanes ------------------------------------------------------------------------------------
  code_t [Lanes-1:0]            a_q, b_q, b, value, looked_up, value_q;
  logic [Lanes*OperandBits-1:0] b_data;
  difference_t [Lanes-1:0]      difference;
  sum_t                         all;

  assign b_data = at[1].mode.b_parameter ? par_data_i[Lanes*OperandBits-1:0] : act_data_i[1];
  assign b      = at[1].mode.b_splat ? {Lanes{b_data[OperandBits-1:0]}} : b_data;
  always_ff @(posedge clk_i) begin
    if (valid[1]) a_q <= act_data_i[0];
    if (valid[1]) b_q <= b;
  end

  // A row that is reduced: what the lanes of a beat have.
  always_comb begin
    all = at[3].mode.tap_op == TapMin ? 32'sd256 : at[3].mode.tap_op == TapMax ? -32'sd256 : '0;
    if (valid[3] && at[3].mode.across) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (bytes_t'(i) < at[3].bytes) begin
          automatic sum_t one = 32'(signed'(difference[i]));
          case (at[3].mode.tap_op)
            TapMin:  all = one < all ? one : all;
            TapMax:  all = one > all ? one : all;
            TapSum:  all = all + one;
            default: all = '0;
          endcase
        end
      end
    end
  end

  sum_t [Lanes-1:0]       bias, multiplier;
  logic [Lanes-1:0][5:0]  half_shift, shift;
  if (MacLanes > 0) begin : gen_scale_port
    assign par_read_o[1] = lanes_active && mac && step.last;
    assign par_addr_o[1] = addr[3];
  end else begin : gen_no_scales
    assign par_read_o[1] = 1'b0;
    assign par_addr_o[1] = '0;
    assign addr[3]       = '0;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [6:0] works;
    always_comb begin
      for (int unsigned s = 0; s < 7; s++) begin
        works[s] = valid[s+2] && (s < 2 || at[s+2].last);
      end
    end
    if (i < MacLanes) begin : gen_scale
      logic [5:0] own_half_shift, own_shift;
      mac_scale u_scale (
        .clk_i, .valid_i({works[3:0], valid[1] && at[1].last}),
        .data_i(scale_data_i[i*ParameterBits +: ParameterBits]), .bias_o(bias[i]),
        .multiplier_o(multiplier[i]), .half_shift_o(own_half_shift), .shift_o(own_shift)
      );
      assign half_shift[i] = at[6].mode.op == LaneMac ? own_half_shift : at[6].limits.shift[5:0];
      assign shift[i]      = at[7].mode.op == LaneMac ? own_shift : at[7].limits.shift[5:0];
    end else begin : gen_no_scale
      assign {bias[i], multiplier[i]} = '0;
      assign half_shift[i] = at[6].limits.shift[5:0];
      assign shift[i]      = at[7].limits.shift[5:0];
    end
    vector_lane #(.Mac(i < MacLanes)) u_lane (
      .clk_i, .valid_i(works), .a_i(a_q[i]), .b_i(b_q[i]), .operand_zeros_i(at[2].zeros),
      .difference_o(difference[i]), .first_i(at[3].first), .last_i(at[3].last),
      .mac_i(at[3].mode.op == LaneMac), .bias_i(bias[i]), .tap_op_i(at[3].mode.tap_op),
      .across_i(at[3].mode.across), .all_i(all), .column_i(at[3].column),
      .window_i(at[3].column && at[3].last), .kept_i(at[3].mode.kept),
      .multiply_op_i(at[4].mode.op), .multiply_factors_i(at[4].factors),
      .multiplier_i(multiplier[i]), .op_i(at[5].mode.op), .factors_i(at[5].factors),
      .half_shift_i(half_shift[i]), .shift_i(shift[i]),
      .zero_i(at[8].zeros.result), .low_i(at[8].limits.low), .high_i(at[8].limits.high),
      .value_o(value[i])
    );
  end

  lookup_table #(.Lanes(Lanes)) u_table (
    .clk_i, .write_i(table_write), .entry_i(table_entry),
    .data_i(par_data_i[TableBeat*OperandBits-1:0]),
    .value_i(value), .result_o(looked_up)
  );
  always_ff @(posedge clk_i) begin
    if (valid[9]) value_q <= at[9].mode.table_on ? looked_up : value;
  end

  logic lane_write;
  assign lane_write  = valid[VectorLatency+1] && at[VectorLatency+1].last;
  assign out_write_o = lane_write || row_write;
  assign out_addr_o  = row_write ? row_out_addr : at[VectorLatency+1].out_addr;
  assign out_bytes_o = row_write                           ? row_bytes
                       : at[VectorLatency+1].mode.across ? 16'd1 : at[VectorLatency+1].bytes;
  assign out_data_o  = row_write ? row_out : value_q;

  // The operands are free when the last was read, the slot is full when the last value is in it.
  logic [1:0] free_q, full;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) free_q <= '0;
    else         free_q <= {done && cmd_q.flags.signal_activation,
                            done && cmd_q.flags.signal_parameter};
  end
  assign par_give_o = free_q[0];
  assign act_give_o = free_q[1];

  delay_line #(.Width(2), .Cycles(VectorLatency + 1)) u_full (
    .clk_i, .rst_ni, .data_i({done, done && cmd_q.flags.signal_output}), .data_o(full)
  );
  assign out_give_o = full[0];
  assign retire_o   = full[1];
endmodule
