// How many commands with a mark are done: loads at their end, stores and stages when their last
// byte is in memory. What counts together is done in the order of its queue.
module memory_marks
  import accsim_pkg::*;
(
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              load_i,
  input  logic        [2:0] done_i,  // stores to DRAM, to shared, stages
  input  region_tag_t [2:0] done_tag_i,
  output marks_t            marks_o
);
  logic [2:0] marked;
  marks_t     marks_q;
  logic       unused_region;

  always_comb begin
    unused_region = 1'b0;
    for (int unsigned i = 0; i < 3; i++) begin
      marked[i] = done_i[i] && done_tag_i[i].mark;
      unused_region ^= ^{done_tag_i[i].signal, done_tag_i[i].region};
    end
  end
  assign marks_o = marks_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marks_q <= '0;
    end else begin
      marks_q.loaded        <= marks_q.loaded + 32'(load_i);
      marks_q.stored        <= marks_q.stored + 32'(marked[0]);
      marks_q.stored_shared <= marks_q.stored_shared + 32'(marked[1]);
      marks_q.staged        <= marks_q.staged + 32'(marked[2]);
    end
  end
endmodule
