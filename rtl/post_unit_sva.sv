// Checks post_unit.sv: tokens taken are there, sums and parameters read and values written lie
// where they may.
`include "sva.svh"

module post_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Cols     = 8,
  parameter int unsigned Lanes    = 8,
  parameter int unsigned AccSlots = 2,
  parameter int unsigned AccRows  = 16,
  parameter int unsigned ParStride = 1024
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        acc_full_i,
  input logic        out_free_i,
  input logic        par_full_i,
  input logic        acc_take_o,
  input logic        out_primed_i,
  input logic        out_take_o,
  input logic        out_add_o,
  input logic        par_take_o,
  input logic        acc_read_o,
  input word_t       acc_row_o,
  input logic        par_read_o,
  input word_t       par_addr_o,
  input logic        out_write_o,
  input bytes_t      out_bytes_o,
  input logic        out_give_o,
  input logic        retire_o,
  input post_cmd_t   cmd_q,
  input logic        active,
  input logic        beat,
  input logic        old_read_o,
  input logic        table_read,
  input logic        group_first,
  input bytes_t      columns
);
  if (Lanes < 1 || Lanes > Cols || AccSlots < 1 || AccRows < 1 || ParStride < 1) begin : gen_illegal
    $error("post_unit: no size may be zero, and a lane has a column");
  end

  // Where the parameters of the beat's channels end: one channel in a transposed post, else one a
  // column.
  word_t par_channels, par_bytes, par_last;
  assign par_channels = cmd_q.flags.transposed ? 32'd1 : 32'(columns);
  assign par_bytes    = par_channels * (group_first ? ParameterBytes : GroupBytes);
  assign par_last     = par_addr_o + (table_read ? TableBeat : par_bytes) - 1;

  `ASSERT(AccTakenIsFull_A, acc_take_o |-> acc_full_i);
  `ASSERT(OutTakenIsFree_A, out_take_o |-> out_free_i);
  `ASSERT(PrimedTakenIsThere_A, out_add_o |-> out_primed_i);
  `ASSERT(OneWayToASlot_A, !(cmd_q.flags.wait_output && cmd_q.flags.wait_primed && active));
  `ASSERT(OldIsRead_A, old_read_o |-> $past(beat, PostLatency - 5) &&
                          $past(cmd_q.flags.residual, PostLatency - 5));
  `ASSERT(ParTakenIsFull_A, par_take_o |-> par_full_i);
  `ASSERT(ColumnsAreThere_A, beat |-> cmd_q.cols <= 32'(Cols));
  `ASSERT(RowIsThere_A, acc_read_o |-> acc_row_o < 32'(AccSlots * AccRows));
  `ASSERT(ParametersInOneSlot_A,
          par_read_o |-> par_addr_o / ParStride == par_last / ParStride);
  `ASSERT(WritesItsLanes_A, out_write_o |-> out_bytes_o != '0 && out_bytes_o <= bytes_t'(Lanes));
  `ASSERT(FullWithTheLastWrite_A, out_give_o |-> out_write_o && retire_o);
endmodule

bind post_unit post_unit_sva #(
  .Cols(Cols), .Lanes(Lanes), .AccSlots(AccSlots), .AccRows(AccRows),
  .ParStride(ParStride)
) u_sva (.*);
