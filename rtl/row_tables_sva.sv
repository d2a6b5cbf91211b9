// Checks row_tables.sv: the tables are read whole and in order, one beat behind the other.
`include "sva.svh"

module row_tables_sva
  import accsim_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       load_i,
  input logic       step_i,
  input logic       read_o,
  input word_t      addr_o,
  input logic       write_q,
  input logic [5:0] step_q
);
  localparam int unsigned Beats = RowTableBytes / RowTableBeat;

  `ASSERT(NotInTheFirstCycle_A, load_i |=> !read_o);
  `ASSERT(OneBehindTheOther_A,
          read_o && !load_i |=> addr_o == $past(addr_o) + RowTableBeat &&
          (read_o || !step_i || step_q == 6'(Beats + 1)));
  `ASSERT(WritesWhatIsRead_A, write_q |-> $past(read_o));
endmodule

bind row_tables row_tables_sva u_sva (.*);
