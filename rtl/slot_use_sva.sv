// The slots of one buffer as tokens tell of them: claimed to be filled, full, held to be read. A
// slot is never read before it is full and held, nor written when it is full or held.
// accsim_core_sva.sv has one for each buffer. A primed slot is still being filled. A byte range is
// given by its first and last address; a slot claimed or taken in a cycle may be used from that
// cycle on.
`include "sva.svh"

module slot_use_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Slots  = 2,
  parameter int unsigned Size   = 1024,  // of a slot, in the addresses' unit
  parameter int unsigned Writes = 1,
  parameter int unsigned Reads  = 1
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic [Slots-1:0]        claim_i,  // sets of slots
  input logic [Slots-1:0]        fill_i,
  input logic [Slots-1:0]        take_i,
  input logic [Slots-1:0]        give_i,
  input logic [Writes-1:0]       write_i,
  input word_t [Writes-1:0]      write_first_i,
  input word_t [Writes-1:0]      write_last_i,
  input logic [Reads-1:0]        read_i,
  input word_t [Reads-1:0]       read_first_i,
  input word_t [Reads-1:0]       read_last_i
);
  if (Slots < 1 || Size < 1) begin : gen_illegal
    $error("slot_use: a buffer has at least one slot, of at least one row");
  end

  typedef logic [Slots-1:0] set_t;
  set_t filling_q, full_q, held_q;  // no slot is in two of them
  set_t filling, held;

  function automatic set_t at(int unsigned slot);
    return set_t'(1) << slot;
  endfunction

  assign filling = filling_q | claim_i;
  assign held    = held_q | take_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filling_q <= '0;
      full_q    <= '0;
      held_q    <= '0;
    end else begin
      filling_q <= filling & ~fill_i;
      full_q    <= (full_q | fill_i) & ~held;
      held_q    <= held & ~give_i;
    end
  end

  `ASSERT(ClaimedWasFree_A, (claim_i & (filling_q | full_q | held_q)) == '0);
  `ASSERT(FilledWasClaimed_A, (fill_i & ~filling) == '0);
  `ASSERT(TakenIsFull_A, (take_i & ~full_q) == '0);
  `ASSERT(GivenWasHeld_A, (give_i & ~held) == '0);

  for (genvar w = 0; w < Writes; w++) begin : gen_write
    `ASSERT(WrittenWhenClaimed_A,
            write_i[w] |-> (at(write_first_i[w] / Size) & ~filling) == '0);
    `ASSERT(WritesOneSlot_A,
            write_i[w] |-> write_first_i[w] / Size == write_last_i[w] / Size &&
            write_last_i[w] < Slots * Size);
  end
  for (genvar r = 0; r < Reads; r++) begin : gen_read
    `ASSERT(ReadWhenHeld_A,
            read_i[r] |-> (at(read_first_i[r] / Size) & ~held) == '0);
    `ASSERT(ReadsOneSlot_A,
            read_i[r] |-> read_first_i[r] / Size == read_last_i[r] / Size &&
            read_last_i[r] < Slots * Size);
  end
endmodule
