// Execute queue of the weight and input stationary machine. Two stages: a gemm fills the shadow
// registers, then streams; the next one fills while this one streams, from the cycle in which this
// one has begun. Weight stationary fills with weight rows and streams activations; input stationary
// fills with activations and streams weight rows. Which of the two a gemm is changes when all sums
// are there.
// With FillRows a cycle, a fill of weights occupies Block cycles. Each port of the weight buffer
// reads Block rows behind the port before, while that one reads for the next fill.
module exec_ws
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned FillRows = 1,
  parameter int unsigned ActStride = 1024,
  parameter int unsigned WgtSlots = 2, WgtStride = 1024,
  parameter int unsigned AccSlots = 2, AccRows = 16,
  localparam int unsigned Block = (Rows + FillRows - 1) / FillRows
) (
  input  logic      clk_i,
  input  logic      rst_ni,
  input  logic      enable_i,
  input  logic      cmd_valid_i,
  output logic      cmd_ready_o,
  input  gemm_cmd_t cmd_i,
  input  logic      done_i,              // a gemm's sums are all there
  output logic      input_stationary_o,  // of the gemms in work
  input  logic      act_full_i, wgt_full_i, acc_free_i,
  output logic      act_take_o, wgt_take_o, acc_take_o,
  output logic      act_give_o, wgt_give_o,
  // Operand walks
  output logic      window_load_o,
  output window_t   window_o,
  output word_t     window_base_o,
  output logic      window_step_o,
  output logic      weight_load_o,
  output word_t     weight_start_o, weight_pitch_o, weight_rows_o, weight_lanes_o,
  output blocks_t   weight_blocks_o,
  output logic      weight_narrow_o,
  output logic      weight_step_o,
  output logic      weight_fill_o,  // the step is of a fill
  output logic      weight_pass_o,  // the last of the first port: the next one goes on
  // Array: the cycle of the first operand row
  output logic      fill_start_o,
  output logic      stream_start_o,
  // Accumulator: one streamed row
  output logic      row_valid_o,
  output logic      row_overwrite_o,
  output word_t     row_o,
  output logic      row_last_o,
  output logic      row_signal_o
);
  gemm_cmd_t head, fill_q;
  logic      head_valid, head_input_stationary, input_stationary_q, loads_input_stationary;
  logic      may_load;
  word_t     open_q;  // gemms taken whose sums aren't there

  logic  fill_done_q, shadow_busy_q;
  word_t fill_count_q, fill_length;
  logic  fill_load, fill_start, fill_held, fill_active, fill_end, fill_tokens;

  gemm_flags_t stream_flags_q;
  word_t       stream_left_q, row_q;
  logic        stream_load, stream_start, stream_active, stream_end, stream_tokens;
  word_t       act_base, wgt_base, acc_base;
  slot_t       act_slot, taken_slot;  // of the walk that is loaded, of act_take_o
  logic        fill_give_q, stream_give_q, weights_read;

  cmd_fifo #(.T(gemm_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(fill_load), .data_o(head)
  );

  assign head_input_stationary = head.flags.input_stationary;
  assign loads_input_stationary = fill_load ? head_input_stationary : input_stationary_q;
  assign may_load = head_input_stationary == input_stationary_q || open_q == 32'(done_i);
  assign input_stationary_o = loads_input_stationary;

  // Fill
  assign fill_length = input_stationary_q ? 32'(Cols) : 32'(Block);
  assign fill_tokens = input_stationary_q ? !fill_q.flags.wait_activation || act_full_i
                          : !fill_q.flags.wait_weight || wgt_full_i;
  assign fill_active = fill_held && !fill_done_q;
  assign fill_end    = fill_active && fill_count_q == fill_length - 1;

  cmd_issue u_fill (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid && may_load),
    .ready_i(fill_tokens && (!shadow_busy_q || stream_start)), .done_i(stream_load),
    .load_o(fill_load), .start_o(fill_start), .active_o(fill_held)
  );

  // Stream
  assign stream_tokens = (!stream_flags_q.wait_accumulator || acc_free_i) &&
                         (input_stationary_q ? !stream_flags_q.wait_weight || wgt_full_i
                             : !stream_flags_q.wait_activation || act_full_i);
  assign stream_end    = stream_active && stream_left_q == 1;

  cmd_issue u_stream (
    .clk_i, .rst_ni, .enable_i, .next_i(fill_done_q || fill_end), .ready_i(stream_tokens),
    .done_i(stream_end), .load_o(stream_load), .start_o(stream_start), .active_o(stream_active)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_done_q   <= 1'b0;
      fill_count_q  <= '0;
      shadow_busy_q <= 1'b0;
      fill_give_q   <= 1'b0;
      stream_give_q <= 1'b0;
      input_stationary_q <= 1'b0;
      open_q        <= '0;
    end else begin
      input_stationary_q <= loads_input_stationary;
      open_q <= open_q + 32'(fill_load) - 32'(done_i);
      if (stream_load) begin
        fill_done_q  <= 1'b0;
        fill_count_q <= '0;
      end else begin
        if (fill_end)    fill_done_q <= 1'b1;
        if (fill_active) fill_count_q <= fill_count_q + 1;
      end
      if (fill_start)        shadow_busy_q <= 1'b1;
      else if (stream_start) shadow_busy_q <= 1'b0;

      fill_give_q   <= fill_end && (input_stationary_q ? fill_q.flags.signal_activation
                                       : fill_q.flags.signal_weight);
      stream_give_q <= stream_end && (input_stationary_q ? stream_flags_q.signal_weight
                                         : stream_flags_q.signal_activation);
    end
  end

  always_ff @(posedge clk_i) begin
    if (fill_load) fill_q <= head;
    if (stream_load) begin
      stream_flags_q <= fill_q.flags;
      stream_left_q  <= input_stationary_q ? fill_q.n : fill_q.m;
      row_q          <= acc_base + fill_q.accumulator_row;
    end else if (stream_active) begin
      stream_left_q <= stream_left_q - 1;
      row_q         <= row_q + 1;
    end
  end

  // The last port reads for as long as the others have before it.
  if (Rows > Block) begin : gen_ports
    delay_line #(.Width(1), .Cycles(Rows - Block)) u_read (
      .clk_i, .rst_ni, .data_i(fill_give_q && !input_stationary_q), .data_o(weights_read));
  end else begin : gen_port
    assign weights_read = fill_give_q;
  end

  // Tokens
  assign act_take_o = input_stationary_q ? fill_start && fill_q.flags.wait_activation
                         : stream_start && stream_flags_q.wait_activation;
  assign wgt_take_o = input_stationary_q ? stream_start && stream_flags_q.wait_weight
                         : fill_start && fill_q.flags.wait_weight;
  assign acc_take_o = stream_start && stream_flags_q.wait_accumulator;
  assign act_give_o = input_stationary_q ? fill_give_q : stream_give_q;
  assign wgt_give_o = input_stationary_q ? stream_give_q : weights_read;

  // A walk is loaded the cycle before it may start; the slot is known by then, as the queue is in
  // order.
  assign window_load_o  = loads_input_stationary ? fill_load : stream_load;
  assign window_o       = loads_input_stationary ? head.window : fill_q.window;
  assign window_base_o  = act_base;
  assign window_step_o  = input_stationary_q
                        ? fill_active && fill_count_q < fill_q.m : stream_active;
  assign weight_load_o  = loads_input_stationary ? stream_load : fill_load;
  assign weight_start_o = wgt_base + (loads_input_stationary
                        ? fill_q.weight_offset : head.weight_offset);
  assign weight_pitch_o = loads_input_stationary ? fill_q.weight_pitch : head.weight_pitch;
  assign weight_rows_o  = loads_input_stationary ? fill_q.n : head.k;
  assign weight_lanes_o = loads_input_stationary ? fill_q.k : head.n;
  assign weight_blocks_o = loads_input_stationary ? fill_q.blocks : head.blocks;
  assign weight_narrow_o = loads_input_stationary
                        ? fill_q.flags.narrow_weights : head.flags.narrow_weights;
  assign weight_step_o  = input_stationary_q ? stream_active : fill_active;
  assign weight_fill_o  = !input_stationary_q && fill_active;
  assign weight_pass_o  = !input_stationary_q && fill_end;

  // Activation slots are the vector unit's too: the command says which one.
  assign act_slot = loads_input_stationary
                        ? head.flags.activation_slot : fill_q.flags.activation_slot;
  assign act_base = 32'(act_slot) * ActStride;
  assign taken_slot = input_stationary_q
                        ? fill_q.flags.activation_slot : stream_flags_q.activation_slot;
  slot_ring #(.Slots(WgtSlots), .Stride(WgtStride)) u_wgt_ring (
    .clk_i, .rst_ni, .base_o(wgt_base), .advance_i(weight_load_o &&
        (loads_input_stationary ? fill_q.flags.signal_weight : head.flags.signal_weight))
  );
  slot_ring #(.Slots(AccSlots), .Stride(AccRows)) u_acc_ring (
    .clk_i, .rst_ni, .base_o(acc_base),
    .advance_i(stream_load && fill_q.flags.signal_accumulator)
  );

  assign fill_start_o    = fill_start;
  assign stream_start_o  = stream_start;
  assign row_valid_o     = stream_active;
  assign row_overwrite_o = stream_flags_q.overwrite;
  assign row_o           = row_q;
  assign row_last_o      = stream_end;
  assign row_signal_o    = stream_end && stream_flags_q.signal_accumulator;
endmodule
