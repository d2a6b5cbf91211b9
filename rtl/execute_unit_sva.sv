// Checks execute_unit.sv: an accumulator slot is full with the last sums of a gemm or drain, and
// sums come to the last column as they came to the first.
`include "sva.svh"

module execute_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Cols     = 8,
  parameter int unsigned AccSlots = 2,
  parameter int unsigned AccRows  = 16
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        acc_done_o,
  input logic        retire_gemm_o,
  input logic        retire_drain_o,
  input logic        sum_valid, sum_valid_last,
  input word_t       sum_row, sum_row_last
);
  if (Cols < 1) begin : gen_illegal
    $error("execute_unit: there is a column");
  end

  int unsigned under_way_q;  // rows that came to the first column and not yet to the last
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) under_way_q <= 0;
    else         under_way_q <= under_way_q + 32'(sum_valid) - 32'(sum_valid_last);
  end

  `ASSERT(FullWithTheLastSum_A, acc_done_o |-> retire_gemm_o || retire_drain_o);
  `ASSERT(NoMoreThanColumns_A, under_way_q < Cols);
  `ASSERT(RowIsThere_A, sum_valid |-> sum_row < AccSlots * AccRows);
  `ASSERT(LastRowIsThere_A, sum_valid_last |-> sum_row_last < AccSlots * AccRows);
endmodule

bind execute_unit execute_unit_sva #(
  .Cols(Cols), .AccSlots(AccSlots), .AccRows(AccRows)
) u_sva (.*);
