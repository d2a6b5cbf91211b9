// One lane of the residual: clip(value + round((residual - zero) * multiplier / 2^shift), low,
// high), halves away from zero, or the value as it is. Five stages; stage i works when valid_i[i]
// is set.
module residual_lane
  import accsim_pkg::*;
(
  input  logic               clk_i,
  input  logic [4:0]         valid_i,
  input  code_t              residual_i,    // stage 0
  input  operand_t           zero_i,
  input  factor_t            multiplier_i,  // stage 1
  input  logic [4:0]         half_shift_i,  // stage 2
  input  logic [4:0]         shift_i,       // stage 3
  input  logic               on_i,          // stage 4
  input  limits_t            limits_i,
  input  factor_t            value_i,
  output code_t              value_o        // after stage 4
);
  difference_t                difference_q;
  weighted_t                  product_q, positive, rounded_q;
  sum_t                       sum;
  logic [AccumulatorBits-1:0] magnitude_q;
  logic                       negative_q;
  code_t                      value_q;

  assign value_o = value_q;
  assign positive = product_q < 0 ? -product_q : product_q;
  assign sum     = sum_t'(value_i) + sum_t'(rounded_q);

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) difference_q <= difference_t'(signed'(residual_i)) - difference_t'(zero_i);
    if (valid_i[1]) product_q <= weighted_t'(difference_q) * weighted_t'(multiplier_i);
    if (valid_i[2]) begin
      magnitude_q <= unsigned'(sum_t'(positive)) + ((AccumulatorBits'(1'b1) << half_shift_i) >> 1);
      negative_q  <= product_q < 0;
    end
    if (valid_i[3]) begin
      rounded_q <= weighted_t'(negative_q ? -(magnitude_q >> shift_i) : magnitude_q >> shift_i);
    end
    if (valid_i[4]) begin
      value_q <= !on_i ? value_i[OperandBits-1:0]
               : sum < sum_t'(signed'(limits_i.low)) ? limits_i.low
               : sum > sum_t'(signed'(limits_i.high)) ? limits_i.high : sum[OperandBits-1:0];
    end
  end
endmodule
