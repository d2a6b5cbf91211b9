// Delays lane i by i cycles: a triangle of registers. Stage s holds lanes s and up, the last lane
// in the lowest bits.
module skew
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Width = OperandBits
) (
  input  logic                        clk_i,
  input  logic [Lanes-1:0][Width-1:0] data_i,
  output logic [Lanes-1:0][Width-1:0] data_o
);
  for (genvar s = 0; s < Lanes; s++) begin : gen_stage
    logic [(Lanes-s)*Width-1:0] lanes;
    if (s == 0) begin : gen_first
      for (genvar i = 0; i < Lanes; i++) begin : gen_lane
        assign lanes[i*Width +: Width] = data_i[Lanes-1-i];
      end
    end else begin : gen_next
      always_ff @(posedge clk_i) lanes <= gen_stage[s-1].lanes[(Lanes-s)*Width-1:0];
    end
    assign data_o[s] = lanes[(Lanes-s)*Width-1 -: Width];
  end
endmodule
