// The scale of a channel on its way beside a lane that weighs taps. It is read with the last tap:
// stage 0 takes it from memory, and stage i + 1 works beside stage i of the lane. The lane adds the
// bias in its stage 1, multiplies in 2, rounds in 4, and shifts in 5.
module mac_scale
  import accsim_pkg::*;
(
  input  logic                        clk_i,
  input  logic [4:0]                  valid_i,
  input  logic [ParameterBytes*8-1:0] data_i,        // stage 0
  output logic signed [31:0]          bias_o,        // after stage 1
  output logic signed [31:0]          multiplier_o,  // after stage 2
  output logic [5:0]                  half_shift_o,  // after stage 4
  output logic [5:0]                  shift_o        // a cycle later
);
  logic [1:0][31:0] bias_q;
  logic [2:0][31:0] multiplier_q;
  logic [4:0][5:0]  shift_q;

  assign bias_o       = bias_q[1];
  assign multiplier_o = multiplier_q[2];
  assign half_shift_o = shift_q[4];

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      bias_q[0]       <= data_i[31:0];
      multiplier_q[0] <= data_i[63:32];
      shift_q[0]      <= data_i[69:64];
    end
    if (valid_i[1]) bias_q[1] <= bias_q[0];
    for (int unsigned i = 1; i < 3; i++) if (valid_i[i]) multiplier_q[i] <= multiplier_q[i-1];
    for (int unsigned i = 1; i < 5; i++) if (valid_i[i]) shift_q[i] <= shift_q[i-1];
    shift_o <= shift_q[4];
  end
endmodule
