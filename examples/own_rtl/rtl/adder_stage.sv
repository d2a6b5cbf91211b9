// One stage of adder_tree.sv.
module adder_stage #(
  parameter int Inputs  = 64,
  parameter int Outputs = 16,  // Inputs / 4, rounded up
  parameter int Width   = 16
) (
  input  logic                         clk_i,
  input  logic                         step_i,
  input  logic [Inputs*Width-1:0]      values_i,
  output logic [Outputs*(Width+2)-1:0] sums_o
);
  localparam int SumWidth = Width + 2;

  for (genvar o = 0; o < Outputs; o++) begin : g_sum
    // Inputs that aren't there are zero.
    localparam int There = (Inputs - 4 * o < 4) ? Inputs - 4 * o : 4;

    logic        [4*Width-1:0]  four;
    logic signed [SumWidth-1:0] left, right, sum_q;

    assign four  = (4*Width)'(values_i[4*o*Width +: There*Width]);
    assign left  = SumWidth'($signed(four[0 +: Width])) +
                   SumWidth'($signed(four[Width +: Width]));
    assign right = SumWidth'($signed(four[2*Width +: Width])) +
                   SumWidth'($signed(four[3*Width +: Width]));

    always_ff @(posedge clk_i) begin
      if (step_i) sum_q <= left + right;
    end

    assign sums_o[SumWidth*o +: SumWidth] = sum_q;
  end
endmodule
