// Checks row_unit.sv: no element lies above its row's maximum, what is written has lanes.
`include "sva.svh"

module row_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8, ExpLanes = 8
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input row_cmd_t               cmd_i,
  input logic                   step_i,
  input logic                   beat_on, table_read, norm, writes,
  input word_t                  par_addr_o,
  input bytes_t                 bytes,
  input logic                   out_write_o,
  input bytes_t                 out_bytes_o,
  input logic [5:2]             exps,
  input logic [Lanes-1:0][24:0] logit,
  input logic signed [24:0]     maximum2_q
);
  if (Lanes < 1 || ExpLanes < 1 || ExpLanes > Lanes) begin : gen_illegal
    $error("row_unit: there is a lane, and one with exponentials among them");
  end

  word_t par_last;  // byte that a beat reads, which vector_unit_sva looks at
  assign par_last = par_addr_o + (table_read ? 32'(RowTableBeat)
                    : cmd_i.mode.row_splat ? 32'(RowChannelBytes)
                                           : 32'(bytes) * RowChannelBytes) - 1;

  `ASSERT(BeatsFitTheLanes_A,
          step_i |-> cmd_i.beat != '0 && cmd_i.beat <= 32'(Lanes) && cmd_i.tail != '0 &&
          cmd_i.tail <= cmd_i.beat);
  `ASSERT(LateBeatsFitTheirLanes_A,
          step_i |-> cmd_i.late_beat != '0 && cmd_i.late_tail != '0 &&
          cmd_i.late_tail <= cmd_i.late_beat &&
          cmd_i.late_beat <= 32'(norm ? Lanes : ExpLanes));
  `ASSERT(BelowTheMaximum_A, exps[2] |-> signed'(logit[0]) <= maximum2_q);
  `ASSERT(OneReadOfParameters_A, table_read |-> !(beat_on && norm && writes));
  `ASSERT(WritesItsLanes_A, out_write_o |-> out_bytes_o != '0 && out_bytes_o <= bytes_t'(Lanes));
endmodule

bind row_unit row_unit_sva #(.Lanes(Lanes), .ExpLanes(ExpLanes)) u_sva (
  .bytes(beat.bytes), .*
);
