// The core: four command queues that meet at tokens, the buffers between them, the array. Outside
// are commands with final addresses, memory behind a read and a write port, a retire port.
module accsim_core
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter bit          OutputStationary = 1'b0,
  parameter bit          OneProcess = 1'b0,  // PEs as one process, for simulators; see array_ws.sv
  parameter int unsigned ActSlots = 2, ActSlotBytes = 4096, ActPort = 16,
  parameter int unsigned WgtSlots = 2, WgtSlotBytes = 4096, WgtPort = 16,
  parameter int unsigned ParSlots = 2, ParSlotBytes = 1024, ParPort = 16,
  parameter int unsigned AccSlots = 2, AccRows = 128,  // rows of one slot
  parameter int unsigned OutSlots = 2, OutSlotBytes = 2048, OutPort = 16,
  localparam int unsigned LoadPort = max_of(ActPort, max_of(WgtPort, ParPort))
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        enable_i,  // commands may start, from the next cycle on
  input  logic                        input_stationary_i,  // constant while a program runs

  input  logic                        load_valid_i, gemm_valid_i, post_valid_i, store_valid_i,
  output logic                        load_ready_o, gemm_ready_o, post_ready_o, store_ready_o,
  input  logic [DmaWords-1:0][31:0]   load_i, store_i,
  input  logic [GemmWords-1:0][31:0]  gemm_i,
  input  logic [PostWords-1:0][31:0]  post_i,

  // Reads: a request with a tag; its data comes with the tag on the response port of its memory.
  output logic                        read_valid_o,
  input  logic                        read_ready_i,
  output logic [AddrWidth-1:0]        read_addr_o,
  output logic [15:0]                 read_bytes_o,
  output logic                        read_shared_o,
  output logic                        read_last_o,
  output logic [TagWidth-1:0]         read_tag_o,
  input  logic [1:0]                  data_valid_i,
  input  logic [1:0][TagWidth-1:0]    data_tag_i,
  input  logic [LoadPort*8-1:0]       data0_i, data1_i,

  output logic                        write_valid_o,
  input  logic                        write_ready_i,
  output logic [AddrWidth-1:0]        write_addr_o,
  output logic [15:0]                 write_bytes_o,
  output logic                        write_shared_o,
  output logic                        write_last_o,
  output logic [OutPort*8-1:0]        write_data_o,

  // A command has finished: loads by memory, gemm, drain, post, store (taken by the memory).
  output logic [1:0]                  retire_load_o,
  output logic                        retire_gemm_o, retire_drain_o, retire_post_o, retire_store_o
);
  localparam int unsigned PostLanes = min_of(Cols, OutPort);
  localparam int unsigned WgtLanes  = max_of(Rows, Cols);
  localparam int unsigned AccBits   = AccSlots * AccRows > 1 ? $clog2(AccSlots * AccRows) : 1;
  localparam int unsigned LaneBits  = $clog2(Rows + 1);

  logic enable_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enable_q <= 1'b0;
    else         enable_q <= enable_i;
  end

  // ---- tokens --------------------------------------------------------------------------------
  logic [2:0] load_free, load_take, load_full;
  logic act_full, act_take, act_give, wgt_full, wgt_take, wgt_give, par_full, par_take, par_give;
  logic acc_free, acc_claim, acc_done, acc_full, acc_take, acc_give;
  logic out_free, out_claim, out_done, out_full, out_take, out_give;

  slot_tokens #(.Slots(ActSlots)) u_act_tokens (
    .clk_i, .rst_ni, .claim_i(load_take[0]), .fill_i(load_full[0]), .take_i(act_take),
    .give_i(act_give), .free_o(load_free[0]), .full_o(act_full));
  slot_tokens #(.Slots(WgtSlots)) u_wgt_tokens (
    .clk_i, .rst_ni, .claim_i(load_take[1]), .fill_i(load_full[1]), .take_i(wgt_take),
    .give_i(wgt_give), .free_o(load_free[1]), .full_o(wgt_full));
  slot_tokens #(.Slots(ParSlots)) u_par_tokens (
    .clk_i, .rst_ni, .claim_i(load_take[2]), .fill_i(load_full[2]), .take_i(par_take),
    .give_i(par_give), .free_o(load_free[2]), .full_o(par_full));
  slot_tokens #(.Slots(AccSlots)) u_acc_tokens (
    .clk_i, .rst_ni, .claim_i(acc_claim), .fill_i(acc_done), .take_i(acc_take),
    .give_i(acc_give), .free_o(acc_free), .full_o(acc_full));
  slot_tokens #(.Slots(OutSlots)) u_out_tokens (
    .clk_i, .rst_ni, .claim_i(out_claim), .fill_i(out_done), .take_i(out_take),
    .give_i(out_give), .free_o(out_free), .full_o(out_full));

  // ---- load ----------------------------------------------------------------------------------
  logic                       read_signal;
  load_tag_t                  read_tag;
  load_tag_t [1:0]            tag;   // by memory
  word_t     [1:0]            to;    // address in the buffer
  logic      [1:0][15:0]      size;  // bytes
  logic      [2:0][1:0]       data_for;  // by buffer and memory
  assign read_tag_o = read_tag;
  assign tag        = data_tag_i;
  assign to         = {tag[1].address, tag[0].address};
  assign size       = {tag[1].bytes, tag[0].bytes};
  load_unit #(
    .ActSlots(ActSlots), .ActStride(ActSlotBytes), .ActPort(ActPort),
    .WgtSlots(WgtSlots), .WgtStride(WgtSlotBytes), .WgtPort(WgtPort),
    .ParSlots(ParSlots), .ParStride(ParSlotBytes), .ParPort(ParPort)
  ) u_load (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(load_valid_i), .cmd_ready_o(load_ready_o),
    .cmd_i(load_i), .free_i(load_free), .take_o(load_take),
    .req_valid_o(read_valid_o), .req_ready_i(read_ready_i), .req_addr_o(read_addr_o),
    .req_bytes_o(read_bytes_o), .req_shared_o(read_shared_o), .req_last_o(read_last_o),
    .req_signal_o(read_signal), .req_tag_o(read_tag)
  );
  load_tracker #(.ActSlots(ActSlots), .WgtSlots(WgtSlots), .ParSlots(ParSlots)) u_tracker (
    .clk_i, .rst_ni, .asked_i(read_valid_o && read_ready_i && read_last_o),
    .asked_buffer_i(read_tag.buffer), .asked_shared_i(read_shared_o), .asked_signal_i(read_signal),
    .data_valid_i, .tag_i(tag), .write_o(data_for), .retire_o(retire_load_o), .full_o(load_full)
  );

  // ---- buffers: both memories may send to one of them in a cycle --------------------------------
  logic  [WindowLines-1:0]             act_read;
  word_t [WindowLines-1:0]             act_addr;
  logic  [WindowLines-1:0][Rows*8-1:0] act_data;
  logic                                wgt_read, par_read, out_read, out_write, out_scatter;
  word_t                               wgt_addr, par_addr, out_read_addr, out_addr, out_pitch;
  logic  [WgtLanes*8-1:0]              wgt_data;
  logic  [PostLanes*96-1:0]            par_data;
  logic  [15:0]                        out_bytes;
  logic  [PostLanes*8-1:0]             out_data;

  slot_mem #(.Bytes(ActSlots * ActSlotBytes), .WriteBytes(ActPort), .Writes(2),
             .ReadBytes(Rows), .ReadPorts(WindowLines)) u_act_mem (
    .clk_i, .write_i(data_for[0]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data1_i[ActPort*8-1:0], data0_i[ActPort*8-1:0]}),
    .read_i(act_read), .read_addr_i(act_addr), .read_data_o(act_data));
  slot_mem #(.Bytes(WgtSlots * WgtSlotBytes), .WriteBytes(WgtPort), .Writes(2),
             .ReadBytes(WgtLanes)) u_wgt_mem (
    .clk_i, .write_i(data_for[1]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data1_i[WgtPort*8-1:0], data0_i[WgtPort*8-1:0]}),
    .read_i(wgt_read), .read_addr_i(wgt_addr), .read_data_o(wgt_data));
  slot_mem #(.Bytes(ParSlots * ParSlotBytes), .WriteBytes(ParPort), .Writes(2),
             .ReadBytes(PostLanes * ParameterBytes)) u_par_mem (
    .clk_i, .write_i(data_for[2]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data1_i[ParPort*8-1:0], data0_i[ParPort*8-1:0]}),
    .read_i(par_read), .read_addr_i(par_addr), .read_data_o(par_data));
  slot_mem #(.Bytes(OutSlots * OutSlotBytes), .WriteBytes(PostLanes), .ReadBytes(OutPort),
             .Hold(1'b1), .Scatter(!OutputStationary)) u_out_mem (
    .clk_i, .write_i(out_write), .scatter_i(out_scatter), .write_pitch_i(out_pitch),
    .write_addr_i(out_addr), .write_bytes_i(out_bytes), .write_data_i(out_data),
    .read_i(out_read), .read_addr_i(out_read_addr), .read_data_o(write_data_o));

  // ---- operand walks --------------------------------------------------------------------------
  logic    window_load, window_step, weight_load, weight_step;
  window_t window;
  word_t   window_base, weight_start, weight_pitch, weight_rows, weight_lanes;
  logic    [WindowLines-1:0][LaneBits-1:0] low, high;
  logic    [7:0]            pad;
  logic    [Rows*8-1:0]     act_row;
  logic    [WgtLanes*8-1:0] wgt_row;

  window_walk #(.Lanes(Rows)) u_window (
    .clk_i, .load_i(window_load), .window_i(window), .base_i(window_base), .step_i(window_step),
    .read_o(act_read), .addr_o(act_addr), .low_o(low), .high_o(high), .pad_o(pad));
  window_merge #(.Lanes(Rows)) u_merge (
    .clk_i, .rst_ni, .step_i(window_step), .read_i(act_read), .low_i(low), .high_i(high),
    .pad_i(pad), .data_i(act_data), .row_o(act_row));
  weight_walk #(.Lanes(WgtLanes)) u_weight (
    .clk_i, .rst_ni, .load_i(weight_load), .start_i(weight_start), .pitch_i(weight_pitch),
    .rows_i(weight_rows), .lanes_i(weight_lanes), .step_i(weight_step), .read_o(wgt_read),
    .addr_o(wgt_addr), .data_i(wgt_data), .row_o(wgt_row));

  // ---- array and accumulators -------------------------------------------------------------------
  logic                      sum_valid, sum_overwrite;  // of column 0; one column a cycle
  word_t                     sum_row;
  logic [Cols-1:0][31:0]     sum, post_sums;
  logic                      post_read;
  word_t                     post_row;

  if (!OutputStationary) begin : gen_ws
    logic              fill_start, stream_start, row_valid, row_overwrite, row_last, row_signal;
    word_t             row;
    logic [1:0]        pulse;
    logic [Rows*8-1:0] stream_q;

    exec_ws #(
      .Rows(Rows), .Cols(Cols), .ActSlots(ActSlots), .ActStride(ActSlotBytes),
      .WgtSlots(WgtSlots), .WgtStride(WgtSlotBytes), .AccSlots(AccSlots), .AccRows(AccRows)
    ) u_exec (
      .clk_i, .rst_ni, .enable_i(enable_q), .input_stationary_i, .cmd_valid_i(gemm_valid_i),
      .cmd_ready_o(gemm_ready_o), .cmd_i(gemm_i), .act_full_i(act_full), .wgt_full_i(wgt_full),
      .acc_free_i(acc_free), .act_take_o(act_take), .wgt_take_o(wgt_take), .acc_take_o(acc_claim),
      .act_give_o(act_give), .wgt_give_o(wgt_give), .window_load_o(window_load),
      .window_o(window), .window_base_o(window_base), .window_step_o(window_step),
      .weight_load_o(weight_load), .weight_start_o(weight_start), .weight_pitch_o(weight_pitch),
      .weight_rows_o(weight_rows), .weight_lanes_o(weight_lanes), .weight_step_o(weight_step),
      .fill_start_o(fill_start), .stream_start_o(stream_start), .row_valid_o(row_valid),
      .row_overwrite_o(row_overwrite), .row_o(row), .row_last_o(row_last), .row_signal_o(row_signal)
    );

    // Operands are there two cycles after their step; the stream takes one more, so that a fill of
    // one row is in the shadow registers before the swap.
    delay_line #(.Width(2), .Cycles(2)) u_pulse (
      .clk_i, .rst_ni, .data_i({fill_start, stream_start}), .data_o(pulse));
    always_ff @(posedge clk_i) begin
      stream_q <= input_stationary_i ? wgt_row[Rows*8-1:0] : act_row;
    end

    array_ws #(.Rows(Rows), .Cols(Cols), .OneProcess(OneProcess)) u_array (
      .clk_i, .by_column_i(input_stationary_i), .stream_i(stream_q), .write_i(pulse[1]),
      .swap_i(pulse[0]), .write_row_i(wgt_row[Cols*8-1:0]), .write_column_i(act_row), .sum_o(sum)
    );

    delay_line #(.Width(34), .Cycles(Rows + 2)) u_row (
      .clk_i, .rst_ni, .data_i({row_valid, row_overwrite, row}),
      .data_o({sum_valid, sum_overwrite, sum_row}));
    delay_line #(.Width(2), .Cycles(Rows + Cols + ArrayLatency)) u_done (
      .clk_i, .rst_ni, .data_i({row_last, row_signal}), .data_o({retire_gemm_o, acc_done}));
    assign retire_drain_o = 1'b0;
  end else begin : gen_os
    localparam int unsigned IndexBits = $clog2(Rows + 1);
    logic                 clear, element_valid, stream_end, drain_start, row_valid, row_overwrite;
    logic [IndexBits-1:0] element;
    word_t                row;
    logic                 row_last, row_signal, clear_late, valid_late, capture, shift;
    logic [IndexBits-1:0] element_late;
    logic [Rows*8-1:0]    pixel_q;
    logic [Cols*8-1:0]    weight_q;

    exec_os #(
      .Rows(Rows), .ActSlots(ActSlots), .ActStride(ActSlotBytes), .WgtSlots(WgtSlots),
      .WgtStride(WgtSlotBytes), .AccSlots(AccSlots), .AccRows(AccRows)
    ) u_exec (
      .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(gemm_valid_i), .cmd_ready_o(gemm_ready_o),
      .cmd_i(gemm_i), .act_full_i(act_full), .wgt_full_i(wgt_full), .acc_free_i(acc_free),
      .act_take_o(act_take), .wgt_take_o(wgt_take), .acc_take_o(acc_claim), .act_give_o(act_give),
      .wgt_give_o(wgt_give), .window_load_o(window_load), .window_o(window),
      .window_base_o(window_base), .window_step_o(window_step), .weight_load_o(weight_load),
      .weight_start_o(weight_start), .weight_pitch_o(weight_pitch), .weight_rows_o(weight_rows),
      .weight_lanes_o(weight_lanes), .weight_step_o(weight_step), .clear_o(clear),
      .element_valid_o(element_valid), .element_o(element), .stream_end_o(stream_end),
      .drain_start_o(drain_start), .row_valid_o(row_valid), .row_overwrite_o(row_overwrite),
      .row_o(row), .row_last_o(row_last), .row_signal_o(row_signal)
    );

    // Operands are there three cycles after their step, as in the other array.
    delay_line #(.Width(3 + IndexBits), .Cycles(3)) u_late (
      .clk_i, .rst_ni, .data_i({clear, drain_start, element_valid, element}),
      .data_o({clear_late, capture, valid_late, element_late}));
    delay_line #(.Width(1), .Cycles(Rows + 2)) u_shift (
      .clk_i, .rst_ni, .data_i(drain_start), .data_o(shift));
    always_ff @(posedge clk_i) begin
      pixel_q  <= act_row;
      weight_q <= wgt_row[Cols*8-1:0];
    end

    array_os #(.Rows(Rows), .Cols(Cols), .OneProcess(OneProcess)) u_array (
      .clk_i, .rst_ni, .pixel_i(pixel_q), .valid_i(valid_late), .index_i(element_late),
      .weight_i(weight_q), .clear_i(clear_late), .capture_i(capture), .shift_i(shift), .sum_o(sum)
    );

    delay_line #(.Width(34), .Cycles(Rows + 2)) u_row (
      .clk_i, .rst_ni, .data_i({row_valid, row_overwrite, row}),
      .data_o({sum_valid, sum_overwrite, sum_row}));
    delay_line #(.Width(3), .Cycles(Rows + Cols + ArrayLatency)) u_done (
      .clk_i, .rst_ni, .data_i({stream_end, row_last, row_signal}),
      .data_o({retire_gemm_o, retire_drain_o, acc_done}));
  end

  logic [Cols-1:0][AccBits+1:0] bank;  // what reaches each column, one cycle a column
  tap_line #(.Width(AccBits + 2), .Taps(Cols)) u_bank_taps (
    .clk_i, .rst_ni, .data_i({sum_valid, sum_overwrite, sum_row[AccBits-1:0]}), .tap_o(bank));
  for (genvar c = 0; c < Cols; c++) begin : gen_bank
    acc_bank #(.Rows(AccSlots * AccRows)) u_bank (
      .clk_i, .rst_ni, .valid_i(bank[c][AccBits+1]), .overwrite_i(bank[c][AccBits]),
      .row_i(bank[c][AccBits-1:0]), .sum_i(sum[c]), .post_read_i(post_read),
      .post_row_i(post_row[AccBits-1:0]), .post_data_o(post_sums[c]));
  end

  // ---- post and store ---------------------------------------------------------------------------
  post_unit #(
    .Cols(Cols), .Lanes(PostLanes), .AccSlots(AccSlots), .AccRows(AccRows), .ParSlots(ParSlots),
    .ParStride(ParSlotBytes), .OutSlots(OutSlots), .OutStride(OutSlotBytes)
  ) u_post (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(post_valid_i), .cmd_ready_o(post_ready_o),
    .cmd_i(post_i), .acc_full_i(acc_full), .out_free_i(out_free), .par_full_i(par_full),
    .acc_take_o(acc_take), .out_take_o(out_claim), .par_take_o(par_take), .acc_give_o(acc_give),
    .out_give_o(out_done), .par_give_o(par_give), .acc_read_o(post_read), .acc_row_o(post_row),
    .acc_data_i(post_sums), .par_read_o(par_read), .par_addr_o(par_addr), .par_data_i(par_data),
    .out_write_o(out_write), .out_scatter_o(out_scatter), .out_addr_o(out_addr),
    .out_pitch_o(out_pitch), .out_bytes_o(out_bytes), .out_data_o(out_data),
    .retire_o(retire_post_o)
  );

  store_unit #(.Slots(OutSlots), .Stride(OutSlotBytes), .Port(OutPort)) u_store (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(store_valid_i), .cmd_ready_o(store_ready_o),
    .cmd_i(store_i), .full_i(out_full), .take_o(out_take), .free_o(out_give), .read_o(out_read),
    .read_addr_o(out_read_addr), .req_valid_o(write_valid_o), .req_ready_i(write_ready_i),
    .req_addr_o(write_addr_o), .req_bytes_o(write_bytes_o), .req_shared_o(write_shared_o),
    .req_last_o(write_last_o), .retire_o(retire_store_o)
  );
endmodule
