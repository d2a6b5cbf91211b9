// Execute queue of the output stationary machine. A gemm streams max(m, k) cycles: m pixels into
// the transposer, k weight rows. With `drain` the sums leave the array afterwards, one row a cycle,
// while the next gemm streams; the next drain waits until all rows have left.
module exec_os
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned ActStride = 1024,
  parameter int unsigned WgtSlots = 2, WgtStride = 1024,
  parameter int unsigned AccSlots = 2, AccRows = 16,
  localparam int unsigned IndexBits = $clog2(Rows + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 enable_i,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  gemm_cmd_t            cmd_i,
  input  logic                 act_full_i, wgt_full_i, acc_free_i,
  output logic                 act_take_o, wgt_take_o, acc_take_o,
  output logic                 act_give_o, wgt_give_o,
  output logic                 window_load_o,
  output window_t              window_o,
  output word_t                window_base_o,
  output logic                 window_step_o,
  output logic                 weight_load_o,
  output word_t                weight_start_o, weight_pitch_o, weight_rows_o, weight_lanes_o,
  output blocks_t              weight_blocks_o,
  output logic                 weight_narrow_o,
  output logic                 weight_step_o,
  // Array, at the time of the operands' step
  output logic                 clear_o,
  output logic                 element_valid_o,
  output logic [IndexBits-1:0] element_o,
  output logic                 stream_end_o,
  output logic                 drain_start_o,
  // Accumulator: one drained row
  output logic                 row_valid_o,
  output logic                 row_overwrite_o,
  output word_t                row_o,
  output logic                 row_last_o,
  output logic                 row_signal_o
);
  gemm_cmd_t   head;
  gemm_flags_t flags_q;
  logic        head_valid, load, start, active, ends, tokens;
  word_t       m_q, k_q, step_q, length, act_base, wgt_base, acc_base, row_q;
  logic        act_give_q, wgt_give_q;
  slot_t       taken_slot;  // of act_take_o

  // Drain: waiting, then under way. A waiting drain holds back the next gemm, so there is only one.
  gemm_flags_t wait_flags_q, drain_flags_q, drain_flags;
  logic        wait_q, drain_start, drain_active;
  word_t       wait_row_q, wait_m_q, drain_row_q, drain_m_q, drain_left_q, drain_row, drain_m;
  word_t       drain_step;

  cmd_fifo #(.T(gemm_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  assign tokens = (!flags_q.wait_activation || act_full_i) &&
                  (!flags_q.wait_weight || wgt_full_i) &&
                  (!flags_q.wait_accumulator || acc_free_i);
  assign length = m_q > k_q ? m_q : k_q;
  assign ends   = active && step_q == length - 1;

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid), .ready_i(tokens && (!wait_q || drain_start)),
    .done_i(ends), .load_o(load), .start_o(start), .active_o(active)
  );

  assign drain_start  = wait_q && drain_left_q == '0;
  assign drain_active = drain_start || drain_left_q != '0;
  assign drain_flags  = drain_start ? wait_flags_q : drain_flags_q;
  assign drain_row    = drain_start ? wait_row_q : drain_row_q;
  assign drain_m      = drain_start ? wait_m_q : drain_m_q;
  assign drain_step   = drain_start ? 32'(Rows - 1) : drain_left_q - 1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q       <= 1'b0;
      drain_left_q <= '0;
      act_give_q   <= 1'b0;
      wgt_give_q   <= 1'b0;
    end else begin
      if (ends && flags_q.drain) wait_q <= 1'b1;
      else if (drain_start)      wait_q <= 1'b0;
      if (drain_active) drain_left_q <= drain_step;
      act_give_q <= ends && !flags_q.drain && flags_q.signal_activation;
      wgt_give_q <= ends && !flags_q.drain && flags_q.signal_weight;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      flags_q <= head.flags;
      m_q     <= head.m;
      k_q     <= head.k;
      step_q  <= '0;
      row_q   <= acc_base + head.accumulator_row;
    end else if (active) begin
      step_q <= step_q + 1;
    end
    if (ends) begin
      wait_flags_q <= flags_q;
      wait_row_q   <= row_q;
      wait_m_q     <= m_q;
    end
    if (drain_start) begin
      drain_flags_q <= wait_flags_q;
      drain_row_q   <= wait_row_q;
      drain_m_q     <= wait_m_q;
    end
  end

  // A slot that ends with a drained gemm is given back when the drain begins.
  assign act_take_o = start && flags_q.wait_activation;
  assign wgt_take_o = start && flags_q.wait_weight;
  assign acc_take_o = start && flags_q.wait_accumulator;
  assign act_give_o = act_give_q || (drain_start && wait_flags_q.signal_activation);
  assign wgt_give_o = wgt_give_q || (drain_start && wait_flags_q.signal_weight);

  assign window_load_o  = load;
  assign window_o       = head.window;
  assign window_base_o  = act_base;
  assign window_step_o  = active && step_q < m_q;
  assign weight_load_o  = load;
  assign weight_start_o = wgt_base + head.weight_offset;
  assign weight_pitch_o = head.weight_pitch;
  assign weight_rows_o  = head.k;
  assign weight_lanes_o = head.n;
  assign weight_blocks_o = head.blocks;
  assign weight_narrow_o = head.flags.narrow_weights;
  assign weight_step_o  = active;

  // Activation slots are the vector unit's too: the command says which one.
  assign act_base = 32'(head.flags.activation_slot) * ActStride;
  assign taken_slot = flags_q.activation_slot;
  slot_ring #(.Slots(WgtSlots), .Stride(WgtStride)) u_wgt_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_weight), .base_o(wgt_base)
  );
  slot_ring #(.Slots(AccSlots), .Stride(AccRows)) u_acc_ring (
    .clk_i, .rst_ni, .advance_i(load && head.flags.signal_accumulator), .base_o(acc_base)
  );

  assign clear_o         = start && flags_q.overwrite;
  assign element_valid_o = active && step_q < k_q;
  assign element_o       = step_q[IndexBits-1:0];
  assign stream_end_o    = ends;
  assign drain_start_o   = drain_start;
  assign row_valid_o     = drain_active && drain_step < drain_m;
  assign row_overwrite_o = drain_flags.drain_overwrite;
  assign row_o           = drain_row + drain_step;
  assign row_last_o      = drain_active && drain_step == '0;
  assign row_signal_o    = row_last_o && drain_flags.signal_accumulator;
endmodule
