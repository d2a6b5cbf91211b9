// Checks row_root.sv: a result comes RowStep + 1 cycles behind what was loaded, and is its root.
`include "sva.svh"

module row_root_sva
  import accsim_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        load_i,
  input logic [63:0] value_i,
  input logic        done_o,
  input logic [31:0] result_o
);
  logic [RowStep:0]       loaded_q;
  logic [RowStep:0][63:0] asked_q;
  logic [63:0]            asked;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) loaded_q <= '0;
    else         loaded_q <= {loaded_q[RowStep-1:0], load_i};
  end
  always_ff @(posedge clk_i) asked_q <= {asked_q[RowStep-1:0], value_i};
  assign asked = asked_q[RowStep];

  `ASSERT(InItsCycle_A, done_o == loaded_q[RowStep]);
  `ASSERT(IsTheRoot_A,
          done_o |-> 66'(result_o) * 66'(result_o) <= {2'b0, asked} &&
          (66'(result_o) + 66'd1) * (66'(result_o) + 66'd1) > {2'b0, asked});
endmodule

bind row_root row_root_sva u_sva (.*);
