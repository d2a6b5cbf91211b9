// Checks cmd_fifo.sv: both handshakes are stable, and no command is pushed out of a full queue.
`include "sva.svh"

module cmd_fifo_sva #(
  parameter int unsigned Width = 1
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_o,
  input logic [Width-1:0] data_i,
  input logic             valid_o,
  input logic             ready_i,
  input logic [Width-1:0] data_o,
  input logic [1:0]       count_q
);
  `ASSERT(InputStable_A, valid_i && !ready_o |=> valid_i && $stable(data_i));
  `ASSERT(OutputStable_A, valid_o && !ready_i |=> valid_o && $stable(data_o));
  `ASSERT(NoOverflow_A, valid_i && ready_o |-> count_q < 2'd2);
  `ASSERT(NoUnderflow_A, valid_o && ready_i |-> count_q != 2'd0);
endmodule

bind cmd_fifo cmd_fifo_sva #(.Width(Width)) u_sva (.*);
