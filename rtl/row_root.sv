// floor(sqrt(value)) in RowStep stages of two bits each. Takes one a cycle; what is loaded in a
// cycle comes RowStep + 1 cycles later.
module row_root
  import accsim_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        load_i,
  input  logic [63:0] value_i,
  output logic        done_o,  // the result is there, for this cycle at least
  output logic [31:0] result_o
);
  // What is left of the value, digits of base 4 that come next, and the bits of the root so far.
  typedef struct packed {
    logic [33:0] remainder;
    logic [63:0] value;
    logic [31:0] root;
  } state_t;

  state_t [RowStep-1:0] state_q;  // before each stage
  logic   [RowStep-1:0] on_q;
  state_t [RowStep-1:0] next;

  function automatic state_t step(state_t s);
    logic [35:0] left, more;
    logic        bit_on;
    left   = {s.remainder, s.value[63:62]};
    more   = {2'b0, s.root, 2'b01};
    bit_on = left >= more;
    if (bit_on) left = left - more;
    return '{remainder: left[33:0], value: {s.value[61:0], 2'b00}, root: {s.root[30:0], bit_on}};
  endfunction

  for (genvar i = 0; i < RowStep; i++) begin : gen_stage
    assign next[i] = step(step(state_q[i]));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {done_o, on_q} <= '0;
    else         {done_o, on_q} <= {on_q, load_i};
  end

  always_ff @(posedge clk_i) begin
    if (load_i) state_q[0] <= '{remainder: '0, value: value_i, root: '0};
    for (int unsigned i = 1; i < RowStep; i++) begin
      if (on_q[i-1]) state_q[i] <= next[i-1];
    end
    if (on_q[RowStep-1]) result_o <= next[RowStep-1].root;
  end
endmodule
