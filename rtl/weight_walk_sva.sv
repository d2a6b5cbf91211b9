// Checks weight_walk.sv: rows that are there are read, those beyond are zeros, a row stays until
// the next; packed groups fit the lanes, a lane that isn't of the row's group gets a zero.
`include "sva.svh"

module weight_walk_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes     = 8,
  parameter int unsigned LaneBits  = 4,
  parameter int unsigned PlaceBits = 3
) (
  input logic                            clk_i,
  input logic                            rst_ni,
  input logic                            load_i, take_i,
  input word_t                           lanes_i,
  input blocks_t                         blocks_i,
  input logic                            turned_i,
  input logic                            read_o,
  input word_t                           left_q,
  input logic                            step_q,
  input logic                            read_q,
  input logic                            packed_q, read_packed_q, narrow_i, narrow_q,
  input logic [LaneBits-1:0]             lanes_q, group_q,
  input logic [Lanes-1:0][LaneBits-1:0]  lane_group,
  input logic [Lanes-1:0][PlaceBits-1:0] read_place_q,
  input logic [Lanes-1:0]                takes_q,
  input logic [Lanes*OperandBits-1:0]    row_q
);
  if (Lanes < 1) begin : gen_illegal
    $error("weight_walk: at least one lane");
  end

  // Bytes of the row that is read, for accsim_core_sva: of packed groups those that lanes take.
  word_t bytes;
  always_comb begin
    bytes = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      bytes += 32'(lane_group[l] == group_q && l < 32'(lanes_q));
    end
    if (!packed_q) bytes = 32'(lanes_q);
    if (narrow_q) bytes = (bytes + 1) / 2;
  end

  `ASSERT(LanesAreThere_A, load_i |-> lanes_i <= 32'(Lanes));
  `ASSERT(LanesStay_A, !load_i && !take_i |=> $stable(lanes_q));
  `ASSERT(LoadedOrTaken_A, !(load_i && take_i));
  `ASSERT(ReadsWhatIsLeft_A, read_o |-> left_q != '0);
  `ASSERT(ZerosBeyond_A, step_q && !read_q |=> row_q == '0);
  `ASSERT(RowStays_A, !step_q |=> $stable(row_q));
  `ASSERT(GroupsFit_A, load_i && blocks_i.groups != '0 |->
      blocks_i.groups * (turned_i ? blocks_i.group_k : blocks_i.group_n) <= 32'(Lanes) &&
      blocks_i.group_k != '0 && blocks_i.group_n != '0);
  `ASSERT(NarrowRowsBeginWithAByte_A,
          load_i && narrow_i |-> blocks_i.groups == '0 || !turned_i);
  `ASSERT(FirstIsThere_A, load_i && blocks_i.groups != '0 |->
      blocks_i.first_group < blocks_i.groups && blocks_i.first_in_group < blocks_i.group_k &&
      blocks_i.rows_before < blocks_i.groups * blocks_i.group_k);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    `ASSERT(TakesWhatIsRead_A,
            read_q && read_packed_q && takes_q[l] |-> 32'(read_place_q[l]) < 32'(Lanes));
    `ASSERT(ZeroOffTheDiagonal_A,
            read_q && read_packed_q && !takes_q[l] |=> row_q[OperandBits*l +: OperandBits] == '0);
  end
endmodule

bind weight_walk weight_walk_sva #(
  .Lanes(Lanes), .LaneBits(LaneBits), .PlaceBits(PlaceBits)
) u_sva (
  .lane_group(all_q.group), .*
);
