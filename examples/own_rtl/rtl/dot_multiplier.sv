// The product of two signed bytes.
module dot_multiplier #(
  parameter int Fault = 0
) (
  input  logic signed [7:0]  a_i,
  input  logic signed [7:0]  b_i,
  output logic signed [15:0] product_o
);
  localparam int FaultCorner = 1;

  if (Fault == FaultCorner) begin : g_corner
    // Planted: the one product that needs its 15th bit is one too small.
    logic corner;
    assign corner    = a_i == 8'h80 && b_i == 8'h80;
    assign product_o = 16'(a_i) * 16'(b_i) - 16'(corner);
  end else begin : g_product
    assign product_o = 16'(a_i) * 16'(b_i);
  end
endmodule
