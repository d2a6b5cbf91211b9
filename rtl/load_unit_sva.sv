// Checks load_unit.sv: a request stays until it is taken, its bytes stay in the slot, tokens taken
// are there.
`include "sva.svh"

module load_unit_sva
  import accsim_pkg::*;
#(
  parameter int unsigned ActPort = 16,
  parameter int unsigned WgtPort = 16,
  parameter int unsigned ParPort = 16,
  parameter int unsigned ActStride = 1024,
  parameter int unsigned WgtStride = 1024,
  parameter int unsigned ParStride = 1024,
  parameter int unsigned OutPort = 16,
  parameter int unsigned OutStride = 1024
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input logic [3:0][2:0]      free_i,
  input logic                 par_full_i,
  input logic                 par_take_o, par_give_o,
  input logic [3:0]           take_o,
  input logic [1:0]           from_o,
  input logic [Regions-1:0]   region_full_i,
  input logic [Regions-1:0]   region_take_o,
  input logic                 turn_i,
  input logic                 turn_take_o,
  input logic                 req_valid_o,
  input logic                 req_ready_i,
  input logic [AddrWidth-1:0] req_addr_o,
  input bytes_t               req_bytes_o,
  input logic                 req_shared_o,
  input logic                 req_last_o,
  input logic                 req_signal_o,
  input load_tag_t            req_tag_o,
  input logic                 done,
  input word_t                offset
);
  if (ActPort < 1 || WgtPort < 1 || ParPort < 1 || OutPort < 1) begin : gen_illegal
    $error("load_unit: a port has at least one byte");
  end

  word_t stride;
  always_comb begin
    case (req_tag_o.buffer)
      BufActivation: stride = 32'(ActStride);
      BufWeight:     stride = 32'(WgtStride);
      BufParameter:  stride = 32'(ParStride);
      BufOutput:     stride = 32'(OutStride);
      default:       stride = '0;
    endcase
  end

  `ASSERT(RequestStable_A,
          req_valid_o && !req_ready_i |=> req_valid_o && $stable(req_addr_o) &&
          $stable(req_bytes_o) && $stable(req_shared_o) && $stable(req_last_o) &&
          $stable(req_signal_o) && $stable(req_tag_o));
  `ASSERT(OneTokenAtMost_A, $onehot0(take_o));
  for (genvar b = 0; b < 4; b++) begin : gen_buffer
    `ASSERT(TokenTakenIsFree_A,
            take_o[b] |-> from_o == FromNone || free_i[b][from_o - 2'd1]);
  end
  `ASSERT(IndicesTakenAreFull_A, par_take_o |-> par_full_i);
  `ASSERT(IndicesGivenAtTheEnd_A, par_give_o |-> $past(done));
  `ASSERT(RegionTokenTakenIsFull_A, (region_take_o & ~region_full_i) == '0);
  `ASSERT(TurnTakenIsThere_A, turn_take_o |-> turn_i);
  `ASSERT(StaysInItsSlot_A, req_valid_o |-> offset + 32'(req_bytes_o) <= stride);
endmodule

bind load_unit load_unit_sva #(
  .ActPort(ActPort), .WgtPort(WgtPort), .ParPort(ParPort), .ActStride(ActStride),
  .WgtStride(WgtStride), .ParStride(ParStride), .OutPort(OutPort), .OutStride(OutStride)
) u_sva (.*);
