// One PE of array_ws.sv: what it holds, the shadow of the next one, the operand on its way to the
// right and the sum on its way down.
module pe_ws
  import accsim_pkg::*;
(
  input  logic               clk_i,
  input  logic               write_i,  // the shadow takes next_i
  input  logic               swap_i,   // what is held becomes the shadow
  input  operand_t           next_i,
  input  operand_t           left_i,
  input  sum_t               above_i,
  output operand_t           right_o,
  output sum_t               below_o
);
  operand_t           shadow_q, held_q, left_q;
  sum_t               sum_q;

  assign right_o = left_q;
  assign below_o = sum_q;

  always_ff @(posedge clk_i) begin
    if (write_i) shadow_q <= next_i;
    if (swap_i)  held_q   <= shadow_q;
    left_q <= left_i;
    sum_q  <= above_i + sum_t'(product_t'(left_i) * product_t'(held_q));
  end
endmodule
