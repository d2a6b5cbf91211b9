// Checks row_divide.sv: a result comes RowStep + 1 cycles behind its operands, and is the quotient.
`include "sva.svh"

module row_divide_sva
  import accsim_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        load_i,
  input logic [30:0] numerator_i,
  input logic [31:0] divisor_i,
  input logic        done_o,
  input logic [30:0] result_o,
  input logic        ends,
  input logic [31:0] remainder, divisor  // of the lane that ends
);
  logic [RowStep:0]       loaded_q;
  logic [RowStep:0][30:0] asked_q;
  logic [RowStep:0][31:0] by_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) loaded_q <= '0;
    else         loaded_q <= {loaded_q[RowStep-1:0], load_i};
  end
  always_ff @(posedge clk_i) begin
    asked_q <= {asked_q[RowStep-1:0], numerator_i};
    by_q    <= {by_q[RowStep-1:0], divisor_i};
  end

  `ASSERT(LessThanOne_A, load_i |-> divisor_i[31] && {1'b0, numerator_i} < divisor_i);
  `ASSERT(RemainderIsLess_A, ends |-> remainder < divisor);
  `ASSERT(InItsCycle_A, done_o == loaded_q[RowStep]);
  `ASSERT(IsTheQuotient_A,
          done_o |-> 64'(result_o) * 64'(by_q[RowStep]) <= {2'b0, asked_q[RowStep], 31'b0} &&
          (64'(result_o) + 64'd1) * 64'(by_q[RowStep]) > {2'b0, asked_q[RowStep], 31'b0});
endmodule

bind row_divide row_divide_sva u_sva (
  .remainder(state_q[lane].remainder), .divisor(divisor_q[lane]), .*
);
