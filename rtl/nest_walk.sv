// A nest of counted loops, one step after the other, and an address for each of some streams: its
// start + the sum of index x stride over the levels. Level 0 is the innermost. Outputs come from
// registers; a nest is loaded the cycle before its first step.
module nest_walk
  import accsim_pkg::*;
#(
  parameter int unsigned Depth  = 7,
  parameter int unsigned Streams = 3
) (
  input  logic                             clk_i,
  input  logic                             load_i,
  input  word_t [Depth-1:0]               count_i,
  input  word_t [Streams-1:0][Depth-1:0]  stride_i,
  input  word_t [Streams-1:0]              start_i,
  input  logic                             step_i,
  output word_t [Streams-1:0]              addr_o,
  output logic  [Depth-1:0]               first_o,  // the level is in its first iteration
  output logic  [Depth-1:0]               last_o    // ... in its last
);
  word_t [Depth-1:0]              index_q, index_d, count_q;
  word_t [Streams-1:0][Depth-1:0] base_q, base_d, stride_q;  // where a level's iteration begins

  for (genvar l = 0; l < Depth; l++) begin : gen_level
    assign first_o[l] = index_q[l] == '0;
    assign last_o[l]  = index_q[l] == count_q[l] - 1;
  end
  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    assign addr_o[s] = base_q[s][0];
  end

  // The innermost level that isn't at its end advances; those inside it start again from there.
  always_comb begin
    automatic logic carry = 1'b1;
    index_d = index_q;
    base_d  = base_q;
    for (int unsigned l = 0; l < Depth; l++) begin
      if (carry) begin
        if (last_o[l]) begin
          index_d[l] = '0;
        end else begin
          carry      = 1'b0;
          index_d[l] = index_q[l] + 1;
          for (int unsigned s = 0; s < Streams; s++) begin
            for (int unsigned i = 0; i <= l; i++) base_d[s][i] = base_q[s][l] + stride_q[s][l];
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      count_q  <= count_i;
      stride_q <= stride_i;
      index_q  <= '0;
      for (int unsigned s = 0; s < Streams; s++) base_q[s] <= {Depth{start_i[s]}};
    end else if (step_i) begin
      index_q <= index_d;
      base_q  <= base_d;
    end
  end
endmodule
