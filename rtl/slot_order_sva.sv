// The slots of a buffer that one queue has taken, or claimed, and not yet given on: it does so in
// the order in which it took them. accsim_core_sva.sv has one for each queue that shares a buffer.
`include "sva.svh"

module slot_order_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Slots = 2
) (
  input logic              clk_i,
  input logic              rst_ni,
  input logic              take_i,
  input slot_t             slot_i,   // that is taken
  input logic              give_i,
  output logic [Slots-1:0] taken_o,  // as sets
  output logic [Slots-1:0] given_o
);
  slot_t [Slots-1:0] slot_q;
  int unsigned           first_q, count_q;

  function automatic int unsigned after(int unsigned index, int unsigned steps);
    return (index + steps) % Slots;
  endfunction

  assign taken_o = take_i ? (Slots)'(1) << slot_i : '0;
  assign given_o = give_i ? (Slots)'(1) << slot_q[first_q] : '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 0;
      count_q <= 0;
      slot_q  <= '0;
    end else begin
      if (take_i) slot_q[after(first_q, count_q)] <= slot_i;
      if (give_i) first_q <= after(first_q, 1);
      count_q <= count_q + 32'(take_i) - 32'(give_i);
    end
  end

  `ASSERT(SlotIsThere_A, take_i |-> 32'(slot_i) < Slots);
  `ASSERT(GivenWasTaken_A, give_i |-> count_q != 0);
  `ASSERT(NoMoreThanThereAre_A, take_i |-> count_q < Slots);
endmodule
