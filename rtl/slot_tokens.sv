// Tokens of one buffer: of free slots for the side that fills them, of full ones for the side that
// reads them.
module slot_tokens #(
  parameter int unsigned Slots = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic claim_i,  // a free slot is taken to be filled
  input  logic fill_i,   // it is full
  input  logic take_i,   // a full slot is taken to be read
  input  logic give_i,   // it is free again
  output logic free_o,   // there is a free slot
  output logic full_o    // ... a full one
);
  token_counter #(.Initial(Slots), .Max(Slots)) u_free (
    .clk_i, .rst_ni, .give_i(give_i), .take_i(claim_i), .some_o(free_o));
  token_counter #(.Initial(0), .Max(Slots)) u_full (
    .clk_i, .rst_ni, .give_i(fill_i), .take_i(take_i), .some_o(full_o));
endmodule
