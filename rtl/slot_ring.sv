// Base address of the slot that one side of a buffer uses now.
module slot_ring
  import accsim_pkg::*;
#(
  parameter int unsigned Slots  = 2,
  parameter int unsigned Stride = 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        advance_i,
  output word_t       base_o
);
  localparam word_t Last = 32'((Slots - 1) * Stride);
  word_t base_q;

  assign base_o = base_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)        base_q <= '0;
    else if (advance_i) base_q <= base_q == Last ? '0 : base_q + 32'(Stride);
  end
endmodule
