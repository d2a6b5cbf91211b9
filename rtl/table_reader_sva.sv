// Checks table_reader.sv: it reads only when what came before has left the unit, and 256 bytes in
// order.
`include "sva.svh"

module table_reader_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Wait = 8,
  parameter int unsigned Bits = 6
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            step_i,
  input logic            read_o,
  input word_t           addr_o,
  input logic            last_o,
  input logic            write_o,
  input code_t           entry_o,
  input logic [Bits-1:0] step_q
);
  if (Wait < 1) begin : gen_illegal
    $error("table_reader: what came before takes at least a cycle");
  end

  `ASSERT(ReadsAtWork_A, read_o |-> step_i && step_q >= Bits'(Wait));
  `ASSERT(EndsWithTheTable_A,
          write_o && entry_o == code_t'(TableBytes - TableBeat) |-> $past(last_o));
  `ASSERT(InOrder_A, read_o && !last_o |=> addr_o == $past(addr_o) + TableBeat);
  `ASSERT(WritesWhatItRead_A, write_o |-> $past(read_o));
endmodule

bind table_reader table_reader_sva #(.Wait(Wait), .Bits(Bits)) u_sva (.*);
