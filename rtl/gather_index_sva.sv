// Checks gather_index.sv: as many indices are read as there are items, limited, and no item is
// begun before its address is there.
`include "sva.svh"

module gather_index_sva
  import accsim_pkg::*;
(
  input logic                 clk_i,
  input logic                 load_i,
  input logic                 active_i,
  input logic                 next_i,
  input logic                 read_o,
  input word_t                addr_o,
  input logic                 first_o,
  input logic                 ready_o,
  input logic                 gather_q, filling,
  input word_t                left_q, last_q, row_q
);
  logic  has_item_q = 1'b0;  // a gathered load has its first item
  word_t items_q = '0;    // of it that were begun
  word_t reads_q = '0;    // indices read

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      has_item_q <= 1'b0;
      items_q <= '0;
      reads_q <= '0;
    end else begin
      if (first_o) has_item_q <= 1'b1;
      if (first_o || (has_item_q && next_i)) items_q <= items_q + 1;
      if (read_o) reads_q <= reads_q + 1;
    end
  end

  `BEGUN
  `ASSERT_ALWAYS(ReadsInOrder_A, read_o && !load_i |=> addr_o == $past(addr_o) + IndexBytes);
  `ASSERT_ALWAYS(ReadsWhenActive_A, read_o |-> gather_q && active_i && left_q != '0);
  `ASSERT_ALWAYS(ItemsWaitForTheFirst_A, gather_q && next_i |-> ready_o && has_item_q);
  `ASSERT_ALWAYS(ItemWasRead_A, gather_q && has_item_q |-> items_q <= reads_q || left_q == '0);
  `ASSERT_ALWAYS(RowIsLimited_A, gather_q && has_item_q |-> row_q <= last_q);
  `ASSERT_ALWAYS(FillingIsReading_A, filling |-> gather_q);
endmodule

bind gather_index gather_index_sva u_sva (.*);
