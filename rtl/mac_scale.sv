// The scale of a channel on its way beside a lane that weighs taps. It is read with the last tap:
// stage 0 takes it from memory, and stage i + 1 works beside stage i of the lane. The lane adds the
// bias in its stage 1, multiplies in 2, rounds in 4, and shifts in 5.
module mac_scale
  import accsim_pkg::*;
(
  input  logic                        clk_i,
  input  logic [4:0]                  valid_i,
  input  logic [ParameterBits-1:0]    data_i,        // stage 0
  output sum_t                        bias_o,        // after stage 1
  output multiplier_t                 multiplier_o,  // after stage 2
  output logic [5:0]                  half_shift_o,  // after stage 4
  output logic [5:0]                  shift_o        // a cycle later
);
  sum_t [1:0]        bias_q;
  multiplier_t [2:0] multiplier_q;
  logic [4:0][5:0]   shift_q;

  assign bias_o       = bias_q[1];
  assign multiplier_o = multiplier_q[2];
  assign half_shift_o = shift_q[4];

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      bias_q[0]       <= data_i[AccumulatorBits-1:0];
      multiplier_q[0] <= data_i[AccumulatorBits +: MultiplierBits];
      shift_q[0]      <= data_i[ScaledBits +: 6];
    end
    if (valid_i[1]) bias_q[1] <= bias_q[0];
    for (int unsigned i = 1; i < 3; i++) if (valid_i[i]) multiplier_q[i] <= multiplier_q[i-1];
    for (int unsigned i = 1; i < 5; i++) if (valid_i[i]) shift_q[i] <= shift_q[i-1];
    shift_o <= shift_q[4];
  end
endmodule
