// Checks window_walk.sv: only a loaded walk is stepped; it stays in its box; its segments follow
// one another in the lanes.
`include "sva.svh"

module window_walk_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes    = 8,
  parameter int unsigned LaneBits = 4
) (
  input logic                                  clk_i,
  input logic                                  load_i,
  input window_t                               window_i,
  input logic                                  step_i,
  input window_t                               window_q,
  input word_t                                 x_q, y_q,
  input logic  [WindowLines-1:0]               read_o,
  input logic  [WindowLines-1:0][LaneBits-1:0] low_o,
  input logic  [WindowLines-1:0][LaneBits-1:0] high_o
);
  `BEGUN

  if (Lanes < 1) begin : gen_illegal
    $error("window_walk: at least one lane");
  end

  logic loaded_q = 1'b0;
  always_ff @(posedge clk_i) loaded_q <= loaded_q || load_i;

  logic ascending, in_lanes;
  always_comb begin
    ascending = window_i.seg_end[0] != '0;
    in_lanes  = 1'b1;
    for (int unsigned s = 0; s < WindowLines; s++) begin
      ascending &= window_i.seg_end[s] <= 32'(Lanes);
      if (s > 0) ascending &= window_i.seg_end[s-1] <= window_i.seg_end[s];
      if (read_o[s]) in_lanes &= low_o[s] < high_o[s] && high_o[s] <= LaneBits'(Lanes);
    end
  end

  `ASSERT_ALWAYS(SegmentsFollow_A, load_i |-> ascending);
  `ASSERT_ALWAYS(BeginsInBox_A,
                 load_i |-> signed'(window_i.first_x) >= signed'(window_i.start_x) &&
                            signed'(window_i.first_y) >= signed'(window_i.start_y));
  `ASSERT_ALWAYS(StaysInBox_A,
                 step_i |-> signed'(x_q) <= signed'(window_q.last_x) &&
                            signed'(y_q) <= signed'(window_q.last_y));
  `ASSERT_ALWAYS(StepsOfAWalk_A, step_i |-> loaded_q);
  `ASSERT_ALWAYS(ReadsInLanes_A, step_i |-> in_lanes);
endmodule

bind window_walk window_walk_sva #(.Lanes(Lanes), .LaneBits(LaneBits)) u_sva (.*);
