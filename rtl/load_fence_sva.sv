// Checks load_fence.sv: no load arrives that wasn't asked for, no more slots wait than there are,
// and none waits when nothing is under way. That nothing arrives in a full slot is in slot_use_sva.
`include "sva.svh"

module load_fence_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Slots     = 2,
  parameter int unsigned CountBits = 2
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic [1:0]                    asked_i,
  input logic                          signal_i,
  input logic [1:0]                    arrived_i,
  input logic [2:0]                    full_o,
  input logic [1:0][LoadCountBits-1:0] asked_q,
  input logic [1:0][LoadCountBits-1:0] arrived_q,
  input logic [1:0][LoadCountBits-1:0] arrived_d,
  input logic [CountBits-1:0]          waiting_q
);
  if (Slots < 1) begin : gen_illegal
    $error("load_fence: a buffer has at least one slot");
  end

  for (genvar m = 0; m < 2; m++) begin : gen_memory
    logic [LoadCountBits-1:0] outside;
    assign outside = asked_q[m] - arrived_q[m];
    `ASSERT(ArrivedWasAsked_A, arrived_i[m] |-> outside != '0);
    `ASSERT(CountsAreApart_A, !outside[LoadCountBits-1]);
  end
  `ASSERT(OneMemoryALoad_A, $onehot0(asked_i));
  `ASSERT(SignalIsALoad_A, signal_i |-> asked_i != 2'd0);
  `ASSERT(SlotsForAll_A, signal_i |-> 32'(waiting_q) < 32'(Slots));
  `ASSERT(FullWhenAllIsThere_A, waiting_q != '0 && asked_q == arrived_d |-> full_o != 3'd0);
endmodule

bind load_fence load_fence_sva #(.Slots(Slots), .CountBits(CountBits)) u_sva (.*);
