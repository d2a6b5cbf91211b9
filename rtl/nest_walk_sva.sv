// Checks nest_walk.sv: only what is loaded is stepped, within its counts; a step moves one level
// on.
`include "sva.svh"

module nest_walk_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Depth   = 7,
  parameter int unsigned Streams = 3
) (
  input logic                clk_i,
  input logic                load_i,
  input word_t [Depth-1:0]   count_i,
  input logic                step_i,
  input logic  [Depth-1:0]   first_o,
  input logic  [Depth-1:0]   last_o,
  input word_t [Depth-1:0]   index_q, count_q
);
  `BEGUN

  if (Depth < 1 || Streams < 1) begin : gen_illegal
    $error("nest_walk: there is a level, and a stream");
  end

  logic loaded_q = 1'b0;  // something has been loaded
  always_ff @(posedge clk_i) loaded_q <= loaded_q || load_i;

  `ASSERT_ALWAYS(SteppedWhenLoaded_A, step_i |-> loaded_q);
  for (genvar l = 0; l < Depth; l++) begin : gen_level
    `ASSERT_ALWAYS(CountsSomething_A, step_i |-> count_q[l] != '0);
    `ASSERT_ALWAYS(WithinItsCount_A, step_i |-> index_q[l] < count_q[l]);
    `ASSERT_ALWAYS(BeginsAtTheStart_A, load_i |=> first_o[l] && count_q[l] == $past(count_i[l]));
    if (l > 0) begin : gen_outer
      `ASSERT_ALWAYS(InnerFirst_A,
                     step_i && !load_i && !(&last_o[l-1:0]) |=> $stable(index_q[l]));
    end
  end
endmodule

bind nest_walk nest_walk_sva #(.Depth(Depth), .Streams(Streams)) u_sva (.*);
