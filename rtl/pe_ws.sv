// One PE of array_ws.sv: what it holds, the shadow of the next one, the operand on its way to the
// right and the sum on its way down.
module pe_ws (
  input  logic               clk_i,
  input  logic               write_i,  // the shadow takes next_i
  input  logic               swap_i,   // what is held becomes the shadow
  input  logic signed [7:0]  next_i,
  input  logic signed [7:0]  left_i,
  input  logic signed [31:0] above_i,
  output logic signed [7:0]  right_o,
  output logic signed [31:0] below_o
);
  logic signed [7:0]  shadow_q, held_q, left_q;
  logic signed [31:0] sum_q;

  assign right_o = left_q;
  assign below_o = sum_q;

  always_ff @(posedge clk_i) begin
    if (write_i) shadow_q <= next_i;
    if (swap_i)  held_q   <= shadow_q;
    left_q <= left_i;
    sum_q  <= above_i + 32'(16'(left_i) * 16'(held_q));
  end
endmodule
