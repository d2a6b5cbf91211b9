// Checks weight_walk.sv: rows that are there are read, those beyond are zeros, a row stays until
// the next.
`include "sva.svh"

module weight_walk_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes    = 8,
  parameter int unsigned LaneBits = 4
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                load_i,
  input word_t               lanes_i,
  input logic                read_o,
  input word_t               left_q,
  input logic                step_q,
  input logic                read_q,
  input logic [LaneBits-1:0] lanes_q,
  input logic [Lanes*8-1:0]  row_q
);
  if (Lanes < 1) begin : gen_illegal
    $error("weight_walk: at least one lane");
  end

  `ASSERT(LanesAreThere_A, load_i |-> lanes_i <= 32'(Lanes));
  `ASSERT(LanesStay_A, !load_i |=> $stable(lanes_q));
  `ASSERT(ReadsWhatIsLeft_A, read_o |-> left_q != '0);
  `ASSERT(ZerosBeyond_A, step_q && !read_q |=> row_q == '0);
  `ASSERT(RowStays_A, !step_q |=> $stable(row_q));
endmodule

bind weight_walk weight_walk_sva #(.Lanes(Lanes), .LaneBits(LaneBits)) u_sva (.*);
