// Load engine: asks for the beats of a walk, one a cycle, each with a tag that says where its data
// goes. The memory takes the last beat of a command when its channel is free again, so the command
// occupies this queue as long as the channel. Data comes back with the tag, see accsim_core.sv. A
// transposed load asks for blocks, of at most as many rows and bytes as the array has columns and
// the port bytes, at such intervals that one goes out of load_transposer.sv while the next comes
// in, and keeps the queue until the last one has gone out. A gathered load begins when the first of
// its indices has been read from the parameter slot.
module load_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Cols = 8,
  parameter int unsigned ActSlots = 2, ActStride = 1024, ActPort = 16,
  parameter int unsigned WgtSlots = 2, WgtStride = 1024, WgtPort = 16,
  parameter int unsigned ParSlots = 2, ParStride = 1024, ParPort = 16,
  parameter int unsigned OutStride = 1024, OutPort = 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 enable_i,
  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  dma_cmd_t             cmd_i,
  input  logic [3:0][2:0]      free_i,  // tokens, by buffer_e and by whom they come from
  output logic [3:0]           take_o,  // a slot is claimed
  output logic [1:0]           from_o,  // ... with a token from (free_from_e)
  input  logic                 par_full_i,  // a slot of indices
  output logic                 par_take_o, par_give_o,
  output logic                 index_read_o,
  output word_t                index_addr_o,
  input  word_t                index_data_i,
  input  logic [Regions-1:0]   region_full_i,  // tokens, by region
  output logic [Regions-1:0]   region_take_o,
  output logic [Regions-1:0]   region_give_o,
  input  marks_t               marks_i,  // reached
  output logic                 mark_o,
  input  logic                 turn_i,  // on DRAM's read channel
  output logic                 turn_take_o,
  output logic                 turn_give_o,
  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic [AddrWidth-1:0] req_addr_o,
  output bytes_t               req_bytes_o,
  output logic                 req_shared_o,
  output logic                 req_last_o,
  output logic                 req_signal_o,  // the slot has no more loads
  output logic [1:0]           req_to_o,  // ... and who reads it (full_to_e)
  output load_tag_t            req_tag_o
);
  dma_cmd_t head;
  logic head_valid, load, step, done, start;
  dma_flags_t flags_q;
  region_flags_t region_q;
  logic [Regions-1:0] region_give_q;
  logic turn_give_q, mark_q;
  marks_t marks_q;
  bytes_t port, rows_q, run_q, side, first_rows, next_rows, wait_q;
  logic turned, block_end, active, tail_q, first_item, item_end, ready, token;
  logic [2:0] tokens;
  logic [AddrWidth-1:0] item_addr;
  word_t rows_left, pitch_q;
  word_t offset, base;
  word_t act_base, wgt_base, par_base, out_base;
  logic [3:0] select;

  cmd_fifo #(.T(dma_cmd_t)) u_fifo (
    .clk_i, .rst_ni, .valid_i(cmd_valid_i), .ready_o(cmd_ready_o), .data_i(cmd_i),
    .valid_o(head_valid), .ready_i(load), .data_o(head)
  );

  dma_walk u_walk (
    .clk_i, .load_i(load), .cmd_i(head), .step_i(step), .port_bytes_i(port),
    .gather_i(flags_q.gather), .first_i(first_item), .item_addr_i(item_addr),
    .item_end_o(item_end),
    .addr_o(req_addr_o), .slot_offset_o(offset), .bytes_o(req_bytes_o), .last_o(req_last_o),
    .block_end_o(block_end), .rows_left_o(rows_left)
  );

  gather_index u_gather (
    .clk_i, .load_i(load), .cmd_i(head),
    .start_i(32'(head.flags.parameter_slot) * ParStride + head.index_offset), .active_i(active),
    .next_i(step && item_end), .read_o(index_read_o), .addr_o(index_addr_o),
    .data_i(index_data_i), .first_o(first_item), .ready_o(ready), .item_addr_o(item_addr)
  );

  function automatic bytes_t least(bytes_t a, bytes_t b);
    return a < b ? a : b;
  endfunction

  always_comb begin
    case (flags_q.buffer)
      BufActivation: begin
        port   = turned ? bytes_t'(min_of(Cols, ActPort)) : bytes_t'(ActPort);
        base   = act_base;
        select = 4'b0001;
      end
      BufWeight: begin
        port   = turned ? bytes_t'(min_of(Cols, WgtPort)) : bytes_t'(WgtPort);
        base   = wgt_base;
        select = 4'b0010;
      end
      BufParameter:  begin port = bytes_t'(ParPort); base = par_base; select = 4'b0100; end
      BufOutput: begin
        port   = turned ? bytes_t'(min_of(Cols, OutPort)) : bytes_t'(OutPort);
        base   = out_base;
        select = 4'b1000;
      end
      default:       begin port = '0;           base = '0;       select = 4'b0000; end
    endcase
  end

  cmd_issue u_issue (
    .clk_i, .rst_ni, .enable_i, .next_i(head_valid),
    .ready_i((!flags_q.waits || token) && (!flags_q.wait_parameter || par_full_i) &&
             (!region_q.waits || region_full_i[region_q.region]) &&
             (!region_q.turn_wait || turn_i) && reached(marks_q, marks_i)),
    .done_i(done), .load_o(load), .start_o(start), .active_o(active)
  );

  // Cycles between the last rows of two blocks: as many as the first one has rows or bytes.
  assign turned     = flags_q.transposed;
  assign first_rows = least(rows_q, port);
  assign side       = run_q < port ? (run_q > first_rows ? run_q : first_rows) : port;
  assign next_rows  = rows_left == '0 ? first_rows :
                      rows_left < 32'(port) ? bytes_t'(rows_left) : port;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
      tail_q <= 1'b0;
    end else begin
      if (step && turned && req_last_o)     wait_q <= req_bytes_o;
      else if (step && turned && block_end) wait_q <= side - next_rows;
      else if (wait_q != '0)                wait_q <= wait_q - 1'b1;
      if (step && turned && req_last_o) tail_q <= 1'b1;
      else if (done)                    tail_q <= 1'b0;
    end
  end

  assign tokens       = free_i[flags_q.buffer];
  assign token        = flags_q.from == FromNone || (flags_q.from == FromMain ? tokens[0] :
                        flags_q.from == FromVector ? tokens[1] : tokens[2]);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) par_give_o <= 1'b0;
    else         par_give_o <= done && flags_q.signal_parameter;
  end
  assign par_take_o   = start && flags_q.wait_parameter;
  assign out_base     = 32'(flags_q.slot) * OutStride;
  assign take_o       = start && flags_q.waits ? select : 4'd0;
  assign from_o       = flags_q.from;
  assign req_to_o     = flags_q.to;
  assign region_take_o = start && region_q.waits ? Regions'(1) << region_q.region : '0;
  assign region_give_o = region_give_q;
  assign turn_take_o   = start && region_q.turn_wait;
  assign turn_give_o   = turn_give_q;
  assign mark_o        = mark_q;
  assign step         = req_valid_o && req_ready_i;
  assign done         = turned ? tail_q && wait_q == 1 : step && req_last_o;
  assign req_valid_o  = active && ready && wait_q == '0;
  assign req_shared_o = flags_q.shared;
  assign req_signal_o = flags_q.signal;
  assign req_tag_o    = '{unused: '0, pitch: pitch_q, block_end: block_end, transposed: turned,
                          last: req_last_o, buffer: flags_q.buffer, bytes: req_bytes_o,
                          address: base + offset};

  slot_ring #(.Slots(ActSlots), .Stride(ActStride)) u_act_ring (
    .clk_i, .rst_ni, .advance_i(done && flags_q.signal && select[0]), .base_o(act_base)
  );
  slot_ring #(.Slots(WgtSlots), .Stride(WgtStride)) u_wgt_ring (
    .clk_i, .rst_ni, .advance_i(done && flags_q.signal && select[1]), .base_o(wgt_base)
  );
  slot_ring #(.Slots(ParSlots), .Stride(ParStride)) u_par_ring (
    .clk_i, .rst_ni, .advance_i(done && flags_q.signal && select[2]), .base_o(par_base)
  );

  // What ends in this cycle is given back in the next, the first one behind the command.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      region_give_q <= '0;
      turn_give_q   <= 1'b0;
      mark_q        <= 1'b0;
    end else begin
      region_give_q <= done && region_q.signal ? Regions'(1) << region_q.region : '0;
      turn_give_q   <= done && region_q.turn_give;
      mark_q        <= done && region_q.mark;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      flags_q  <= head.flags;
      region_q <= head.region;
      marks_q  <= head.marks;
      pitch_q <= head.count[0];
      rows_q  <= head.count[0] < 32'h10000 ? bytes_t'(head.count[0]) : '1;
      run_q   <= head.run < 32'h10000 ? bytes_t'(head.run) : '1;
    end
  end
endmodule
