// Checks slot_mem.sv: writes stay in the memory; read data holds, or is gone, as it was asked for.
`include "sva.svh"

module slot_mem_sva
  import accsim_pkg::*;
#(
  parameter int unsigned Bytes      = 1024,
  parameter int unsigned WriteBytes = 16,
  parameter int unsigned Writes     = 1,
  parameter int unsigned ReadBytes  = 16,
  parameter int unsigned ReadPorts  = 1,
  parameter bit [ReadPorts-1:0] Hold = '0,
  parameter bit          Scatter    = 1'b0
) (
  input logic                                   clk_i,
  input logic [Writes-1:0]                      write_i,
  input logic                                   scatter_i,
  input word_t [Writes-1:0]                     write_addr_i,
  input word_t                                  write_pitch_i,
  input bytes_t [Writes-1:0]                    write_bytes_i,
  input logic [ReadPorts-1:0]                   read_i,
  input byte_t [ReadPorts-1:0][ReadBytes-1:0]   read_data_o
);
  `BEGUN

  if (Bytes < 1 || WriteBytes < 1 || ReadBytes < 1 || ReadPorts < 1) begin : gen_illegal
    $error("slot_mem: no size may be zero");
  end
  if (Writes < 1) begin : gen_illegal_ports
    $error("slot_mem: there is a write port");
  end

  word_t [Writes-1:0] last;  // byte that a write touches
  for (genvar w = 0; w < Writes; w++) begin : gen_write
    assign last[w] = write_addr_i[w] +
                     (32'(write_bytes_i[w]) - 1) * (scatter_i && w == 0 ? write_pitch_i : 32'd1);
    `ASSERT_ALWAYS(WriteFitsThePort_A,
                   write_i[w] |-> write_bytes_i[w] != '0 &&
                   32'(write_bytes_i[w]) <= 32'(WriteBytes));
    `ASSERT_ALWAYS(WriteStaysInside_A,
                   write_i[w] |-> write_addr_i[w] <= last[w] && last[w] < 32'(Bytes));
    if (!Scatter && w == 0) begin : gen_dense
      `ASSERT_ALWAYS(OneAddressAWrite_A, write_i[w] |-> !scatter_i);
    end
  end
  // Two ports may write in one cycle, but not the same bytes; single bytes at a stride are spared.
  for (genvar w = 1; w < Writes; w++) begin : gen_two
    for (genvar v = 0; v < w; v++) begin : gen_other
      `ASSERT_ALWAYS(WritesDontMeet_A,
                     write_i[w] && write_i[v] && !(scatter_i && v == 0) |->
                     write_addr_i[v] > last[w] || write_addr_i[w] > last[v]);
    end
  end

  for (genvar p = 0; p < ReadPorts; p++) begin : gen_read
    if (Hold[p]) begin : gen_hold
      logic seen_q = 1'b0;  // something has been read
      always_ff @(posedge clk_i) seen_q <= seen_q || read_i[p];
      `ASSERT_ALWAYS(Holds_A, seen_q && !read_i[p] |=> $stable(read_data_o[p]));
    end else begin : gen_once
      `ASSERT_ALWAYS(GoneAfterACycle_A, !read_i[p] |=> read_data_o[p] == '0);
    end
  end
endmodule

bind slot_mem slot_mem_sva #(
  .Bytes(Bytes), .WriteBytes(WriteBytes), .Writes(Writes), .ReadBytes(ReadBytes),
  .ReadPorts(ReadPorts), .Hold(Hold), .Scatter(Scatter)
) u_sva (.*);
