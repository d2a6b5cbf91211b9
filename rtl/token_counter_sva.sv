// Checks token_counter.sv: tokens are never negative, nor more than there are slots.
`include "sva.svh"

module token_counter_sva #(
  parameter int unsigned Initial = 0,
  parameter int unsigned Max     = 2,
  parameter int unsigned Width   = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             give_i,
  input logic             take_i,
  input logic [Width-1:0] count_q
);
  if (Max < 1 || Initial > Max) begin : gen_illegal
    $error("token_counter: there is at least one token, and at first not more than at most");
  end

  `ASSERT(TokenTakenIsThere_A, take_i |-> count_q != '0);
  `ASSERT(TokenGivenHasRoom_A, give_i && !take_i |-> count_q < Width'(Max));
endmodule

bind token_counter token_counter_sva #(.Initial(Initial), .Max(Max), .Width(Width)) u_sva (.*);
