// Checks pe_os.sv: a sum on its way out stays, or moves down, or is replaced by the next.
`include "sva.svh"

module pe_os_sva
  import accsim_pkg::*;
(
  input logic               clk_i,
  input logic               capture_i,
  input logic               shift_i,
  input sum_t               drain_q
);
  `BEGUN

  `ASSERT_ALWAYS(DrainStays_A, !capture_i && !shift_i |=> $stable(drain_q));
endmodule

bind pe_os pe_os_sva u_sva (.*);
