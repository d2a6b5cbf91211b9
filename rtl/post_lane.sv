// One lane of the post unit: clip(round((sum + bias) * multiplier / 2^shift) + zero, low, high),
// halves away from zero, in 16 bits. With `add_i` the product comes to that of the sum before it.
// Five stages; stage i works when valid_i[i] is set, so an idle
// lane doesn't toggle.
module post_lane (
  input  logic               clk_i,
  input  logic [4:0]         valid_i,
  input  logic [31:0]        sum_i,         // stage 0
  input  logic [31:0]        bias_i,
  input  logic signed [31:0] multiplier_i,
  input  logic [5:0]         shift_i,
  input  logic               add_i,         // stage 1
  input  logic signed [15:0] zero_i,        // stage 4
  input  logic signed [15:0] low_i,
  input  logic signed [15:0] high_i,
  output logic [15:0]        value_o        // after stage 4
);
  logic signed [31:0] biased_q, multiplier_q;
  logic [5:0]         shift0_q, shift1_q, shift2_q;
  logic signed [63:0] product_q, rounded_q, moved, positive;
  logic [63:0]        magnitude_q;
  logic               negative_q;
  logic [15:0]        value_q;

  assign value_o  = value_q;
  assign positive = product_q < 0 ? -product_q : product_q;
  assign moved    = rounded_q + 64'(zero_i);

  // Half of the divisor; nothing to round when the shift is 0.
  function automatic logic [63:0] half(logic [5:0] shift);
    return (64'd1 << shift) >> 1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      biased_q     <= sum_i + bias_i;
      multiplier_q <= multiplier_i;
      shift0_q     <= shift_i;
    end
    if (valid_i[1]) begin
      product_q <= 64'(biased_q) * 64'(multiplier_q) + (add_i ? product_q : 64'sd0);
      shift1_q  <= shift0_q;
    end
    if (valid_i[2]) begin
      magnitude_q <= unsigned'(positive) + half(shift1_q);
      negative_q  <= product_q < 0;
      shift2_q    <= shift1_q;
    end
    if (valid_i[3]) rounded_q <= negative_q ? -(magnitude_q >> shift2_q) : magnitude_q >> shift2_q;
    if (valid_i[4]) begin
      value_q <= moved < 64'(low_i) ? low_i : moved > 64'(high_i) ? high_i : moved[15:0];
    end
  end
endmodule
