// floor(numerator * 2^31 / divisor), with numerator < divisor: a restoring division of two bits a
// cycle. What is loaded in a cycle comes RowStep + 1 cycles later; one a RowStep.
module row_divide
  import accsim_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        load_i,
  input  logic [30:0] numerator_i,
  input  logic [31:0] divisor_i,
  output logic        done_o,  // the result is there, for this cycle at least
  output logic [30:0] result_o
);
  // The remainder, less than the divisor, and the bits of the quotient so far.
  typedef struct packed {
    logic [31:0] remainder;
    logic [31:0] quotient;
  } state_t;

  state_t      state_q, next;
  logic [31:0] divisor_q;
  logic [3:0]  count_q;
  logic        busy_q, last;

  function automatic state_t step(state_t s, logic [31:0] divisor);
    logic [32:0] doubled;
    logic        more;
    doubled = {s.remainder, 1'b0};
    more    = doubled >= {1'b0, divisor};
    if (more) doubled = doubled - {1'b0, divisor};
    return '{remainder: doubled[31:0], quotient: {s.quotient[30:0], more}};
  endfunction

  assign next = step(step(state_q, divisor_q), divisor_q);
  assign last = busy_q && count_q == 4'(RowStep - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      done_o <= last;
      if (load_i)    busy_q <= 1'b1;
      else if (last) busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      state_q   <= '{remainder: {1'b0, numerator_i}, quotient: '0};
      divisor_q <= divisor_i;
      count_q   <= '0;
    end else if (busy_q) begin
      state_q <= next;
      count_q <= count_q + 1'b1;
    end
    if (last) result_o <= next.quotient[31:1];  // the last bit is one more than is asked for
  end
endmodule
