// Checks row_divide.sv: a result comes RowStep + 1 cycles behind its operands, is the quotient, and
// no operands come sooner than that.
`include "sva.svh"

module row_divide_sva (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        load_i,
  input logic [30:0] numerator_i,
  input logic [31:0] divisor_i,
  input logic        done_o,
  input logic [30:0] result_o,
  input logic        busy_q, last,
  input logic [31:0] divisor_q,
  input logic [31:0] remainder
);
  logic [30:0] numerator_q, asked_q;
  logic [31:0] by_q;
  always_ff @(posedge clk_i) begin
    if (load_i) numerator_q <= numerator_i;
    if (last) begin
      asked_q <= numerator_q;
      by_q    <= divisor_q;
    end
  end

  `ASSERT(OneAtATime_A, load_i |-> !busy_q || last);
  `ASSERT(LessThanOne_A, load_i |-> divisor_i[31] && {1'b0, numerator_i} < divisor_i);
  `ASSERT(RemainderIsLess_A, busy_q |-> remainder < divisor_q);
  `ASSERT(IsTheQuotient_A,
          done_o |-> 64'(result_o) * 64'(by_q) <= {2'b0, asked_q, 31'b0} &&
          (64'(result_o) + 64'd1) * 64'(by_q) > {2'b0, asked_q, 31'b0});
endmodule

bind row_divide row_divide_sva u_sva (.remainder(state_q.remainder), .*);
