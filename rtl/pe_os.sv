// One PE of array_os.sv: its sum, the operands on their way to the right and down, and a register
// of the chain that sums leave by.
module pe_os
  import accsim_pkg::*;
(
  input  logic               clk_i,
  input  logic               clear_i,    // the sum begins anew with this product
  input  logic               capture_i,  // the drain register takes the sum, even when it shifts
  input  logic               shift_i,    // ... takes the one above
  input  operand_t           left_i,
  input  operand_t           above_i,
  input  sum_t               drain_i,
  output operand_t           right_o,
  output operand_t           below_o,
  output sum_t               drain_o
);
  operand_t           left_q, above_q;
  sum_t               sum_q, drain_q;

  assign right_o = left_q;
  assign below_o = above_q;
  assign drain_o = drain_q;

  always_ff @(posedge clk_i) begin
    left_q  <= left_i;
    above_q <= above_i;
    sum_q   <= (clear_i ? sum_t'(0) : sum_q) + sum_t'(product_t'(left_i) * product_t'(above_i));
    if (capture_i)    drain_q <= sum_q;
    else if (shift_i) drain_q <= drain_i;
  end
endmodule
