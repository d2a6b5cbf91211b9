// One lane of the post unit: clip(round((sum + bias) * multiplier / 2^shift) + zero, low, high),
// halves away from zero, in 16 bits. With `add_i` the product comes to that of the sum before it.
// Five stages; stage i works when valid_i[i] is set, so an idle
// lane doesn't toggle.
module post_lane
  import accsim_pkg::*;
(
  input  logic                  clk_i,
  input  logic [4:0]            valid_i,
  input  sum_t                  sum_i,   // stage 0
  input  sum_t                  bias_i,
  input  multiplier_t           multiplier_i,
  input  logic [5:0]            shift_i,
  input  logic                  add_i,   // stage 1
  input  factor_t               zero_i,  // stage 4
  input  factor_t               low_i,
  input  factor_t               high_i,
  output logic [FactorBits-1:0] value_o  // after stage 4
);
  sum_t                  biased_q, multiplier_q;
  logic [5:0]            shift0_q, shift1_q, shift2_q;
  scaled_t               product_q, rounded_q, moved, positive;
  logic [ScaledBits-1:0] magnitude_q;
  logic                  negative_q;
  logic [FactorBits-1:0] value_q;

  assign value_o  = value_q;
  assign positive = product_q < 0 ? -product_q : product_q;
  assign moved    = rounded_q + scaled_t'(zero_i);

  // Half of the divisor; nothing to round when the shift is 0.
  function automatic logic [ScaledBits-1:0] half(logic [5:0] shift);
    return (ScaledBits'(1'b1) << shift) >> 1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      biased_q     <= sum_i + bias_i;
      multiplier_q <= multiplier_i;
      shift0_q     <= shift_i;
    end
    if (valid_i[1]) begin
      product_q <= scaled_t'(biased_q) * scaled_t'(multiplier_q) +
                   (add_i ? product_q : scaled_t'(0));
      shift1_q  <= shift0_q;
    end
    if (valid_i[2]) begin
      magnitude_q <= unsigned'(positive) + half(shift1_q);
      negative_q  <= product_q < 0;
      shift2_q    <= shift1_q;
    end
    if (valid_i[3]) rounded_q <= negative_q ? -(magnitude_q >> shift2_q) : magnitude_q >> shift2_q;
    if (valid_i[4]) begin
      value_q <= moved < scaled_t'(low_i)    ? low_i
                 : moved > scaled_t'(high_i) ? high_i : moved[FactorBits-1:0];
    end
  end
endmodule
