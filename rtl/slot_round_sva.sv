// The slot of each event of a kind, as a set: one queue goes round the slots of a buffer.
// accsim_core_sva.sv has one for each.
`include "sva.svh"

module slot_round_sva #(
  parameter int unsigned Slots = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             event_i,
  output logic [Slots-1:0] slot_o
);
  int unsigned at_q;

  assign slot_o = event_i ? (Slots)'(1) << at_q : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      at_q <= 0;
    else if (event_i) at_q <= at_q == Slots - 1 ? 0 : at_q + 1;
  end

  `ASSERT(SlotIsThere_A, at_q < Slots);
endmodule
