// Checks slot_ring.sv: the base is that of a slot, and stays until it advances.
`include "sva.svh"

module slot_ring_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Slots  = 2,
  parameter int unsigned Stride = 1
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        advance_i,
  input word_t       base_q
);
  if (Slots < 1 || Stride < 1 || 64'(Slots) * 64'(Stride) >= (64'd1 << 32)) begin : gen_illegal
    $error("slot_ring: slots of at least one byte, in 32 bits of address");
  end

  `ASSERT(BaseOfASlot_A, base_q < 32'(Slots * Stride) && base_q % 32'(Stride) == '0);
  `ASSERT(BaseStays_A, !advance_i |=> $stable(base_q));
endmodule

bind slot_ring slot_ring_sva #(.Slots(Slots), .Stride(Stride)) u_sva (.*);
