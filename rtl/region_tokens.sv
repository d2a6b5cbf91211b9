// Tokens of the regions in memory, whose turn it is on DRAM's channels, and how many marks are
// reached. A program has one queue that fills a region and one that reads it; slots that a region
// begins with are claimed without a token.
module region_tokens
  import accsim_pkg::*;
#(
  parameter int unsigned Max = 16  // slots of a region
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic [Regions-1:0] store_take_i, stage_free_take_i,  // a slot to fill
  input  logic [Regions-1:0] load_take_i, stage_full_take_i,   // a slot to read
  input  logic [Regions-1:0] load_give_i, stage_give_i,        // it has been read
  input  logic [2:0]         done_i,  // it has been filled: by stores to DRAM, to shared, by stage
  input  region_tag_t [2:0]  done_tag_i,
  output logic [Regions-1:0] free_o, full_o,
  input  logic               load_mark_i,
  output marks_t             marks_o,
  // Turns on DRAM: of the load queue (reads), the store queue (writes), the stage queue (both).
  input  logic               load_turn_take_i, load_turn_give_i,
  input  logic               store_turn_take_i, store_turn_give_i,
  input  logic [1:0]         stage_turn_take_i, stage_turn_give_i,
  output logic               load_turn_o, store_turn_o,
  output logic [1:0]         stage_turn_o
);
  for (genvar r = 0; r < Regions; r++) begin : gen_region
    logic [2:0] filled;
    for (genvar f = 0; f < 3; f++) begin : gen_filler
      assign filled[f] = done_i[f] && done_tag_i[f].signal &&
                         done_tag_i[f].region == 3'(unsigned'(r));
    end
    token_counter #(.Max(Max)) u_full (.clk_i, .rst_ni, .give_i(|filled),
      .take_i(load_take_i[r] || stage_full_take_i[r]), .some_o(full_o[r]));
    token_counter #(.Max(Max)) u_free (.clk_i, .rst_ni,
      .give_i(load_give_i[r] || stage_give_i[r]),
      .take_i(store_take_i[r] || stage_free_take_i[r]), .some_o(free_o[r]));
  end

  memory_marks u_marks (.clk_i, .rst_ni, .load_i(load_mark_i), .done_i, .done_tag_i, .marks_o);

  token_counter #(.Max(1)) u_load_turn (.clk_i, .rst_ni, .give_i(stage_turn_give_i[0]),
    .take_i(load_turn_take_i), .some_o(load_turn_o));
  token_counter #(.Max(1)) u_store_turn (.clk_i, .rst_ni, .give_i(stage_turn_give_i[1]),
    .take_i(store_turn_take_i), .some_o(store_turn_o));
  token_counter #(.Max(1)) u_stage_read_turn (.clk_i, .rst_ni, .give_i(load_turn_give_i),
    .take_i(stage_turn_take_i[0]), .some_o(stage_turn_o[0]));
  token_counter #(.Max(1)) u_stage_write_turn (.clk_i, .rst_ni, .give_i(store_turn_give_i),
    .take_i(stage_turn_take_i[1]), .some_o(stage_turn_o[1]));
endmodule
