// The accumulator: a row of sums per row of activations. Reads, adds and writes in one cycle, so
// that a row may follow itself at once.
module sum_memory #(
  parameter int Kernels  = 64,
  parameter int Rows     = 64,
  parameter int RowWidth = 6
) (
  input  logic                  clk_i,
  input  logic                  write_i,
  input  logic                  accumulate_i,
  input  logic [RowWidth-1:0]   row_i,
  input  logic [Kernels*32-1:0] products_i,
  output logic [Kernels*32-1:0] sums_o
);
  logic [Kernels*32-1:0] memory_q [Rows];
  logic [Kernels*32-1:0] held;

  assign held = accumulate_i ? memory_q[row_i] : '0;

  for (genvar k = 0; k < Kernels; k++) begin : g_sum
    assign sums_o[32*k +: 32] = held[32*k +: 32] + products_i[32*k +: 32];
  end

  always_ff @(posedge clk_i) begin
    if (write_i) memory_q[row_i] <= sums_o;
  end
endmodule
