// Checks lookup_table.sv: beats are written where they begin; what is looked up was written.
`include "sva.svh"

module lookup_table_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input logic                  clk_i,
  input logic                  write_i,
  input code_t                 entry_i,
  input code_t [Lanes-1:0]     value_i,
  input code_t [Lanes-1:0]     result_o
);
  `BEGUN

  if (Lanes < 1) begin : gen_illegal
    $error("lookup_table: there is a lane");
  end

  `ASSERT_ALWAYS(WholeBeats_A, write_i |-> 32'(entry_i) % TableBeat == 0);
  for (genvar i = 1; i < Lanes; i++) begin : gen_lane
    `ASSERT_ALWAYS(SameForAllLanes_A, value_i[i] == value_i[0] |-> result_o[i] == result_o[0]);
  end
endmodule

bind lookup_table lookup_table_sva #(.Lanes(Lanes)) u_sva (.*);
