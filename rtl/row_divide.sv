// floor(numerator * 2^31 / divisor), with numerator < divisor: restoring divisions in lanes, each
// of RowStep cycles, two bits in each. What is loaded in a cycle comes RowStep + 1 cycles later.
// There are no more than Lanes loads in any RowStep cycles.
module row_divide
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = RowStep / 2
) (
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

  state_t [Lanes-1:0]                    state_q, next;
  logic   [Lanes-1:0][31:0]              divisor_q;
  logic   [Lanes-1:0]                    load;
  logic                                  busy, ends;
  logic   [max_of($clog2(Lanes), 1)-1:0] lane;

  row_turns #(.Lanes(Lanes)) u_turns (
    .clk_i, .rst_ni, .load_i, .load_o(load), .busy_o(busy), .end_o(ends), .lane_o(lane));

  function automatic state_t step(state_t s, logic [31:0] divisor);
    logic [32:0] doubled;
    logic        more;
    doubled = {s.remainder, 1'b0};
    more    = doubled >= {1'b0, divisor};
    if (more) doubled = doubled - {1'b0, divisor};
    return '{remainder: doubled[31:0], quotient: {s.quotient[30:0], more}};
  endfunction

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    assign next[i] = step(step(state_q[i], divisor_q[i]), divisor_q[i]);

    always_ff @(posedge clk_i) begin
      if (load[i]) begin
        state_q[i]   <= '{remainder: {1'b0, numerator_i}, quotient: '0};
        divisor_q[i] <= divisor_i;
      end else if (busy) begin
        state_q[i] <= next[i];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_o <= 1'b0;
    else         done_o <= ends;
  end

  always_ff @(posedge clk_i) begin
    // The last bit is one more than is asked for.
    if (ends) result_o <= next[lane].quotient[31:1];
  end
endmodule
