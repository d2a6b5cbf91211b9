// The logarithm of a row's sum of exponentials, by docs/vector-arithmetic.md: log2 of the terms by
// a table and lines between its entries, then two products and a shift. A row a cycle.
module row_log
  import accsim_pkg::*;
(
  input  logic               clk_i,
  input  logic               rst_ni,
  // Of the command in work.
  input  logic [30:0]        row_multiplier_i, sum_multiplier_i,
  input  logic [5:0]         shift_i,
  input  logic signed [63:0] addend_i,
  input  logic               on_i,  // a row's terms are summed up
  input  row_slot_t          row_i,
  input  logic [46:0]        terms_i,
  input  logic signed [24:0] maximum_i,
  output logic               on_o,  // Cycles cycles later
  output row_slot_t          row_o,
  output code_t              value_o
);
  localparam int unsigned Cycles = 7;

  delay_line #(.Width(1), .Cycles(Cycles)) u_on (
    .clk_i, .rst_ni, .data_i(on_i), .data_o(on_o));
  delay_line #(.Width($bits(row_slot_t)), .Cycles(Cycles)) u_row (
    .clk_i, .rst_ni, .data_i(row_i), .data_o(row_o));

  // ---- log2 of the terms ------------------------------------------------------------------------
  logic [46:0]        terms_q;
  logic [5:0]         width, width_q;
  logic [15:0]        highest_q;  // behind the first bit
  logic [4:0]         whole_q;
  logic [LogBits:0]   piece_q, rise;
  logic [26:0]        part_q;
  logic [20:0]        log_q;
  logic signed [24:0] maximum1_q, maximum2_q, maximum3_q, maximum4_q;

  always_comb begin
    width = 6'd31;
    for (int unsigned i = 31; i < 47; i++) if (terms_q[i]) width = 6'(i + 1);
  end
  assign rise = LogTable[7'(highest_q[15:10]) + 7'd1] - LogTable[7'(highest_q[15:10])];

  // ---- what is written --------------------------------------------------------------------------
  logic signed [63:0] row_q, sum_q, value_q;
  logic [63:0]        size_q, rounded;
  logic               negative_q;
  logic signed [63:0] whole;

  assign rounded = size_q >> shift_i;
  assign whole   = negative_q ? -signed'(rounded) : signed'(rounded);

  always_ff @(posedge clk_i) begin
    terms_q    <= terms_i;
    maximum1_q <= maximum_i;

    width_q    <= width;
    highest_q  <= 16'({terms_q, 1'b0} >> (width - 6'd16));
    maximum2_q <= maximum1_q;

    whole_q    <= 5'(width_q - 6'd31);
    piece_q    <= LogTable[7'(highest_q[15:10])];
    part_q     <= 27'(rise) * 27'(highest_q[9:0]) + 27'd512;
    maximum3_q <= maximum2_q;

    log_q      <= {whole_q, 16'd0} + 21'(piece_q) + 21'(part_q >> 10);
    maximum4_q <= maximum3_q;

    row_q <= 64'(maximum4_q) * 64'(signed'({1'b0, row_multiplier_i}));
    sum_q <= 64'(signed'({1'b0, log_q})) * 64'(signed'({1'b0, sum_multiplier_i})) + addend_i;

    value_q <= row_q + sum_q;

    size_q     <= unsigned'(value_q < 0 ? -value_q : value_q) +
                  ((64'd1 << shift_i) >> 1);
    negative_q <= value_q < 0;
  end
  assign value_o = whole < -64'sd128 ? 8'h80 : whole > 64'sd127 ? 8'h7f : whole[OperandBits-1:0];
endmodule
