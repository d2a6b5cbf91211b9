// Checks stage_unit.sv: a request stays until it is taken, tokens and turns taken are there, and
// what is given back is given behind the command.
`include "sva.svh"

module stage_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Port = 16
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [Regions-1:0]   full_i,
  input logic [Regions-1:0]   free_i,
  input logic [Regions-1:0]   full_take_o,
  input logic [Regions-1:0]   free_take_o,
  input logic [Regions-1:0]   give_o,
  input logic [1:0]           turn_i,
  input logic [1:0]           turn_take_o,
  input logic [1:0]           turn_give_o,
  input logic                 req_valid_o,
  input logic                 req_ready_i,
  input logic [AddrWidth-1:0] req_source_o,
  input logic [AddrWidth-1:0] req_target_o,
  input bytes_t               req_bytes_o,
  input logic                 req_shared_o,
  input logic                 req_last_o,
  input region_tag_t          req_tag_o,
  input logic                 retire_o
);
  if (Port < 1) begin : gen_illegal
    $error("stage_unit: the port has at least one byte");
  end

  `ASSERT(RequestStable_A,
          req_valid_o && !req_ready_i |=> req_valid_o && $stable(req_source_o) &&
          $stable(req_target_o) && $stable(req_bytes_o) && $stable(req_shared_o) &&
          $stable(req_last_o) && $stable(req_tag_o));
  `ASSERT(TokensTakenAreThere_A,
          (full_take_o & ~full_i) == '0 && (free_take_o & ~free_i) == '0);
  `ASSERT(TurnTakenIsThere_A, (turn_take_o & ~turn_i) == '0);
  `ASSERT(GivesBehindACommand_A, give_o != '0 || turn_give_o != '0 |-> retire_o);
  `ASSERT(RetiresBehindTheLastBeat_A,
          req_valid_o && req_ready_i && req_last_o |=> retire_o);
endmodule

bind stage_unit stage_unit_sva #(.Port(Port)) u_sva (.*);
