// Store engine: reads the output slot beat by beat and writes the beats to memory one cycle later.
// The slot is free again when the memory has taken the last beat.
module store_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Slots  = 2,
  parameter int unsigned Stride = 1024,
  parameter int unsigned Port   = 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 enable_i,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  dma_cmd_t             cmd_i,
  input  logic [2:0]           full_i,  // tokens, by who filled the slot (filler_e)
  output logic [2:0]           take_o,
  output logic [2:0]           free_o,  // ... by who fills it next
  input  logic [Regions-1:0]   region_free_i,  // tokens, by region
  output logic [Regions-1:0]   region_take_o,
  input  marks_t               marks_i,  // reached
  input  logic                 turn_i,  // on DRAM's write channel
  output logic                 turn_take_o,
  output logic                 turn_give_o,
  output logic                 read_o,
  output word_t                read_addr_o,
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [AddrWidth-1:0] req_addr_o,
  output bytes_t               req_bytes_o,
  output logic                 req_shared_o,
  output logic                 req_last_o,
  output region_tag_t          req_tag_o,  // comes back when the beat is in memory
  output logic                 retire_o
);
  dma_cmd_t             head;
  logic                 head_valid, load, step, done, start, active, room, last;
  dma_flags_t           flags_q;
  region_flags_t        region_q;
  marks_t               marks_q;
  word_t                offset, base, rows_left;
  logic                 block_end, item_end;  // stores are never transposed nor gathered
  logic [AddrWidth-1:0] addr;
  bytes_t               bytes;

  cmd_fifo #(.T(dma_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  dma_walk u_walk (
    .clk_i, .load_i(load), .cmd_i(head), .step_i(step), .port_bytes_i(bytes_t'(Port)),
    .gather_i(1'b0), .first_i(1'b0), .item_addr_i('0), .item_end_o(item_end),
    .addr_o(addr), .slot_offset_o(offset), .bytes_o(bytes), .last_o(last),
    .block_end_o(block_end), .rows_left_o(rows_left)
  );

  slot_ring #(.Slots(Slots), .Stride(Stride)) u_ring (
    .clk_i, .rst_ni, .advance_i(done && flags_q.signal), .base_o(base)
  );

  // Second stage: the beat that the slot memory delivers now.
  logic                 out_valid_q, out_shared_q, out_last_q, out_signal_q;
  logic [AddrWidth-1:0] out_addr_q;
  bytes_t               out_bytes_q;
  logic [1:0]           out_to_q;
  region_tag_t          out_tag_q;
  logic                 out_turn_q;

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid),
    .ready_i(room && (!flags_q.waits || full_i[flags_q.from]) &&
             (!region_q.waits || region_q.initial_slot || region_free_i[region_q.region]) &&
             (!region_q.turn_wait || turn_i) && reached(marks_q, marks_i)),
    .done_i(done), .load_o(load), .start_o(start), .active_o(active)
  );

  assign room        = !out_valid_q || req_ready_i;
  assign step        = active && room;
  assign done        = step && last;
  assign take_o      = start && flags_q.waits ? 3'd1 << flags_q.from : 3'd0;
  assign region_take_o = start && region_q.waits && !region_q.initial_slot ?
                         Regions'(1) << region_q.region : '0;
  assign turn_take_o   = start && region_q.turn_wait;
  assign turn_give_o   = retire_o && out_turn_q;
  assign read_o      = step;
  assign read_addr_o = base + offset;

  assign req_valid_o  = out_valid_q;
  assign req_addr_o   = out_addr_q;
  assign req_bytes_o  = out_bytes_q;
  assign req_shared_o = out_shared_q;
  assign req_last_o   = out_last_q;
  assign req_tag_o    = out_tag_q;
  assign retire_o     = out_valid_q && req_ready_i && out_last_q;
  assign free_o       = retire_o && out_signal_q ? 3'd1 << out_to_q : 3'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)          out_valid_q <= 1'b0;
    else if (step)        out_valid_q <= 1'b1;
    else if (req_ready_i) out_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      flags_q  <= head.flags;
      region_q <= head.region;
      marks_q  <= head.marks;
    end
    if (step) begin
      out_addr_q   <= addr;
      out_bytes_q  <= bytes;
      out_shared_q <= flags_q.shared;
      out_last_q   <= last;
      out_signal_q <= flags_q.signal;
      out_to_q     <= flags_q.to;
      out_turn_q   <= region_q.turn_give;
      out_tag_q    <= '{mark: last && region_q.mark, signal: last && region_q.signal,
                        region: region_q.region};
    end
  end
endmodule
