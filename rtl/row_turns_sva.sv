// Checks row_turns.sv: a lane that takes a row has none, or is in its last cycle.
`include "sva.svh"

module row_turns_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8, LaneBits = 3
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                load_i,
  input logic                end_o,
  input logic [LaneBits-1:0] lane_o, load_q,
  input logic [RowStep-1:0]  on_q
);
  if (Lanes < 1) begin : gen_illegal
    $fatal(1, "row_turns: a lane at least");
  end

  `ASSERT(LanesSuffice_A, $countones(on_q) <= int'(Lanes));
  `ASSERT(LaneIsFree_A, load_i && $countones(on_q) == int'(Lanes) |-> end_o && load_q == lane_o);
  `ASSERT(LaneIsOneOfThem_A, 32'(load_q) < Lanes && 32'(lane_o) < Lanes);
endmodule

bind row_turns row_turns_sva #(.Lanes(Lanes), .LaneBits(LaneBits)) u_sva (.*);
