// Checks window_merge.sv: no lane is of two segments; a row stays until the next.
`include "sva.svh"

module window_merge_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes    = 8,
  parameter int unsigned LaneBits = 4
) (
  input logic                                 clk_i,
  input logic                                 rst_ni,
  input logic                                 step_i,
  input logic [WindowLines-1:0]               read_i,
  input logic [WindowLines-1:0][LaneBits-1:0] low_i,
  input logic [WindowLines-1:0][LaneBits-1:0] high_i,
  input logic                                 step_q,
  input logic [Lanes*OperandBits-1:0]         row_q
);
  logic apart;
  always_comb begin
    apart = 1'b1;
    for (int unsigned s = 0; s < WindowLines; s++) begin
      for (int unsigned t = s + 1; t < WindowLines; t++) begin
        if (read_i[s] && read_i[t]) apart &= high_i[s] <= low_i[t];
      end
    end
  end

  `ASSERT(SegmentsApart_A, step_i |-> apart);
  `ASSERT(ReadsAreSteps_A, read_i != '0 |-> step_i);
  `ASSERT(RowStays_A, !step_q |=> $stable(row_q));
endmodule

bind window_merge window_merge_sva #(.Lanes(Lanes), .LaneBits(LaneBits)) u_sva (.*);
