// Row commands of the vector unit: softmax and normalisation of rows, by docs/vector-arithmetic.md.
// Beats of all passes go through one pipeline; what a row comes to in a pass is kept for the next
// one, in one of RowSlots slots. Stage k is k cycles behind the read. The first ExpLanes lanes have
// exponentials. RowLanes rows at most have their root, or their reciprocal, made at a time.
module row_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8, ExpLanes = Lanes, RowLanes = RowStep / 2,
  localparam int unsigned ParBytes = max_of(Lanes * RowChannelBytes, RowTableBeat)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              load_i,      // the cycle before a command's first
  input  row_cmd_t                          head_i,      // then
  input  word_t                             act_base_i, par_base_i, out_base_i,
  input  row_cmd_t                          cmd_i,       // in work
  input  logic                              step_i,      // it is a row command
  output logic                              act_read_o, mask_read_o, par_read_o,
  output word_t                             act_addr_o, mask_addr_o, par_addr_o,
  input  logic [1:0][Lanes*OperandBits-1:0] act_data_i,  // elements, mask
  input  logic [ParBytes*ByteBits-1:0]      par_data_i,
  output logic                              out_write_o,
  output word_t                             out_addr_o,
  output bytes_t                            out_bytes_o,
  output logic [Lanes*OperandBits-1:0]      out_data_o,
  output logic                              done_o
);
  localparam int unsigned Stages = VectorLatency + 2, ChannelBits = RowChannelBytes * ByteBits;

  // What a beat needs on its way through the stages.
  typedef struct packed {
    logic          first, last;  // beat of a row
    row_slot_t     row;
    bytes_t        bytes;
    word_t         out_addr;
    logic          splat;
    lane_factors_t factors;
    logic [16:0]   length;
    logic [3:0]    difference;
    row_zeros_t    zeros;
  } beat_t;

  logic      beat_on, log_beat, tail, table_read, norm, writes, softmax;
  row_pass_e pass;
  beat_t     beat;
  word_t     beat_par, table_addr;

  row_walk u_walk (
    .clk_i, .load_i, .cmd_i(head_i), .act_base_i, .par_base_i, .out_base_i, .cmd_q_i(cmd_i),
    .step_i, .beat_o(beat_on), .pass_o(pass), .row_o(beat.row), .first_o(beat.first),
    .last_o(beat.last), .tail_o(tail), .log_o(log_beat),
    .in_addr_o(act_addr_o), .mask_addr_o, .par_addr_o(beat_par),
    .out_addr_o(beat.out_addr), .done_o
  );
  assign norm            = cmd_i.mode.row_norm;
  assign softmax         = step_i && !norm;
  assign writes          = pass == RowWrite;
  assign beat.bytes      = log_beat           ? 16'd1
                           : pass == RowFirst ? bytes_t'(tail ? cmd_i.tail : cmd_i.beat)
                           : bytes_t'(tail ? cmd_i.late_tail : cmd_i.late_beat);
  assign beat.splat      = cmd_i.mode.row_splat;
  assign beat.factors    = cmd_i.factors;
  assign beat.length     = cmd_i.length[16:0];
  assign beat.difference = cmd_i.shifts.difference[3:0];
  assign beat.zeros      = cmd_i.zeros;

  assign act_read_o  = beat_on && !log_beat;
  assign mask_read_o = act_read_o && cmd_i.mode.row_mask;
  assign par_read_o  = table_read || (beat_on && norm && writes);
  assign par_addr_o  = table_read ? table_addr : beat_par;

  // ---- stages -----------------------------------------------------------------------------------
  beat_t [Stages-1:0] at;  // the beat of so many cycles ago
  logic  [Stages-1:0] norm_first, norm_write, soft_first, soft_sum, soft_write, soft_log;
  tap_line #(.Width($bits(beat_t)), .Taps(Stages)) u_beats (
    .clk_i, .rst_ni, .data_i(beat), .tap_o(at));
  tap_line #(.Width(1), .Taps(Stages)) u_norm_first (
    .clk_i, .rst_ni, .data_i(beat_on && norm && !writes), .tap_o(norm_first));
  tap_line #(.Width(1), .Taps(Stages)) u_norm_write (
    .clk_i, .rst_ni, .data_i(beat_on && norm && writes), .tap_o(norm_write));
  tap_line #(.Width(1), .Taps(Stages)) u_soft_first (
    .clk_i, .rst_ni, .data_i(beat_on && !norm && pass == RowFirst), .tap_o(soft_first));
  tap_line #(.Width(1), .Taps(Stages)) u_soft_sum (
    .clk_i, .rst_ni, .data_i(beat_on && !norm && pass == RowSum), .tap_o(soft_sum));
  tap_line #(.Width(1), .Taps(Stages)) u_soft_write (
    .clk_i, .rst_ni, .data_i(beat_on && !norm && writes && !log_beat), .tap_o(soft_write));
  tap_line #(.Width(1), .Taps(Stages)) u_soft_log (
    .clk_i, .rst_ni, .data_i(beat_on && log_beat), .tap_o(soft_log));

  // ---- what is known of the rows ----------------------------------------------------------------
  logic signed [24:0] offsets_q [RowSlots];  // softmax: maximum; normalisation: what n x is less
  logic [30:0]        reciprocals_q [RowSlots];
  logic [5:0]         shifts_q [RowSlots];
  logic signed [24:0] maximum, offset, offset1_q, maximum2_q, sum;
  logic [31:0]        squares;
  logic [46:0]        terms;
  logic [30:0]        reciprocal, norm_reciprocal_q, soft_reciprocal_q;
  logic [5:0]         shift, unit_half_q, unit_shift_q, soft_half_q, soft_shift_q;
  logic               maximum_on, shift_on, offset_on, reciprocal_on;
  row_slot_t          shift_row, offset_row, reciprocal_row, log_row;
  code_t              logs_q [RowSlots];
  code_t              log_value, log_late_q;
  logic               log_on;

  assign maximum_on = soft_first[4] && at[4].last;
  row_factor #(.Lanes(RowLanes)) u_factor (
    .clk_i, .rst_ni, .cmd_i, .terms_on_i(soft_sum[8] && at[8].last), .terms_row_i(at[8].row),
    .terms_i(terms), .sums_on_i(norm_first[5] && at[5].last), .sums_row_i(at[5].row),
    .sum_i(sum), .squares_i(squares), .shift_on_o(shift_on), .shift_row_o(shift_row),
    .shift_o(shift), .offset_on_o(offset_on), .offset_row_o(offset_row), .offset_o(offset),
    .reciprocal_on_o(reciprocal_on), .reciprocal_row_o(reciprocal_row), .reciprocal_o(reciprocal)
  );
  row_log u_log (
    .clk_i, .rst_ni, .row_multiplier_i(cmd_i.log_row[30:0]),
    .sum_multiplier_i(cmd_i.log_sum[30:0]), .shift_i(cmd_i.log_shift[5:0]),
    .addend_i({cmd_i.log_addend_hi, cmd_i.log_addend_lo}),
    .on_i(soft_sum[8] && at[8].last && cmd_i.mode.row_log), .row_i(at[8].row),
    .terms_i(terms), .maximum_i(offsets_q[at[8].row]), .on_o(log_on), .row_o(log_row),
    .value_o(log_value)
  );
  always_ff @(posedge clk_i) begin
    if (maximum_on)    offsets_q[at[4].row] <= maximum;
    if (offset_on)     offsets_q[offset_row] <= offset;
    if (reciprocal_on) reciprocals_q[reciprocal_row] <= reciprocal;
    if (shift_on)      shifts_q[shift_row] <= shift;
    if (log_on)        logs_q[log_row] <= log_value;
    if (soft_log[9])   log_late_q <= logs_q[at[9].row];
    if (norm_write[0] || soft_sum[0] || soft_write[0]) offset1_q <= offsets_q[at[0].row];
    if (soft_sum[1] || soft_write[1]) maximum2_q <= offset1_q;
    if (norm_write[1]) norm_reciprocal_q <= reciprocals_q[at[1].row];
    if (norm_write[2]) unit_half_q       <= shifts_q[at[2].row];
    if (norm_write[3]) unit_shift_q      <= unit_half_q;
    if (soft_write[5]) soft_reciprocal_q <= reciprocals_q[at[5].row];
    if (soft_write[6]) soft_half_q       <= shifts_q[at[6].row];
    if (soft_write[7]) soft_shift_q      <= soft_half_q;
  end

  // ---- lanes ------------------------------------------------------------------------------------
  logic [Lanes-1:0][24:0] logit;
  code_t [Lanes-1:0] value;
  difference_t [Lanes-1:0] value_late;
  logic [Lanes-1:0][ProductBits-1:0] square;
  logic [ExpLanes-1:0][30:0] coarse, fine, term;
  logic [ExpLanes-1:0][11:0] difference;
  logic logit_on;
  logic [5:2] exps;

  assign logit_on = soft_first[1] || soft_sum[1] || soft_write[1] || norm_write[1];
  assign exps     = soft_sum[5:2] | soft_write[5:2];

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    localparam int unsigned Exp = min_of(i, ExpLanes - 1);  // of its own, if it has any
    logic [30:0] lane_term;
    logic [11:0] lane_difference;
    if (i < ExpLanes) begin : gen_exp
      assign term[i]       = lane_term;
      assign difference[i] = lane_difference;
    end else begin : gen_none
      logic unused;
      assign unused = ^{lane_term, lane_difference};
    end
    row_lane #(.Exponential(i < ExpLanes)) u_lane (
      .clk_i, .logit_on_i(logit_on), .first_on_i(norm_first[1]), .square_on_i(norm_first[2]),
      .exp_i(exps), .soft_i(soft_write[9:6]), .norm_i(norm_write[9:1]),
      .x_i(act_data_i[0][OperandBits*i +: OperandBits]),
      .m_i(act_data_i[1][OperandBits*i +: OperandBits]),
      .factor_i(norm_write[1] ? at[1].length : {1'b0, at[1].factors.a}),
      .mask_factor_i(at[1].factors.b), .offset_i(offset1_q), .input_zero_i(at[1].zeros.input_zero),
      .channel_i(at[1].splat ? par_data_i[ChannelBits-1:0]
                               : par_data_i[ChannelBits*i +: ChannelBits]), .logit_o(logit[i]),
      .value_late_o(value_late[i]), .square_o(square[i]), .maximum_i(maximum2_q),
      .difference_shift_i(at[2].difference), .difference_o(lane_difference),
      .coarse_i(coarse[Exp]), .fine_i(fine[Exp]), .norm_reciprocal_i(norm_reciprocal_q),
      .unit_half_i(unit_half_q), .unit_shift_i(unit_shift_q), .term_o(lane_term),
      .soft_reciprocal_i(soft_reciprocal_q),
      .soft_half_i(soft_half_q), .soft_shift_i(soft_shift_q), .zeros_i(at[9].zeros),
      .value_o(value[i])
    );
  end

  row_tables #(.Lanes(ExpLanes)) u_tables (
    .clk_i, .rst_ni, .load_i, .start_i(par_base_i + head_i.parameter_offset), .step_i(softmax),
    .read_o(table_read), .addr_o(table_addr), .data_i(par_data_i[RowTableBeat*ByteBits-1:0]),
    .difference_i(difference), .coarse_o(coarse), .fine_o(fine)
  );
  row_reduce #(.Lanes(Lanes), .ExpLanes(ExpLanes)) u_reduce (
    .clk_i, .maximum_on_i(soft_first[4:2]), .sums_on_i(norm_first[5:3]),
    .terms_on_i(soft_sum[8:6]), .maximum_first_i(at[4].first), .sums_first_i(at[5].first),
    .terms_first_i(at[8].first), .maximum_bytes_i(at[2].bytes), .sums_bytes_i(at[3].bytes),
    .terms_bytes_i(at[6].bytes), .logit_i(logit), .value_i(value_late), .square_i(square),
    .term_i(term), .maximum_o(maximum), .sum_o(sum), .squares_o(squares), .terms_o(terms)
  );

  assign out_write_o = norm_write[Stages-1] || soft_write[Stages-1] || soft_log[Stages-1];
  assign out_addr_o  = at[Stages-1].out_addr;
  assign out_bytes_o = at[Stages-1].bytes;
  always_comb begin
    out_data_o = value;
    if (soft_log[Stages-1]) out_data_o[OperandBits-1:0] = log_late_q;
  end
endmodule
