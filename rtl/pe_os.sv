// One PE of array_os.sv: its sum, the operands on their way to the right and down, and a register
// of the chain that sums leave by.
module pe_os (
  input  logic               clk_i,
  input  logic               clear_i,    // the sum begins anew with this product
  input  logic               capture_i,  // the drain register takes the sum, even when it shifts
  input  logic               shift_i,    // ... takes the one above
  input  logic signed [7:0]  left_i,
  input  logic signed [7:0]  above_i,
  input  logic signed [31:0] drain_i,
  output logic signed [7:0]  right_o,
  output logic signed [7:0]  below_o,
  output logic signed [31:0] drain_o
);
  logic signed [7:0]  left_q, above_q;
  logic signed [31:0] sum_q, drain_q;

  assign right_o = left_q;
  assign below_o = above_q;
  assign drain_o = drain_q;

  always_ff @(posedge clk_i) begin
    left_q  <= left_i;
    above_q <= above_i;
    sum_q   <= (clear_i ? 32'sd0 : sum_q) + 32'(16'(left_i) * 16'(above_i));
    if (capture_i)    drain_q <= sum_q;
    else if (shift_i) drain_q <= drain_i;
  end
endmodule
