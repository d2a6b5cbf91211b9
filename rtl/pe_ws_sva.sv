// Checks pe_ws.sv: what is held changes by a swap only.
`include "sva.svh"

module pe_ws_sva
  import accsim_pkg::*;
(
  input logic              clk_i,
  input logic              write_i,
  input logic              swap_i,
  input operand_t          shadow_q,
  input operand_t          held_q
);
  `BEGUN

  `ASSERT_ALWAYS(HeldStays_A, !swap_i |=> $stable(held_q));
  `ASSERT_ALWAYS(ShadowStays_A, !write_i |=> $stable(shadow_q));
endmodule

bind pe_ws pe_ws_sva u_sva (.*);
