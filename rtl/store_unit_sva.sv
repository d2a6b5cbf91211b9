// Checks store_unit.sv: a request stays until it is taken, its bytes come from the slot, tokens
// taken are there.
`include "sva.svh"

module store_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Stride = 1024,
  parameter int unsigned Port   = 16
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [2:0]           full_i,
  input logic [2:0]           take_o,
  input logic [2:0]           free_o,
  input logic [Regions-1:0]   region_free_i,
  input logic [Regions-1:0]   region_take_o,
  input logic                 turn_i,
  input logic                 turn_take_o,
  input logic                 read_o,
  input logic                 req_valid_o,
  input logic                 req_ready_i,
  input logic [AddrWidth-1:0] req_addr_o,
  input bytes_t               req_bytes_o,
  input logic                 req_shared_o,
  input logic                 req_last_o,
  input region_tag_t          req_tag_o,
  input word_t                offset,
  input bytes_t               bytes
);
  if (Port < 1) begin : gen_illegal
    $error("store_unit: the port has at least one byte");
  end

  `ASSERT(RequestStable_A,
          req_valid_o && !req_ready_i |=> req_valid_o && $stable(req_addr_o) &&
          $stable(req_bytes_o) && $stable(req_shared_o) && $stable(req_last_o) &&
          $stable(req_tag_o));
  `ASSERT(NotReadOver_A, read_o |-> !req_valid_o || req_ready_i);
  `ASSERT(OneTokenAtMost_A, $onehot0(take_o) && $onehot0(free_o));
  `ASSERT(TokenTakenIsFull_A, (take_o & ~full_i) == '0);
  `ASSERT(FreeWhenTheLastIsTaken_A, free_o != '0 |-> req_valid_o && req_ready_i && req_last_o);
  `ASSERT(RegionTokenTakenIsFree_A, (region_take_o & ~region_free_i) == '0);
  `ASSERT(TurnTakenIsThere_A, turn_take_o |-> turn_i);
  `ASSERT(StaysInItsSlot_A, read_o |-> offset + 32'(bytes) <= 32'(Stride));
endmodule

bind store_unit store_unit_sva #(.Stride(Stride), .Port(Port)) u_sva (.*);
