// Byte-addressed memory of one buffer, all slots: the file that a memory macro replaces. Two banks
// hold even and odd words, so that any `ReadBytes` or `WriteBytes` bytes lie in two words that are
// accessed at once. Read data comes one cycle later. Several read ports stand for copies of the
// banks, or for interleaving by tile line. Read data is there for one cycle, or with Hold (a bit a
// port) until the next read. Write ports write one piece each, never one byte in the same cycle.
// With Scatter, port 0 can write single bytes at a stride instead, and there is another read port
// that reads so.
module slot_mem
  import accsim_pkg::*;
#(
  parameter int unsigned Bytes        = 1024,
  parameter int unsigned WriteBytes   = 16,
  parameter int unsigned Writes       = 1,
  parameter int unsigned ReadBytes    = 16,
  parameter int unsigned ReadPorts    = 1,
  parameter bit [ReadPorts-1:0] Hold  = '0,
  parameter bit          Scatter      = 1'b0,
  parameter int unsigned OldBytes     = 1  // of the other read port
) (
  input  logic                                    clk_i,
  input  logic [Writes-1:0]                       write_i,
  input  logic                                    scatter_i,
  input  word_t [Writes-1:0]                      write_addr_i,
  input  word_t                                   write_pitch_i,
  input  bytes_t [Writes-1:0]                     write_bytes_i,
  input  byte_t [Writes-1:0][WriteBytes-1:0]      write_data_i,
  input  logic [ReadPorts-1:0]                    read_i,
  input  word_t [ReadPorts-1:0]                   read_addr_i,
  output byte_t [ReadPorts-1:0][ReadBytes-1:0]    read_data_o,
  input  logic                                    old_read_i,
  input  word_t                                   old_addr_i,
  input  word_t                                   old_pitch_i,  // of single bytes; 1: one piece
  output byte_t [OldBytes-1:0]                    old_data_o
);
  localparam int unsigned WordBytes  = 1 << $clog2(max_of(4, max_of(WriteBytes, ReadBytes)));
  localparam int unsigned WordBits   = ByteBits * WordBytes;
  localparam int unsigned OffsetBits = $clog2(WordBytes);
  localparam int unsigned Rows       = (Bytes + 2 * WordBytes - 1) / (2 * WordBytes);
  localparam int unsigned RowBits    = max_of(1, $clog2(Rows));

  logic [WordBits-1:0] even [1 << RowBits];
  logic [WordBits-1:0] odd  [1 << RowBits];

  // Word w is row w / 2 of bank w % 2; a piece that starts in w goes on in w + 1.
  function automatic logic [RowBits-1:0] even_row(word_t addr);
    return addr[OffsetBits+1 +: RowBits] + RowBits'(addr[OffsetBits]);
  endfunction
  function automatic logic [RowBits-1:0] odd_row(word_t addr);
    return addr[OffsetBits+1 +: RowBits];
  endfunction

  for (genvar p = 0; p < ReadPorts; p++) begin : gen_read
    logic [2*WordBits-1:0] pair_q;
    logic [OffsetBits-1:0] offset_q;
    logic [2*WordBits-1:0] shifted;
    logic                  read_q;

    always_ff @(posedge clk_i) begin
      read_q <= read_i[p] || (Hold[p] && read_q);
      if (read_i[p]) begin
        offset_q <= read_addr_i[p][OffsetBits-1:0];
        pair_q   <= read_addr_i[p][OffsetBits]
                    ? {even[even_row(read_addr_i[p])], odd[odd_row(read_addr_i[p])]}
                    : {odd[odd_row(read_addr_i[p])], even[even_row(read_addr_i[p])]};
      end
    end
    assign shifted        = read_q ? pair_q >> {offset_q, 3'b000} : '0;
    assign read_data_o[p] = shifted[ReadBytes*ByteBits-1:0];
  end

  // Bits that a write changes, and to what: word 0 is the one that the piece starts in.
  typedef logic [1:0][WordBits-1:0] words_t;
  function automatic words_t written(word_t addr, bytes_t bytes);
    return ((words_t'(1) << {bytes, 3'b000}) - words_t'(1)) << {addr[OffsetBits-1:0], 3'b000};
  endfunction
  function automatic words_t placed(word_t addr, byte_t [WriteBytes-1:0] data);
    return words_t'(data) << {addr[OffsetBits-1:0], 3'b000};
  endfunction

  function automatic logic [WordBits-1:0] merged(logic [WordBits-1:0] old, mask, data);
    return (old & ~mask) | (data & mask);
  endfunction

  // Later ports go on top of the earlier ones, whose rows may be the same.
  typedef logic [Writes-1:0][WordBits-1:0] rows_t;
  logic [Writes-1:0] dense;  // ports that write one piece
  always_comb begin
    dense = write_i;
    if (Scatter && scatter_i) dense[0] = 1'b0;
  end

  // Single bytes. The lanes are counted in eights of eights: Verilator 5.006 takes these
  // assignments in loops that it unrolls only, and co-simulation lets it unroll up to 8 rounds,
  // which keeps the loops of array_ws.sv and array_os.sv whole.
  localparam int unsigned Padded = (OldBytes + 63) / 64 * 64;
  word_t [Padded-1:0] lane;  // the address of each
  for (genvar i = 0; i < Padded; i++) begin : gen_lane
    assign lane[i] = Scatter ? write_addr_i[0] + i * write_pitch_i : '0;
  end

  always_ff @(posedge clk_i) begin
    if (dense != '0) begin
      automatic rows_t e = '0, o = '0;
      for (int unsigned p = 0; p < Writes; p++) begin
        if (dense[p]) begin
          automatic word_t  addr  = write_addr_i[p];
          automatic words_t mask  = written(addr, write_bytes_i[p]);
          automatic words_t data  = placed(addr, write_data_i[p]);
          automatic logic   first = addr[OffsetBits];
          e[p] = even[even_row(addr)];
          o[p] = odd[odd_row(addr)];
          for (int unsigned q = 0; q < Writes; q++) begin
            if (q < p && dense[q] && even_row(write_addr_i[q]) == even_row(addr)) e[p] = e[q];
            if (q < p && dense[q] && odd_row(write_addr_i[q]) == odd_row(addr)) o[p] = o[q];
          end
          e[p] = merged(e[p], mask[first], data[first]);
          o[p] = merged(o[p], mask[!first], data[!first]);
          even[even_row(addr)] <= e[p];
          odd[odd_row(addr)]   <= o[p];
        end
      end
    end
    if (Scatter && write_i[0] && scatter_i) begin
      for (int unsigned top = 0; top < Padded; top += 64) begin
        for (int unsigned eight = top; eight < top + 64; eight += 8) begin
          for (int unsigned i = eight; i < eight + 8; i++) begin
            if (i < OldBytes && bytes_t'(i) < write_bytes_i[0]) begin
              if (lane[i][OffsetBits]) begin
                odd[odd_row(lane[i])][{lane[i][OffsetBits-1:0], 3'b000} +: ByteBits] <=
                    write_data_i[0][i];
              end else begin
                even[even_row(lane[i])][{lane[i][OffsetBits-1:0], 3'b000} +: ByteBits] <=
                    write_data_i[0][i];
              end
            end
          end
        end
      end
    end
  end

  // What is in the slot where the post unit will write.
  for (genvar i = 0; i < OldBytes; i++) begin : gen_old
    word_t      addr;
    byte_t      byte_q;
    assign addr = old_addr_i + i * old_pitch_i;
    always_ff @(posedge clk_i) begin
      if (old_read_i) begin
        byte_q <= addr[OffsetBits]
                  ? odd[odd_row(addr)][{addr[OffsetBits-1:0], 3'b000} +: ByteBits]
                  : even[even_row(addr)][{addr[OffsetBits-1:0], 3'b000} +: ByteBits];
      end
    end
    assign old_data_o[i] = byte_q;
  end
endmodule
