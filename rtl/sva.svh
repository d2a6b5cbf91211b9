// The assertions of the *_sva.sv files. ASSERT: outside reset. ASSERT_ALWAYS: in modules that have
// none, from the second clock on; its file says BEGUN before. Verilator 5.006 takes a past before
// the first clock as zeros.
`ifndef ACCSIM_SVA_SVH
`define ACCSIM_SVA_SVH

`define ASSERT(name, holds) \
  name: assert property (@(posedge clk_i) disable iff (!rst_ni) (holds))

`define ASSERT_ALWAYS(name, holds) \
  name: assert property (@(posedge clk_i) disable iff (!begun_q) (holds))

`define BEGUN \
  logic begun_q = 1'b0; \
  always_ff @(posedge clk_i) begun_q <= 1'b1;

`endif
