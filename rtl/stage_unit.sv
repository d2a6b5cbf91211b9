// Copies between DRAM and the shared buffer: asks for the beats of a walk, one a cycle, each from
// the one memory to the other. The bytes don't come here: the memory side moves them, and says when
// a command's last beat is there. DRAM's channel sets the pace as in load_unit and store_unit.
module stage_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Port = 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 enable_i,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  stage_cmd_t           cmd_i,
  input  logic [Regions-1:0]   full_i,  // tokens, by region
  input  logic [Regions-1:0]   free_i,
  output logic [Regions-1:0]   full_take_o,
  output logic [Regions-1:0]   free_take_o,
  output logic [Regions-1:0]   give_o,  // a slot of the source is free again
  input  marks_t               marks_i,  // reached
  input  logic [1:0]           turn_i,  // by channel: reads, writes
  output logic [1:0]           turn_take_o,
  output logic [1:0]           turn_give_o,
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [AddrWidth-1:0] req_source_o,
  output logic [AddrWidth-1:0] req_target_o,
  output bytes_t               req_bytes_o,
  output logic                 req_shared_o,  // from the shared buffer to DRAM
  output logic                 req_last_o,
  output region_tag_t          req_tag_o,
  output logic                 retire_o
);
  stage_cmd_t           head;
  logic                 head_valid, load, step, done, start, active, block_end, shared_q;
  logic                 item_end;
  region_flags_t        source_q, target_q;
  marks_t               marks_q;
  logic [AddrWidth-1:0] near, far, far_q;
  word_t                offset, rows_left;
  logic                 retire_q;
  logic [1:0]           turn_give_q, channel;
  logic [Regions-1:0]   give_q;

  cmd_fifo #(.T(stage_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  dma_walk u_walk (
    .clk_i, .load_i(load), .cmd_i(head.walk), .step_i(step), .port_bytes_i(bytes_t'(Port)),
    .gather_i(1'b0), .first_i(1'b0), .item_addr_i('0), .item_end_o(item_end),
    .addr_o(near), .slot_offset_o(offset), .bytes_o(req_bytes_o), .last_o(req_last_o),
    .block_end_o(block_end), .rows_left_o(rows_left)
  );

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid),
    .ready_i((!source_q.waits || full_i[source_q.region]) &&
             (!target_q.waits || target_q.initial_slot || free_i[target_q.region]) &&
             (!source_q.turn_wait || turn_i[shared_q]) && reached(marks_q, marks_i)),
    .done_i(done), .load_o(load), .start_o(start), .active_o(active)
  );

  assign channel      = shared_q ? 2'b10 : 2'b01;
  assign far          = far_q + AddrWidth'(offset);
  assign req_valid_o  = active;
  assign req_source_o = shared_q ? far : near;
  assign req_target_o = shared_q ? near : far;
  assign req_shared_o = shared_q;
  assign req_tag_o    = '{mark: source_q.mark, signal: target_q.signal,
                         region: target_q.region};
  assign step         = req_valid_o && req_ready_i;
  assign done         = step && req_last_o;
  assign full_take_o  = start && source_q.waits ? Regions'(1) << source_q.region : '0;
  assign free_take_o  = start && target_q.waits && !target_q.initial_slot ?
                        Regions'(1) << target_q.region : '0;
  assign turn_take_o  = start && source_q.turn_wait ? channel : 2'b00;
  assign turn_give_o  = turn_give_q;
  assign give_o       = give_q;
  assign retire_o     = retire_q;

  // What ends in this cycle is given back in the next, the first one behind the command.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      retire_q    <= 1'b0;
      turn_give_q <= 2'b00;
      give_q      <= '0;
    end else begin
      retire_q    <= done;
      turn_give_q <= done && source_q.turn_give ? channel : 2'b00;
      give_q      <= done && source_q.signal ? Regions'(1) << source_q.region : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      source_q <= head.walk.region;
      marks_q  <= head.walk.marks;
      target_q <= head.target;
      shared_q <= head.walk.flags.shared;
      far_q    <= {head.far_hi[AddrWidth-33:0], head.far_lo};
    end
  end
endmodule
