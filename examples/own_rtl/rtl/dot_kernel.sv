// One output of the array: the weights that it holds, a multiplier per lane, and a tree of adders.
module dot_kernel #(
  parameter int Lanes  = 64,
  parameter int Stages = 3,  // of the tree
  parameter int Fault  = 0
) (
  input  logic               clk_i,
  input  logic               step_i,
  input  logic               write_i,  // takes weight_i
  input  logic               clear_i,  // takes zeros, unless it takes weight_i
  input  logic [Lanes*8-1:0] weight_i,
  input  logic [Lanes*8-1:0] act_i,
  output logic [31:0]        sum_o
);
  logic [Lanes*8-1:0]  weights_q;
  logic [Lanes*16-1:0] products, products_q;

  always_ff @(posedge clk_i) begin
    if (write_i)      weights_q <= weight_i;
    else if (clear_i) weights_q <= '0;
    if (step_i)       products_q <= products;
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    dot_multiplier #(.Fault(Fault)) u_multiplier (
      .a_i      (act_i[8*l +: 8]),
      .b_i      (weights_q[8*l +: 8]),
      .product_o(products[16*l +: 16])
    );
  end

  adder_tree #(.Inputs(Lanes), .Width(16), .Stages(Stages)) u_tree (
    .clk_i,
    .step_i,
    .values_i(products_q),
    .sum_o
  );
endmodule
