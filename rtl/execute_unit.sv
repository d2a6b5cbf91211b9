// The execute queue with all of its own: operand walks, array, accumulators. Its sums come one
// column a cycle later than the other.
module execute_unit
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned FillRows = 1,  // of weights a cycle, each by a port of its own
  parameter bit          OutputStationary = 1'b0,
  parameter bit          OneProcess = 1'b0,
  parameter int unsigned ActSlotBytes = 4096,
  parameter int unsigned WgtSlots = 2, WgtSlotBytes = 4096,
  parameter int unsigned AccSlots = 2, AccRows = 128,
  localparam int unsigned WgtLanes  = max_of(Rows, Cols),
  localparam int unsigned AccBits   = AccSlots * AccRows > 1 ? $clog2(AccSlots * AccRows) : 1,
  localparam int unsigned LaneBits  = $clog2(Rows + 1)
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
  input  logic                                enable_i,
  input  logic                                cmd_valid_i,
  output logic                                cmd_ready_o,
  input  gemm_cmd_t                           cmd_i,
  input  logic                                act_full_i, wgt_full_i, acc_free_i,
  output logic                                act_take_o, act_give_o, wgt_take_o, wgt_give_o,
  output logic                                acc_claim_o, acc_done_o,
  output logic [WindowLines-1:0]              act_read_o,
  output word_t [WindowLines-1:0]             act_addr_o,
  input  code_t [WindowLines-1:0][Rows-1:0]   act_data_i,
  output logic [FillRows-1:0]                 wgt_read_o,
  output word_t [FillRows-1:0]                wgt_addr_o,
  input  code_t [FillRows-1:0][WgtLanes-1:0]  wgt_data_i,
  input  logic                                post_read_i,
  input  word_t                               post_row_i,
  output sum_t [Cols-1:0]                     post_sums_o,
  output logic [Cols-1:0]                     acc_write_o,  // what the accumulators take
  output word_t [Cols-1:0]                    acc_write_row_o, acc_write_sum_o,
  output logic                                retire_gemm_o, retire_drain_o
);
  // ---- operand walks --------------------------------------------------------------------------
  localparam int unsigned Block = (Rows + FillRows - 1) / FillRows;
  logic window_load, window_step, weight_load, weight_step, weight_narrow;
  logic weight_fill, weight_pass;
  window_t window;
  blocks_t weight_blocks;
  word_t window_base, weight_start, weight_pitch, weight_rows, weight_lanes;
  logic [WindowLines-1:0][LaneBits-1:0] low, high;
  code_t pad;
  logic input_stationary;  // what is in the array, and what comes next
  code_t [Rows-1:0] act_row;
  code_t [FillRows-1:0][WgtLanes-1:0] wgt_row;

  window_walk #(.Lanes(Rows)) u_window (
    .clk_i, .load_i(window_load), .window_i(window), .base_i(window_base), .step_i(window_step),
    .read_o(act_read_o), .addr_o(act_addr_o), .low_o(low), .high_o(high), .pad_o(pad));
  window_merge #(.Lanes(Rows)) u_merge (
    .clk_i, .rst_ni, .step_i(window_step), .read_i(act_read_o), .low_i(low), .high_i(high),
    .pad_i(pad), .data_i(act_data_i), .row_o(act_row));
  // Port p reads the rows of block p, and takes the walk where port p - 1 has left it.
  localparam int unsigned WalkBits = weight_walk_bits(WgtLanes);
  logic [FillRows-1:0]             port_step, port_take;
  logic [FillRows:0][WalkBits-1:0] walk;
  logic                            unused_walk;
  assign walk[0]     = '0;
  assign unused_walk = ^walk[FillRows] ^ weight_fill ^ weight_pass;
  for (genvar p = 0; p < FillRows; p++) begin : gen_walk
    if (p == 0) begin : gen_first
      assign port_step[p] = weight_step;
      assign port_take[p] = 1'b0;
    end else begin : gen_later
      delay_line #(.Width(1), .Cycles(p * Block)) u_step (
        .clk_i, .rst_ni, .data_i(weight_fill), .data_o(port_step[p]));
      if (p == 1) begin : gen_second
        assign port_take[p] = weight_pass;
      end else begin : gen_third
        delay_line #(.Width(1), .Cycles((p - 1) * Block)) u_take (
          .clk_i, .rst_ni, .data_i(weight_pass), .data_o(port_take[p]));
      end
    end
    weight_walk #(.Lanes(WgtLanes), .Loads(p == 0)) u_weight (
      .clk_i, .rst_ni, .load_i(p == 0 ? weight_load : 1'b0), .start_i(weight_start),
      .pitch_i(weight_pitch), .rows_i(weight_rows), .lanes_i(weight_lanes),
      .blocks_i(weight_blocks), .turned_i(input_stationary), .narrow_i(weight_narrow),
      .take_i(port_take[p]), .walk_i(walk[p]), .walk_o(walk[p+1]), .step_i(port_step[p]),
      .read_o(wgt_read_o[p]), .addr_o(wgt_addr_o[p]), .data_i(wgt_data_i[p]), .row_o(wgt_row[p]));
  end

  // ---- array and accumulators -------------------------------------------------------------------
  logic                      sum_valid, sum_overwrite;  // of column 0; one column a cycle
  word_t                     sum_row;
  sum_t [Cols-1:0]           sum;

  if (!OutputStationary) begin : gen_array
    logic              fill_start, stream_start, row_valid, row_overwrite, row_last, row_signal;
    word_t             row;
    logic [1:0]        pulse;
    code_t [Rows-1:0]  stream_q;
    code_t [FillRows-1:0][Cols-1:0] fill_row;

    exec_ws #(
      .Rows(Rows), .Cols(Cols), .FillRows(FillRows), .ActStride(ActSlotBytes),
      .WgtSlots(WgtSlots), .WgtStride(WgtSlotBytes), .AccSlots(AccSlots), .AccRows(AccRows)
    ) u_exec (
      .clk_i, .rst_ni, .enable_i, .cmd_valid_i,
      .cmd_ready_o, .cmd_i, .done_i(retire_gemm_o), .input_stationary_o(input_stationary),
      .act_full_i, .wgt_full_i,
      .acc_free_i, .act_take_o, .wgt_take_o, .acc_take_o(acc_claim_o),
      .act_give_o, .wgt_give_o, .window_load_o(window_load),
      .window_o(window), .window_base_o(window_base), .window_step_o(window_step),
      .weight_load_o(weight_load), .weight_start_o(weight_start), .weight_pitch_o(weight_pitch),
      .weight_rows_o(weight_rows), .weight_lanes_o(weight_lanes),
      .weight_blocks_o(weight_blocks), .weight_narrow_o(weight_narrow),
      .weight_step_o(weight_step), .weight_fill_o(weight_fill), .weight_pass_o(weight_pass),
      .fill_start_o(fill_start), .stream_start_o(stream_start), .row_valid_o(row_valid),
      .row_overwrite_o(row_overwrite), .row_o(row), .row_last_o(row_last), .row_signal_o(row_signal)
    );

    // Operands are there two cycles after their step; the stream takes one more, so that a fill of
    // one row is in the shadow registers before the swap.
    delay_line #(.Width(2), .Cycles(2)) u_pulse (
      .clk_i, .rst_ni, .data_i({fill_start, stream_start}), .data_o(pulse));
    always_ff @(posedge clk_i) begin
      stream_q <= input_stationary ? wgt_row[0][Rows-1:0] : act_row;
    end

    for (genvar p = 0; p < FillRows; p++) begin : gen_fill
      assign fill_row[p] = wgt_row[p][Cols-1:0];
    end
    array_ws #(.Rows(Rows), .Cols(Cols), .FillRows(FillRows), .OneProcess(OneProcess)) u_array (
      .clk_i, .by_column_i(input_stationary), .stream_i(stream_q), .write_i(pulse[1]),
      .swap_i(pulse[0]), .write_row_i(fill_row), .write_column_i(act_row), .sum_o(sum)
    );

    delay_line #(.Width(34), .Cycles(Rows + ArrayLatency - 2)) u_row (
      .clk_i, .rst_ni, .data_i({row_valid, row_overwrite, row}),
      .data_o({sum_valid, sum_overwrite, sum_row}));
    delay_line #(.Width(2), .Cycles(Rows + Cols + ArrayLatency)) u_done (
      .clk_i, .rst_ni, .data_i({row_last, row_signal}), .data_o({retire_gemm_o, acc_done_o}));
    assign retire_drain_o = 1'b0;
  end else begin : gen_array
    localparam int unsigned IndexBits = $clog2(Rows + 1);
    logic                 clear, element_valid, stream_end, drain_start, row_valid, row_overwrite;
    logic [IndexBits-1:0] element;
    word_t                row;
    logic                 row_last, row_signal, clear_late, valid_late, capture, shift;
    logic [IndexBits-1:0] element_late;
    code_t [Rows-1:0]     pixel_q;
    code_t [Cols-1:0]     weight_q;

    assign input_stationary = 1'b0;
    assign {weight_fill, weight_pass} = '0;
    exec_os #(
      .Rows(Rows), .ActStride(ActSlotBytes), .WgtSlots(WgtSlots),
      .WgtStride(WgtSlotBytes), .AccSlots(AccSlots), .AccRows(AccRows)
    ) u_exec (
      .clk_i, .rst_ni, .enable_i, .cmd_valid_i, .cmd_ready_o,
      .cmd_i, .act_full_i, .wgt_full_i, .acc_free_i,
      .act_take_o, .wgt_take_o, .acc_take_o(acc_claim_o), .act_give_o,
      .wgt_give_o, .window_load_o(window_load), .window_o(window),
      .window_base_o(window_base), .window_step_o(window_step), .weight_load_o(weight_load),
      .weight_start_o(weight_start), .weight_pitch_o(weight_pitch), .weight_rows_o(weight_rows),
      .weight_lanes_o(weight_lanes),
      .weight_blocks_o(weight_blocks), .weight_narrow_o(weight_narrow),
      .weight_step_o(weight_step), .clear_o(clear),
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
      weight_q <= wgt_row[0][Cols-1:0];
    end

    array_os #(.Rows(Rows), .Cols(Cols), .OneProcess(OneProcess)) u_array (
      .clk_i, .rst_ni, .pixel_i(pixel_q), .valid_i(valid_late), .index_i(element_late),
      .weight_i(weight_q), .clear_i(clear_late), .capture_i(capture), .shift_i(shift), .sum_o(sum)
    );

    delay_line #(.Width(34), .Cycles(Rows + ArrayLatency - 2)) u_row (
      .clk_i, .rst_ni, .data_i({row_valid, row_overwrite, row}),
      .data_o({sum_valid, sum_overwrite, sum_row}));
    delay_line #(.Width(3), .Cycles(Rows + Cols + ArrayLatency)) u_done (
      .clk_i, .rst_ni, .data_i({stream_end, row_last, row_signal}),
      .data_o({retire_gemm_o, retire_drain_o, acc_done_o}));
  end

  logic [Cols-1:0][AccBits+1:0] bank;  // what reaches each column, one cycle a column
  tap_line #(.Width(AccBits + 2), .Taps(Cols)) u_bank_taps (
    .clk_i, .rst_ni, .data_i({sum_valid, sum_overwrite, sum_row[AccBits-1:0]}), .tap_o(bank));
  // For checkers: what the last column gets.
  logic  sum_valid_last;
  word_t sum_row_last;
  assign sum_valid_last = bank[Cols-1][AccBits+1];
  assign sum_row_last   = 32'(bank[Cols-1][AccBits-1:0]);
  for (genvar c = 0; c < Cols; c++) begin : gen_bank
    logic [AccBits-1:0] write_row;
    assign acc_write_row_o[c] = 32'(write_row);
    acc_bank #(.Rows(AccSlots * AccRows)) u_bank (
      .clk_i, .rst_ni, .valid_i(bank[c][AccBits+1]), .overwrite_i(bank[c][AccBits]),
      .row_i(bank[c][AccBits-1:0]), .sum_i(sum[c]), .post_read_i,
      .post_row_i(post_row_i[AccBits-1:0]), .post_data_o(post_sums_o[c]),
      .write_o(acc_write_o[c]), .write_row_o(write_row), .write_sum_o(acc_write_sum_o[c]));
  end
endmodule
