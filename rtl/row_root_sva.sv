// Checks row_root.sv: a result is the root of what was loaded, and nothing is loaded too soon.
`include "sva.svh"

module row_root_sva (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        load_i,
  input logic [63:0] value_i,
  input logic        done_o,
  input logic [31:0] result_o,
  input logic        busy_q, last
);
  logic [63:0] value_q, asked_q;
  always_ff @(posedge clk_i) begin
    if (load_i) value_q <= value_i;
    if (last)   asked_q <= value_q;
  end

  `ASSERT(OneAtATime_A, load_i |-> !busy_q || last);
  `ASSERT(IsTheRoot_A,
          done_o |-> 66'(result_o) * 66'(result_o) <= {2'b0, asked_q} &&
          (66'(result_o) + 66'd1) * (66'(result_o) + 66'd1) > {2'b0, asked_q});
endmodule

bind row_root row_root_sva u_sva (.*);
