// Checks load_transposer.sv: blocks fit, no column waits, nothing comes past one that goes.
`include "sva.svh"

module load_transposer_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Side      = 8,
  parameter int unsigned Port      = 8,
  parameter int unsigned CountBits = 4,
  parameter int unsigned IndexBits = 3
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic                 valid_i,
  input load_tag_t            tag_i,
  input load_tag_t            tag_o,
  input logic                 valid_o,
  input logic                 row_in, starts, ends, going_q, odd_in_q, odd_out_q,
  input logic [IndexBits-1:0] row_q,
  input logic [CountBits-1:0] left_q
);
  if (Side < 1 || Side > Port) begin : gen_illegal
    $error("load_transposer: a row of a block is one beat");
  end

  `ASSERT(RowFits_A, row_in |-> 32'(row_q) < 32'(Side) && tag_i.bytes != '0 &&
      32'(tag_i.bytes) <= 32'(Side));
  `ASSERT(ColumnsHaveGone_A, starts && going_q |-> ends);
  `ASSERT(NothingPasses_A, going_q && valid_i |-> tag_i.transposed);
  `ASSERT(OtherBlockGoes_A, going_q && row_in && !ends |-> odd_in_q != odd_out_q);
  `ASSERT(ColumnsAreLeft_A, going_q |-> left_q != '0);
  `ASSERT(LastIsTheLastColumn_A, valid_o && going_q && tag_o.last |-> ends);
endmodule

bind load_transposer load_transposer_sva #(
  .Side(Side), .Port(Port), .CountBits(CountBits), .IndexBits(IndexBits)
) u_sva (.*);
