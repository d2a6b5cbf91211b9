// Post queue: accumulator rows through the lanes into the output slot, `Lanes` columns a cycle. A
// transposed post (input stationary) has one channel a row and writes its values a pixel pitch
// apart.
module post_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Cols     = 8,
  parameter int unsigned Lanes    = 8,
  parameter int unsigned AccSlots = 2, AccRows = 16,
  parameter int unsigned ParSlots = 2, ParStride = 1024,
  parameter int unsigned OutSlots = 2, OutStride = 1024
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   enable_i,
  input  logic                   cmd_valid_i,
  output logic                   cmd_ready_o,
  input  post_cmd_t              cmd_i,
  input  logic                   acc_full_i, out_free_i, par_full_i,
  output logic                   acc_take_o, out_take_o, par_take_o,
  output logic                   acc_give_o, out_give_o, par_give_o,
  output logic                   acc_read_o,
  output word_t                  acc_row_o,
  input  logic [Cols-1:0][31:0]  acc_data_i,
  output logic                   par_read_o,
  output word_t                  par_addr_o,
  input  logic [Lanes*96-1:0]    par_data_i,
  output logic                   out_write_o,
  output logic                   out_scatter_o,
  output word_t                  out_addr_o,
  output word_t                  out_pitch_o,
  output logic [15:0]            out_bytes_o,
  output logic [Lanes*8-1:0]     out_data_o,
  output logic                   retire_o
);
  post_cmd_t head, cmd_q;
  logic      head_valid, load, start, active, tokens, row_end, done;
  word_t     row_q, rows_left_q, cols_left_q, row_addr_q, addr_q, par_q;
  word_t     acc_base, par_base, out_base;
  logic [15:0] select_q;  // first column of the beat

  cmd_fifo #(.T(post_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  assign tokens  = (!cmd_q.flags.wait_accumulator || acc_full_i) &&
                   (!cmd_q.flags.wait_output || out_free_i) &&
                   (!cmd_q.flags.wait_parameter || par_full_i);
  assign row_end = cols_left_q <= 32'(Lanes);
  assign done    = active && row_end && rows_left_q == 1;

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid), .ready_i(tokens), .done_i(done), .load_o(load),
    .start_o(start), .active_o(active)
  );

  assign acc_take_o = start && cmd_q.flags.wait_accumulator;
  assign out_take_o = start && cmd_q.flags.wait_output;
  assign par_take_o = start && cmd_q.flags.wait_parameter;

  slot_ring #(.Slots(AccSlots), .Stride(AccRows)) u_acc_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_accumulator), .base_o(acc_base)
  );
  slot_ring #(.Slots(ParSlots), .Stride(ParStride)) u_par_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_parameter), .base_o(par_base)
  );
  slot_ring #(.Slots(OutSlots), .Stride(OutStride)) u_out_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_output), .base_o(out_base)
  );

  // Stage -1: reads. Columns go in beats; a row of parameters is read once when it serves all rows.
  assign acc_read_o = active;
  assign acc_row_o  = row_q;
  assign par_read_o = active && (start || cmd_q.flags.transposed || cmd_q.cols > 32'(Lanes));
  assign par_addr_o = par_q;

  always_ff @(posedge clk_i) begin
    if (load) begin
      cmd_q       <= head;
      row_q       <= acc_base + head.accumulator_row;
      rows_left_q <= head.rows;
      cols_left_q <= head.cols;
      row_addr_q  <= out_base + head.slot_offset;
      addr_q      <= out_base + head.slot_offset;
      par_q       <= par_base + head.parameter_offset;
      select_q    <= '0;
      cmd_q.parameter_offset <= par_base + head.parameter_offset;
    end else if (active && row_end) begin
      row_q       <= row_q + 1;
      rows_left_q <= rows_left_q - 1;
      cols_left_q <= cmd_q.cols;
      row_addr_q  <= row_addr_q + (cmd_q.flags.transposed ? 32'd1 : cmd_q.pitch);
      addr_q      <= row_addr_q + (cmd_q.flags.transposed ? 32'd1 : cmd_q.pitch);
      par_q       <= cmd_q.flags.transposed ? par_q + ParameterBytes : cmd_q.parameter_offset;
      select_q    <= '0;
    end else if (active) begin
      cols_left_q <= cols_left_q - 32'(Lanes);
      addr_q      <= addr_q + (cmd_q.flags.transposed ? cmd_q.pitch * Lanes : 32'(Lanes));
      par_q       <= cmd_q.flags.transposed ? par_q : par_q + ParameterBytes * Lanes;
      select_q    <= select_q + 16'(Lanes);
    end
  end

  // The beat's way through the lanes: what the last stages need travels along.
  typedef struct packed {
    logic        scatter;
    logic [15:0] bytes;
    word_t       addr;
    word_t       pitch;
  } write_t;
  typedef struct packed {
    logic [15:0] zero, low, high;
  } clip_t;

  logic [6:0] stage_q;  // [0]: read from the memories, [5:1]: in the lanes, [6]: being written
  write_t     write, write_out;
  clip_t      clip, clip_out;
  logic       transposed_q, par_read_q;
  logic [15:0] select_late_q;

  assign write = '{scatter: cmd_q.flags.transposed,
                   bytes: row_end ? cols_left_q[15:0] : 16'(Lanes), addr: addr_q,
                   pitch: cmd_q.pitch};
  assign clip  = '{zero: cmd_q.zero[15:0], low: cmd_q.low[15:0], high: cmd_q.high[15:0]};

  delay_line #(.Width($bits(write_t)), .Cycles(PostLatency + 1)) u_write (
    .clk_i, .rst_ni, .data_i(write), .data_o(write_out)
  );
  delay_line #(.Width($bits(clip_t)), .Cycles(PostLatency)) u_clip (
    .clk_i, .rst_ni, .data_i(clip), .data_o(clip_out)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stage_q <= '0;
    else         stage_q <= {stage_q[5:0], active};
  end
  // Stage 0: the beat's columns, and its parameters when they are new.
  logic [Lanes*32-1:0] sums_q;
  logic [Lanes*96-1:0] parameters_q;

  always_ff @(posedge clk_i) begin
    par_read_q <= par_read_o;
    if (active) begin
      transposed_q  <= cmd_q.flags.transposed;
      select_late_q <= select_q;
    end
    if (par_read_q) parameters_q <= transposed_q ? {Lanes{par_data_i[95:0]}} : par_data_i;
  end

  if (Lanes < Cols) begin : gen_select
    localparam int unsigned Padded = (Cols + Lanes - 1) / Lanes * Lanes;
    localparam int unsigned SelectBits = $clog2(Padded * 32);
    logic [Padded*32-1:0] sums;
    assign sums = (Padded*32)'(acc_data_i);
    always_ff @(posedge clk_i) begin
      if (stage_q[0]) sums_q <= sums[SelectBits'({select_late_q, 5'd0}) +: Lanes*32];
    end
  end else begin : gen_all
    logic unused_select;
    assign unused_select = ^select_late_q;
    always_ff @(posedge clk_i) if (stage_q[0]) sums_q <= acc_data_i;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [95:0] own;
    assign own = parameters_q[96*i +: 96];
    post_lane u_lane (
      .clk_i,
      .valid_i     (stage_q[5:1]),
      .sum_i       (sums_q[32*i +: 32]),
      .bias_i      (own[31:0]),
      .multiplier_i(own[63:32]),
      .shift_i     (own[69:64]),
      .zero_i      (clip_out.zero),
      .low_i       (clip_out.low),
      .high_i      (clip_out.high),
      .value_o     (out_data_o[8*i +: 8])
    );
  end

  assign out_write_o   = stage_q[6];
  assign out_scatter_o = write_out.scatter;
  assign out_addr_o    = write_out.addr;
  assign out_pitch_o   = write_out.pitch;
  assign out_bytes_o   = write_out.bytes;

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
