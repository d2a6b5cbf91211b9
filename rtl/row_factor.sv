// What a row's sums make of it, by docs/vector-arithmetic.md: reciprocal, shift and, of a
// normalisation, what n x is less. A row's root and its division take a lane of theirs for RowStep
// cycles; there are Lanes of either.
module row_factor
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = RowStep / 2
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  row_cmd_t           cmd_i,      // in work
  input  logic               terms_on_i, // the terms of a row of a softmax are summed up
  input  row_slot_t          terms_row_i,
  input  logic [46:0]        terms_i,
  input  logic               sums_on_i,  // the sums of a row of a normalisation are there
  input  row_slot_t          sums_row_i,
  input  logic signed [24:0] sum_i,
  input  logic [31:0]        squares_i,
  output logic               shift_on_o,
  output row_slot_t          shift_row_o,
  output logic [5:0]         shift_o,
  output logic               offset_on_o,
  output row_slot_t          offset_row_o,
  output logic signed [24:0] offset_o,
  output logic               reciprocal_on_o,
  output row_slot_t          reciprocal_row_o,
  output logic [30:0]        reciprocal_o
);
  // ---- softmax: the sum's highest 32 bits -------------------------------------------------------
  logic        terms_q, soft_q;
  row_slot_t   terms_row_q, soft_row_q;
  logic [46:0] all_q;
  logic [5:0]  width, soft_shift;  // at most 47; 29 + width - exponent, at most 76
  logic [6:0]  soft_wide;
  logic [31:0] soft_divisor_q;

  always_comb begin
    width = 6'd31;
    for (int unsigned i = 31; i < 47; i++) if (all_q[i]) width = 6'(i + 1);
    soft_wide  = 7'd29 + 7'(width) - 7'(cmd_i.shifts.exponent[4:0]);
    soft_shift = soft_wide > 7'd62 ? 6'd62 : soft_wide[5:0];
  end
  always_ff @(posedge clk_i) begin
    if (terms_on_i) begin
      all_q       <= terms_i;
      terms_row_q <= terms_row_i;
    end
    if (terms_q) begin
      soft_divisor_q <= 32'({all_q, 1'b0} >> (width - 6'd31));
      soft_row_q     <= terms_row_q;
    end
  end

  // ---- normalisation: n squares - F^2, its root -------------------------------------------------
  logic [3:1]         sums_q;  // at these stages
  row_slot_t [3:1]    sums_row_q;
  logic signed [24:0] sum_q, offset_q, about, zeros;
  logic [31:0]        squares_q;
  logic [47:0]        length_squares_q, about_squares_q;
  logic [63:0]        wide_q, wide;
  logic [4:0]         pairs;
  logic [6:0]         norm_wide;
  logic [5:0]         norm_shift;
  row_slot_t          root_row;
  logic [31:0]        root;
  logic               root_done;

  assign about = cmd_i.mode.row_centred ? sum_q : '0;
  assign zeros = 25'(signed'({1'b0, cmd_i.length[16:0]})) * 25'(signed'(cmd_i.zeros.input_zero));
  assign wide  = {2'b0, length_squares_q - about_squares_q, 14'd0} +
                 {cmd_i.epsilon_hi, cmd_i.epsilon_lo};
  always_comb begin
    pairs = 5'd31;
    for (int unsigned i = 0; i < 32; i++) if (wide_q[2*i] || wide_q[2*i+1]) pairs = 5'(31 - i);
    norm_wide  = 7'd54 - 7'(cmd_i.shifts.unit_bits[4:0]) - 7'(pairs);
    norm_shift = norm_wide[6] ? '0 : norm_wide[5:0];
  end
  always_ff @(posedge clk_i) begin
    if (sums_on_i) begin
      sum_q         <= sum_i;
      squares_q     <= squares_i;
      sums_row_q[1] <= sums_row_i;
    end
    if (sums_q[1]) begin
      length_squares_q <= 48'(cmd_i.length[16:0]) * 48'(squares_q);
      about_squares_q  <= unsigned'(48'(about) * 48'(about));
      offset_q         <= about + zeros;
      sums_row_q[2]    <= sums_row_q[1];
    end
    if (sums_q[2]) begin
      wide_q        <= wide == '0 ? 64'd1 : wide;
      sums_row_q[3] <= sums_row_q[2];
    end
  end
  row_root #(.Lanes(Lanes)) u_root (
    .clk_i, .rst_ni, .load_i(sums_q[3]), .value_i(wide_q << {pairs, 1'b0}), .done_o(root_done),
    .result_o(root)
  );
  delay_line #(.Width($bits(row_slot_t)), .Cycles(RowStep + 1)) u_root_row (
    .clk_i, .rst_ni, .data_i(sums_row_q[3]), .data_o(root_row));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      terms_q <= 1'b0;
      soft_q  <= 1'b0;
      sums_q  <= '0;
    end else begin
      terms_q <= terms_on_i;
      soft_q  <= terms_q;
      sums_q  <= {sums_q[2:1], sums_on_i};
    end
  end

  assign shift_on_o   = terms_q || sums_q[3];
  assign shift_row_o  = terms_q ? terms_row_q : sums_row_q[3];
  assign shift_o      = terms_q ? soft_shift : norm_shift;
  assign offset_on_o  = sums_q[2];
  assign offset_row_o = sums_row_q[2];
  assign offset_o     = offset_q;

  // ---- the reciprocal ---------------------------------------------------------------------------
  logic divide;

  assign divide = soft_q || root_done;
  row_divide #(.Lanes(Lanes)) u_divide (
    .clk_i, .rst_ni, .load_i(divide),
    .numerator_i(root_done ? 31'h4000_0000 : cmd_i.epsilon_lo[30:0]),
    .divisor_i(root_done ? root : soft_divisor_q), .done_o(reciprocal_on_o),
    .result_o(reciprocal_o)
  );
  delay_line #(.Width($bits(row_slot_t)), .Cycles(RowStep + 1)) u_row (
    .clk_i, .rst_ni, .data_i(root_done ? root_row : soft_row_q), .data_o(reciprocal_row_o));
endmodule
