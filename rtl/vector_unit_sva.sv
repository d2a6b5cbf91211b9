// Checks vector_unit.sv: tokens taken are there, beats fit the lanes, the second operand comes with
// the last tap, every result is written.
`include "sva.svh"

module vector_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes     = 8, MacLanes = 0,
  parameter int unsigned ActStride = 1024,
  parameter int unsigned ParStride = 1024,
  parameter int unsigned OutStride = 1024
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        act_full_i,
  input logic        par_full_i,
  input logic        out_free_i,
  input logic        act_take_o,
  input logic        par_take_o,
  input logic        out_take_o,
  input logic [1:0]  act_read_o,
  input logic  [1:0] par_read_o,
  input word_t [1:0] par_addr_o,
  input logic        out_write_o,
  input word_t       out_addr_o,
  input bytes_t      out_bytes_o,
  input logic        out_give_o,
  input logic        retire_o,
  input vector_cmd_t cmd_q,
  input logic        lanes_active, rows_active,
  input logic        lane_write, row_write,
  input logic        row_par_read,
  input word_t       row_par_last,
  input logic        done,
  input logic        table_read,
  input logic        mac, step_last, step_column, last_tap, last_column, last_out,
  input bytes_t      step_bytes,
  input logic [max_of(MacLanes, 1)*ParameterBits-1:0] scale_data_i,
  input logic        scale_taken,  // from memory, of so many channels
  input bytes_t      scales
);
  if (Lanes < 1 || ActStride < 1 || ParStride < 1 || OutStride < 1) begin : gen_illegal
    $error("vector_unit: no size may be zero");
  end

  `ASSERT(ActTakenIsFull_A, act_take_o |-> act_full_i);
  `ASSERT(ParTakenIsFull_A, par_take_o |-> par_full_i);
  `ASSERT(OutTakenIsFree_A, out_take_o |-> out_free_i);
  `ASSERT(BeatsFitTheLanes_A,
          lanes_active |-> cmd_q.beat != '0 && cmd_q.beat <= 32'(Lanes) && cmd_q.tail != '0 &&
          cmd_q.tail <= cmd_q.beat);
  `ASSERT(SecondWithTheLastTap_A,
          (act_read_o[1] || (par_read_o[0] && !table_read)) && !rows_active |-> lanes_active &&
          (step_last || mac) && cmd_q.mode.b_on);
  `ASSERT(WeightWithEveryTap_A, lanes_active && mac |-> par_read_o[0]);
  `ASSERT(ScaleWithTheLastTap_A, par_read_o[1] == (lanes_active && mac && step_last));
  `ASSERT(WeighedBeatsFitTheirLanes_A, lanes_active && mac |-> cmd_q.beat <= 32'(MacLanes) &&
          cmd_q.mode.b_parameter && !cmd_q.mode.b_splat && !cmd_q.mode.across &&
          cmd_q.mode.slide == '0 && cmd_q.mode.tap_op == TapSum);
  for (genvar i = 0; i < MacLanes; i++) begin : gen_scale
    `ASSERT(ShiftIsAPosts_A, scale_taken && unsigned'(bytes_t'(i)) < scales |->
            scale_data_i[i*ParameterBits+ScaledBits +: ParameterBits-ScaledBits] <= 32'd62);
  end
  `ASSERT(ScalesInOneSlot_A, par_read_o[1] |-> par_addr_o[1] / ParStride ==
          (par_addr_o[1] + 32'(step_bytes) * ParameterBytes - 1) / ParStride);
  `ASSERT(FirstEveryStep_A, !rows_active |-> act_read_o[0] == lanes_active);
  `ASSERT(OneReadOfParameters_A, table_read |-> !lanes_active && !rows_active);
  `ASSERT(OneWriteACycle_A, !(lane_write && row_write));
  `ASSERT(AcrossHasOneSecond_A, lanes_active && cmd_q.mode.across && cmd_q.mode.b_on |->
          cmd_q.mode.b_splat);
  `ASSERT(TableInOneSlot_A,
          table_read |->
          par_addr_o[0] / ParStride == (par_addr_o[0] + TableBeat - 1) / ParStride);
  `ASSERT(ChannelsInOneSlot_A,
          row_par_read |-> par_addr_o[0] / ParStride == row_par_last / ParStride);
  `ASSERT(WritesItsLanes_A, out_write_o |-> out_bytes_o != '0 && out_bytes_o <= bytes_t'(Lanes));
  `ASSERT(WritesOneSlot_A,
          out_write_o |-> out_addr_o / OutStride ==
          (out_addr_o + 32'(out_bytes_o) - 1) / OutStride);
  // Sooner would only be overwritten: it shows in no value.
  `ASSERT(LastIsTheLastTap_A, lanes_active && step_last |-> last_tap);
  `ASSERT(SlidesOverColumns_A, lanes_active && cmd_q.mode.slide != '0 |->
          cmd_q.mode.kept >= cmd_q.mode.slide && !cmd_q.mode.across && !cmd_q.mode.b_on &&
          cmd_q.rows[0] == 32'd1);
  `ASSERT(LineEndsWithAResult_A, lanes_active && step_column && last_column |-> step_last);
  `ASSERT(WritesResultsOnly_A, lane_write |-> last_out);
  `ASSERT(EndsWithAResult_A, done && lanes_active |-> step_last);
  // A row command may end in a step's idle cycles.
  logic [VectorLatency:0] rows_q;
  always_ff @(posedge clk_i) rows_q <= {rows_q[VectorLatency-1:0], rows_active};
  `ASSERT(FullWithTheLastWrite_A,
          out_give_o |-> retire_o && (out_write_o || rows_q[VectorLatency]));
endmodule

bind vector_unit vector_unit_sva #(
  .Lanes(Lanes), .MacLanes(MacLanes), .ActStride(ActStride), .ParStride(ParStride),
  .OutStride(OutStride)
) u_sva (
  .step_last(step.last), .step_bytes(step.bytes),
  .scale_taken(valid[1] && at[1].last && at[1].mode.op == LaneMac), .scales(at[1].bytes),
  .last_tap(slides ? last_of[0] : &last_of[TapLevels-1:0]),
  .step_column(step.column), .last_column(last_of[1]),
  .last_out(at[VectorLatency+1].last), .row_par_last(u_rows.u_sva.par_last), .*
);
