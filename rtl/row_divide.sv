// floor(numerator * 2^31 / divisor), with numerator < divisor: a restoring division in RowStep
// stages of two bits each. Takes one a cycle; what is loaded in a cycle comes RowStep + 1 cycles
// later.
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

  state_t [RowStep-1:0]       state_q;  // before each stage
  logic   [RowStep-1:0][31:0] divisor_q;
  logic   [RowStep-1:0]       on_q;
  state_t [RowStep-1:0]       next;

  function automatic state_t step(state_t s, logic [31:0] divisor);
    logic [32:0] doubled;
    logic        more;
    doubled = {s.remainder, 1'b0};
    more    = doubled >= {1'b0, divisor};
    if (more) doubled = doubled - {1'b0, divisor};
    return '{remainder: doubled[31:0], quotient: {s.quotient[30:0], more}};
  endfunction

  for (genvar i = 0; i < RowStep; i++) begin : gen_stage
    assign next[i] = step(step(state_q[i], divisor_q[i]), divisor_q[i]);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {done_o, on_q} <= '0;
    else         {done_o, on_q} <= {on_q, load_i};
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      state_q[0]   <= '{remainder: {1'b0, numerator_i}, quotient: '0};
      divisor_q[0] <= divisor_i;
    end
    for (int unsigned i = 1; i < RowStep; i++) begin
      if (on_q[i-1]) begin
        state_q[i]   <= next[i-1];
        divisor_q[i] <= divisor_q[i-1];
      end
    end
    // The last bit is one more than is asked for.
    if (on_q[RowStep-1]) result_o <= next[RowStep-1].quotient[31:1];
  end
endmodule
