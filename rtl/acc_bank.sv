// Accumulators of one array column: one read-modify-write a cycle and one read by the post unit, of
// another slot. A memory file like slot_mem.sv. The sum of the previous cycle is forwarded when the
// same row comes twice in a row (write before read).
module acc_bank
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 16,
  localparam int unsigned RowBits = Rows > 1 ? $clog2(Rows) : 1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,  // the sum of this row comes in the next cycle
  input  logic               overwrite_i,
  input  logic [RowBits-1:0] row_i,
  input  sum_t               sum_i,
  input  logic               post_read_i,
  input  logic [RowBits-1:0] post_row_i,
  output sum_t               post_data_o,
  output logic               write_o,  // the row takes a sum at the end of this cycle
  output logic [RowBits-1:0] write_row_o,
  output sum_t               write_sum_o
);
  sum_t mem [1 << RowBits];

  logic               valid_q, overwrite_q;
  logic [RowBits-1:0] row_q;
  sum_t               read_q, post_q, sum;

  assign sum         = (overwrite_q ? '0 : read_q) + sum_i;
  assign post_data_o = post_q;
  assign write_o     = valid_q;
  assign write_row_o = row_q;
  assign write_sum_o = sum;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) mem[row_q] <= sum;
    if (valid_i) begin
      overwrite_q <= overwrite_i;
      row_q       <= row_i;
      read_q      <= valid_q && row_q == row_i ? sum : mem[row_i];
    end
    if (post_read_i) post_q <= mem[post_row_i];
  end
endmodule
