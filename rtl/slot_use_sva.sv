// The slots of one buffer as tokens tell of them: claimed to be filled, full, held to be read. A
// slot is never read before it is full and held, nor written when it is full or held.
// accsim_core_sva.sv has one for each buffer. A byte range is given by its first and last address;
// a slot claimed or taken in a cycle may be used from that cycle on.
`include "sva.svh"

module slot_use_sva #(
  parameter int unsigned Slots  = 2,
  parameter int unsigned Size   = 1024,  // of a slot, in the addresses' unit
  parameter int unsigned Writes = 1,
  parameter int unsigned Reads  = 1
) (
  input logic                    clk_i,
  input logic                    rst_ni,
  input logic                    claim_i,
  input logic                    fill_i,
  input logic                    take_i,
  input logic                    give_i,
  input logic [Writes-1:0]       write_i,
  input logic [Writes-1:0][31:0] write_first_i,
  input logic [Writes-1:0][31:0] write_last_i,
  input logic [Reads-1:0]        read_i,
  input logic [Reads-1:0][31:0]  read_first_i,
  input logic [Reads-1:0][31:0]  read_last_i
);
  if (Slots < 1 || Size < 1) begin : gen_illegal
    $error("slot_use: a buffer has at least one slot, of at least one row");
  end

  typedef logic [Slots-1:0] set_t;
  // Slots go round; each of the four events has come so far.
  int unsigned claim_at_q, fill_at_q, take_at_q, give_at_q;
  set_t        filling_q, full_q, held_q;  // no slot is in two of them
  set_t        filling, held, filled, given;

  function automatic int unsigned after(int unsigned slot);
    return slot == Slots - 1 ? 0 : slot + 1;
  endfunction
  function automatic set_t at(logic event_i, int unsigned slot);
    return event_i ? set_t'(1) << slot : set_t'(0);
  endfunction

  assign filling = filling_q | at(claim_i, claim_at_q);
  assign held    = held_q | at(take_i, take_at_q);
  assign filled  = at(fill_i, fill_at_q);
  assign given   = at(give_i, give_at_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      claim_at_q <= '0;
      fill_at_q  <= '0;
      take_at_q  <= '0;
      give_at_q  <= '0;
      filling_q  <= '0;
      full_q     <= '0;
      held_q     <= '0;
    end else begin
      if (claim_i) claim_at_q <= after(claim_at_q);
      if (fill_i)  fill_at_q <= after(fill_at_q);
      if (take_i)  take_at_q <= after(take_at_q);
      if (give_i)  give_at_q <= after(give_at_q);
      filling_q <= filling & ~filled;
      full_q    <= (full_q | filled) & ~held;
      held_q    <= held & ~given;
    end
  end

  `ASSERT(ClaimedWasFree_A,
          claim_i |-> (at(1'b1, claim_at_q) & (filling_q | full_q | held_q)) == '0);
  `ASSERT(FilledWasClaimed_A, (filled & ~filling) == '0);
  `ASSERT(TakenIsFull_A, take_i |-> (at(1'b1, take_at_q) & ~full_q) == '0);
  `ASSERT(GivenWasHeld_A, (given & ~held) == '0);

  for (genvar w = 0; w < Writes; w++) begin : gen_write
    `ASSERT(WrittenWhenClaimed_A,
            write_i[w] |-> (at(1'b1, write_first_i[w] / Size) & ~filling) == '0);
    `ASSERT(WritesOneSlot_A,
            write_i[w] |-> write_first_i[w] / Size == write_last_i[w] / Size &&
            write_last_i[w] < Slots * Size);
  end
  for (genvar r = 0; r < Reads; r++) begin : gen_read
    `ASSERT(ReadWhenHeld_A,
            read_i[r] |-> (at(1'b1, read_first_i[r] / Size) & ~held) == '0);
    `ASSERT(ReadsOneSlot_A,
            read_i[r] |-> read_first_i[r] / Size == read_last_i[r] / Size &&
            read_last_i[r] < Slots * Size);
  end
endmodule
