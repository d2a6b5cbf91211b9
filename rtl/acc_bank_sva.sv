// Checks acc_bank.sv: the post unit reads no row that is being summed up.
`include "sva.svh"

module acc_bank_sva #(
  parameter int unsigned Rows    = 16,
  parameter int unsigned RowBits = 4
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               valid_i,
  input logic               valid_q,
  input logic [RowBits-1:0] row_i,
  input logic [RowBits-1:0] row_q,
  input logic               post_read_i,
  input logic [RowBits-1:0] post_row_i
);
  if (Rows < 1) begin : gen_illegal
    $error("acc_bank: at least one row");
  end

  `ASSERT(PostReadsNoRowBegun_A, post_read_i && valid_i |-> row_i != post_row_i);
  `ASSERT(PostReadsNoRowWritten_A, post_read_i && valid_q |-> row_q != post_row_i);
  `ASSERT(RowsAreThere_A, valid_i |-> 32'(row_i) < 32'(Rows));
  `ASSERT(PostRowsAreThere_A, post_read_i |-> 32'(post_row_i) < 32'(Rows));
endmodule

bind acc_bank acc_bank_sva #(.Rows(Rows), .RowBits(RowBits)) u_sva (.*);
