// floor(sqrt(value)), two bits a cycle. What is loaded in a cycle comes RowStep + 1 cycles later;
// one a RowStep.
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

  state_t     state_q, next;
  logic [3:0] count_q;
  logic       busy_q, last;

  function automatic state_t step(state_t s);
    logic [35:0] left, more;
    logic        bit_on;
    left   = {s.remainder, s.value[63:62]};
    more   = {2'b0, s.root, 2'b01};
    bit_on = left >= more;
    if (bit_on) left = left - more;
    return '{remainder: left[33:0], value: {s.value[61:0], 2'b00}, root: {s.root[30:0], bit_on}};
  endfunction

  assign next = step(step(state_q));
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
      state_q <= '{remainder: '0, value: value_i, root: '0};
      count_q <= '0;
    end else if (busy_q) begin
      state_q <= next;
      count_q <= count_q + 1'b1;
    end
    if (last) result_o <= next.root;
  end
endmodule
