// floor(sqrt(value)) in lanes, each of RowStep cycles with two bits in each. What is loaded in a
// cycle comes RowStep + 1 cycles later. There are no more than Lanes loads in any RowStep cycles.
module row_root
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = RowStep / 2
) (
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

  state_t [Lanes-1:0]                    state_q, next;
  logic   [Lanes-1:0]                    load;
  logic                                  busy, ends;
  logic   [max_of($clog2(Lanes), 1)-1:0] lane;

  row_turns #(.Lanes(Lanes)) u_turns (
    .clk_i, .rst_ni, .load_i, .load_o(load), .busy_o(busy), .end_o(ends), .lane_o(lane));

  function automatic state_t step(state_t s);
    logic [35:0] left, more;
    logic        bit_on;
    left   = {s.remainder, s.value[63:62]};
    more   = {2'b0, s.root, 2'b01};
    bit_on = left >= more;
    if (bit_on) left = left - more;
    return '{remainder: left[33:0], value: {s.value[61:0], 2'b00}, root: {s.root[30:0], bit_on}};
  endfunction

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    assign next[i] = step(step(state_q[i]));

    always_ff @(posedge clk_i) begin
      if (load[i])   state_q[i] <= '{remainder: '0, value: value_i, root: '0};
      else if (busy) state_q[i] <= next[i];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_o <= 1'b0;
    else         done_o <= ends;
  end

  always_ff @(posedge clk_i) begin
    if (ends) result_o <= next[lane].root;
  end
endmodule
