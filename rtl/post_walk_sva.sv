// Checks post_walk.sv: beats are of rows, columns and groups that are there, and the parameters
// that a beat reads lie in the slot of its post.
`include "sva.svh"

module post_walk_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input logic        clk_i,
  input logic        load_i,
  input post_cmd_t   cmd_i,
  input logic        step_i,
  input word_t       rows_left_q, cols_left_q, groups_left_q,
  input logic        first_o, last_o, end_o,
  input bytes_t      select_o, columns_o,
  input word_t       out_addr_o
);
  if (Lanes < 1) begin : gen_illegal
    $error("post_walk: at least one lane");
  end

  `BEGUN

  `ASSERT_ALWAYS(BeatsAreLeft_A,
      step_i |-> rows_left_q != '0 && cols_left_q != '0 && cols_left_q <= cmd_i.cols);
  `ASSERT_ALWAYS(GroupsAreLeft_A,
      step_i |-> groups_left_q != '0 && groups_left_q <= cmd_i.groups &&
                 first_o == (groups_left_q == cmd_i.groups));
  `ASSERT_ALWAYS(ColumnsInTheRow_A,
      step_i |-> columns_o != '0 && 32'(select_o) + 32'(columns_o) <= cmd_i.cols);
  `ASSERT_ALWAYS(EndsWithTheLastGroup_A, step_i && end_o |-> last_o);
  `ASSERT_ALWAYS(GroupsGoToOnePlace_A,
      step_i && !last_o && !load_i |=> $stable(select_o) && $stable(out_addr_o));
endmodule

bind post_walk post_walk_sva #(.Lanes(Lanes)) u_sva (.*);
