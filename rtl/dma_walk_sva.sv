// Checks dma_walk.sv: only a loaded walk is stepped, to its last beat and not beyond.
`include "sva.svh"

module dma_walk_sva
  import accsim_pkg::*;
(
  input logic                clk_i,
  input logic                load_i,
  input dma_cmd_t            cmd_i,
  input logic                step_i,
  input bytes_t              port_bytes_i,
  input bytes_t              bytes_o,
  input logic                last_o,
  input word_t [Levels-1:0]  index_q,
  input word_t [Levels-1:0]  count_q,
  input word_t               left_q,
  input word_t               run_q
);
  `BEGUN

  logic walks_q = 1'b0;  // beats are left
  always_ff @(posedge clk_i) begin
    if (load_i)                walks_q <= 1'b1;
    else if (step_i && last_o) walks_q <= 1'b0;
  end

  logic counts, in_range;
  always_comb begin
    counts = cmd_i.run != '0;
    in_range = left_q != '0 && left_q <= run_q;
    for (int unsigned l = 0; l < Levels; l++) begin
      counts &= cmd_i.count[l] != '0;
      in_range &= index_q[l] < count_q[l];
    end
  end

  `ASSERT_ALWAYS(CountsArePositive_A, load_i |-> counts);
  `ASSERT_ALWAYS(StepsOfAWalk_A, step_i |-> walks_q);
  `ASSERT_ALWAYS(BeatFitsThePort_A, step_i |-> bytes_o != '0 && bytes_o <= port_bytes_i);
  `ASSERT_ALWAYS(IndicesInside_A, walks_q |-> in_range);
  `ASSERT_ALWAYS(NotLoadedOver_A, load_i && walks_q |-> step_i && last_o);
endmodule

bind dma_walk dma_walk_sva u_sva (.*);
