// One lane of the residual: clip(value + round((residual - zero) * multiplier / 2^shift), low,
// high), halves away from zero, or the value as it is. Five stages; stage i works when valid_i[i]
// is set.
module residual_lane
  import accsim_pkg::*;
(
  input  logic               clk_i,
  input  logic [4:0]         valid_i,
  input  logic [7:0]         residual_i,    // stage 0
  input  logic signed [7:0]  zero_i,
  input  logic signed [15:0] multiplier_i,  // stage 1
  input  logic [4:0]         half_shift_i,  // stage 2
  input  logic [4:0]         shift_i,       // stage 3
  input  logic               on_i,          // stage 4
  input  limits_t            limits_i,
  input  logic signed [15:0] value_i,
  output logic [7:0]         value_o        // after stage 4
);
  logic signed [8:0]  difference_q;
  logic signed [24:0] product_q, positive, rounded_q;
  logic signed [31:0] sum;
  logic [31:0]        magnitude_q;
  logic               negative_q;
  logic [7:0]         value_q;

  assign value_o = value_q;
  assign positive = product_q < 0 ? -product_q : product_q;
  assign sum     = 32'(value_i) + 32'(rounded_q);

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) difference_q <= 9'(signed'(residual_i)) - 9'(zero_i);
    if (valid_i[1]) product_q <= 25'(difference_q) * 25'(multiplier_i);
    if (valid_i[2]) begin
      magnitude_q <= unsigned'(32'(positive)) + ((32'd1 << half_shift_i) >> 1);
      negative_q  <= product_q < 0;
    end
    if (valid_i[3]) begin
      rounded_q <= 25'(negative_q ? -(magnitude_q >> shift_i) : magnitude_q >> shift_i);
    end
    if (valid_i[4]) begin
      value_q <= !on_i ? value_i[7:0]
               : sum < 32'(signed'(limits_i.low)) ? limits_i.low
               : sum > 32'(signed'(limits_i.high)) ? limits_i.high : sum[7:0];
    end
  end
endmodule
