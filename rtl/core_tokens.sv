// The tokens between the queues. A buffer that one queue fills and another one reads has its
// slot_tokens; where more than one fills or reads, each pair has counters of its own, so that a
// token goes to the queue that the program's order gives it to. The slots that such a buffer begins
// with are claimed without a token.
module core_tokens
  import accsim_pkg::*;
#(
  parameter int unsigned ActSlots = 2, WgtSlots = 2, ParSlots = 2, AccSlots = 2, OutSlots = 2
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  // Load
  input  logic [3:0]      load_take_i,  // by buffer
  input  logic [1:0]      load_from_i,
  input  logic [3:0][2:0] load_full_i,  // by buffer and by who reads the slot
  output logic [3:0][2:0] load_free_o,  // by buffer and by whom the token comes from
  input  logic            load_par_take_i, load_par_give_i,
  output logic            load_par_full_o,
  // Execute
  input  logic            act_take_i, act_give_i, wgt_take_i, wgt_give_i, acc_claim_i, acc_done_i,
  output logic            act_full_o, wgt_full_o, acc_free_o,
  // Post
  input  logic            acc_take_i, acc_give_i, par_take_i, par_give_i,
  input  logic            post_claim_i, post_add_i, post_done_i,  // output slots
  output logic            acc_full_o, par_full_o, post_free_o, post_primed_o,
  // Vector
  input  logic            vec_act_take_i, vec_act_give_i, vec_par_take_i, vec_par_give_i,
  input  logic            vec_claim_i, vec_done_i,
  output logic            vec_act_full_o, vec_par_full_o, vec_free_o,
  // Store
  input  logic [2:0]      store_take_i, store_give_i,
  output logic [2:0]      store_full_o
);
  localparam logic [1:0] Main = ToMain, Other = ToOther, Load = ToLoad;

  logic [3:0][2:0] load_claim;  // by buffer and by whom the token comes from
  for (genvar b = 0; b < 4; b++) begin : gen_claim
    assign load_claim[b][0] = load_take_i[b] && load_from_i == FromMain;
    assign load_claim[b][1] = load_take_i[b] && load_from_i == FromVector;
    assign load_claim[b][2] = load_take_i[b] && load_from_i == FromLoad;
  end
  assign load_free_o[BufWeight][1] = 1'b0;
  assign load_free_o[BufOutput][1] = 1'b0;
  assign load_free_o[BufActivation][2] = 1'b0;
  assign load_free_o[BufWeight][2] = 1'b0;
  assign load_free_o[BufOutput][2] = 1'b0;

  // Activation: execute and vector.
  token_counter #(.Max(ActSlots)) u_act_full (.clk_i, .rst_ni, .give_i(load_full_i[0][Main]),
    .take_i(act_take_i), .some_o(act_full_o));
  token_counter #(.Max(ActSlots)) u_act_full_vec (.clk_i, .rst_ni, .give_i(load_full_i[0][Other]),
    .take_i(vec_act_take_i), .some_o(vec_act_full_o));
  token_counter #(.Max(ActSlots)) u_act_free (.clk_i, .rst_ni, .give_i(act_give_i),
    .take_i(load_claim[0][0]), .some_o(load_free_o[0][0]));
  token_counter #(.Max(ActSlots)) u_act_free_vec (.clk_i, .rst_ni, .give_i(vec_act_give_i),
    .take_i(load_claim[0][1]), .some_o(load_free_o[0][1]));

  // Weight: execute.
  token_counter #(.Max(WgtSlots)) u_wgt_full (.clk_i, .rst_ni, .give_i(load_full_i[1][Main]),
    .take_i(wgt_take_i), .some_o(wgt_full_o));
  token_counter #(.Max(WgtSlots)) u_wgt_free (.clk_i, .rst_ni, .give_i(wgt_give_i),
    .take_i(load_claim[1][0]), .some_o(load_free_o[1][0]));

  // Parameter: post, vector and, as indices, load.
  token_counter #(.Max(ParSlots)) u_par_full (.clk_i, .rst_ni, .give_i(load_full_i[2][Main]),
    .take_i(par_take_i), .some_o(par_full_o));
  token_counter #(.Max(ParSlots)) u_par_full_vec (.clk_i, .rst_ni, .give_i(load_full_i[2][Other]),
    .take_i(vec_par_take_i), .some_o(vec_par_full_o));
  token_counter #(.Max(ParSlots)) u_par_free (.clk_i, .rst_ni, .give_i(par_give_i),
    .take_i(load_claim[2][0]), .some_o(load_free_o[2][0]));
  token_counter #(.Max(ParSlots)) u_par_free_vec (.clk_i, .rst_ni, .give_i(vec_par_give_i),
    .take_i(load_claim[2][1]), .some_o(load_free_o[2][1]));
  token_counter #(.Max(ParSlots)) u_par_full_load (.clk_i, .rst_ni,
    .give_i(load_full_i[2][Load]), .take_i(load_par_take_i), .some_o(load_par_full_o));
  token_counter #(.Max(ParSlots)) u_par_free_load (.clk_i, .rst_ni, .give_i(load_par_give_i),
    .take_i(load_claim[2][2]), .some_o(load_free_o[2][2]));

  // Accumulator: execute to post.
  slot_tokens #(.Slots(AccSlots)) u_acc (
    .clk_i, .rst_ni, .claim_i(acc_claim_i), .fill_i(acc_done_i), .take_i(acc_take_i),
    .give_i(acc_give_i), .free_o(acc_free_o), .full_o(acc_full_o));

  // Output: load, post and vector to store; load to post, primed.
  token_counter #(.Max(OutSlots)) u_out_primed (.clk_i, .rst_ni, .give_i(load_full_i[3][Other]),
    .take_i(post_add_i), .some_o(post_primed_o));
  token_counter #(.Max(OutSlots)) u_out_full_load (.clk_i, .rst_ni, .give_i(load_full_i[3][Main]),
    .take_i(store_take_i[ByLoad]), .some_o(store_full_o[ByLoad]));
  token_counter #(.Max(OutSlots)) u_out_full_post (.clk_i, .rst_ni, .give_i(post_done_i),
    .take_i(store_take_i[ByPost]), .some_o(store_full_o[ByPost]));
  token_counter #(.Max(OutSlots)) u_out_full_vec (.clk_i, .rst_ni, .give_i(vec_done_i),
    .take_i(store_take_i[ByVector]), .some_o(store_full_o[ByVector]));
  token_counter #(.Max(OutSlots)) u_out_free_load (.clk_i, .rst_ni, .give_i(store_give_i[ByLoad]),
    .take_i(load_claim[3][0]), .some_o(load_free_o[3][0]));
  token_counter #(.Max(OutSlots)) u_out_free_post (.clk_i, .rst_ni, .give_i(store_give_i[ByPost]),
    .take_i(post_claim_i), .some_o(post_free_o));
  token_counter #(.Max(OutSlots)) u_out_free_vec (.clk_i, .rst_ni, .give_i(store_give_i[ByVector]),
    .take_i(vec_claim_i), .some_o(vec_free_o));
endmodule
