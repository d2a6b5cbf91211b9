// Byte-addressed memory of one buffer, all slots: the file that a memory macro replaces. Two banks
// hold even and odd words, so that any `ReadBytes` or `WriteBytes` bytes lie in two words that are
// accessed at once. Read data comes one cycle later. Several read ports stand for copies of the
// banks, or for interleaving by tile line. Read data is there for one cycle, or with Hold until the
// next read. With Scatter, writes can go to single bytes at a stride instead of one piece. There
// are one or two write ports; they never write one byte in the same cycle. Scatter has one.
module slot_mem
  import accsim_pkg::*;
#(
  parameter int unsigned Bytes        = 1024,
  parameter int unsigned WriteBytes   = 16,
  parameter int unsigned Writes       = 1,
  parameter int unsigned ReadBytes    = 16,
  parameter int unsigned ReadPorts    = 1,
  parameter bit          Hold         = 1'b0,
  parameter bit          Scatter      = 1'b0
) (
  input  logic                                    clk_i,
  input  logic  [Writes-1:0]                      write_i,
  input  logic                                    scatter_i,
  input  word_t [Writes-1:0]                      write_addr_i,
  input  word_t                                   write_pitch_i,
  input  logic  [Writes-1:0][15:0]                write_bytes_i,
  input  logic  [Writes-1:0][WriteBytes*8-1:0]    write_data_i,
  input  logic  [ReadPorts-1:0]                   read_i,
  input  word_t [ReadPorts-1:0]                   read_addr_i,
  output logic  [ReadPorts-1:0][ReadBytes*8-1:0]  read_data_o
);
  localparam int unsigned WordBytes  = 1 << $clog2(max_of(4, max_of(WriteBytes, ReadBytes)));
  localparam int unsigned WordBits   = 8 * WordBytes;
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
      read_q <= read_i[p] || (Hold && read_q);
      if (read_i[p]) begin
        offset_q <= read_addr_i[p][OffsetBits-1:0];
        pair_q   <= read_addr_i[p][OffsetBits]
                    ? {even[even_row(read_addr_i[p])], odd[odd_row(read_addr_i[p])]}
                    : {odd[odd_row(read_addr_i[p])], even[even_row(read_addr_i[p])]};
      end
    end
    assign shifted        = read_q ? pair_q >> {offset_q, 3'b000} : '0;
    assign read_data_o[p] = shifted[ReadBytes*8-1:0];
  end

  // Bits that a write changes, and to what: word 0 is the one that the piece starts in.
  typedef logic [1:0][WordBits-1:0] words_t;
  function automatic words_t written(word_t addr, logic [15:0] bytes);
    return ((words_t'(1) << {bytes, 3'b000}) - words_t'(1)) << {addr[OffsetBits-1:0], 3'b000};
  endfunction
  function automatic words_t placed(word_t addr, logic [WriteBytes*8-1:0] data);
    return words_t'(data) << {addr[OffsetBits-1:0], 3'b000};
  endfunction

  function automatic logic [WordBits-1:0] merged(logic [WordBits-1:0] old, mask, data);
    return (old & ~mask) | (data & mask);
  endfunction

  if (!Scatter) begin : gen_dense
    localparam int unsigned Last = Writes - 1;
    // The port that writes, of both the first.
    logic                    port;
    word_t                   addr;
    logic [15:0]             bytes;
    logic [WriteBytes*8-1:0] bits;
    assign port  = !write_i[0];
    assign addr  = port ? write_addr_i[Last] : write_addr_i[0];
    assign bytes = port ? write_bytes_i[Last] : write_bytes_i[0];
    assign bits  = port ? write_data_i[Last] : write_data_i[0];

    always_ff @(posedge clk_i) begin
      if (write_i != '0) begin
        automatic words_t               mask  = written(addr, bytes);
        automatic words_t               data  = placed(addr, bits);
        automatic logic                 first = addr[OffsetBits];
        automatic logic [WordBits-1:0]  e     = merged(even[even_row(addr)], mask[first],
                                                       data[first]);
        automatic logic [WordBits-1:0]  o     = merged(odd[odd_row(addr)], mask[!first],
                                                       data[!first]);
        even[even_row(addr)] <= e;
        odd[odd_row(addr)]   <= o;
        if (write_i[0] && write_i[Last] && Last > 0) begin
          // The second port on top of the first, whose row may be the same.
          automatic word_t  addr2  = write_addr_i[Last];
          automatic words_t mask2  = written(addr2, write_bytes_i[Last]);
          automatic words_t data2  = placed(addr2, write_data_i[Last]);
          automatic logic   first2 = addr2[OffsetBits];
          even[even_row(addr2)] <= merged(
              even_row(addr2) == even_row(addr) ? e : even[even_row(addr2)],
              mask2[first2], data2[first2]);
          odd[odd_row(addr2)]   <= merged(
              odd_row(addr2) == odd_row(addr) ? o : odd[odd_row(addr2)],
              mask2[!first2], data2[!first2]);
        end
      end
    end
  end else begin : gen_scatter
    // One process for both kinds of writes. The lanes are counted in eights of eights: Verilator
    // 5.006 takes these assignments in loops that it unrolls only, and co-simulation lets it unroll
    // up to 8 rounds, which keeps the loops of array_ws.sv and array_os.sv whole.
    localparam int unsigned Padded = (WriteBytes + 63) / 64 * 64;
    word_t [Padded-1:0] lane;  // the address of each
    for (genvar i = 0; i < Padded; i++) begin : gen_lane
      assign lane[i] = write_addr_i[0] + i * write_pitch_i;
    end

    always_ff @(posedge clk_i) begin
      if (write_i[0] && !scatter_i) begin
        automatic words_t mask  = written(write_addr_i[0], write_bytes_i[0]);
        automatic words_t data  = placed(write_addr_i[0], write_data_i[0]);
        automatic logic   first = write_addr_i[0][OffsetBits];
        even[even_row(write_addr_i[0])] <= merged(even[even_row(write_addr_i[0])], mask[first],
                                                  data[first]);
        odd[odd_row(write_addr_i[0])]   <= merged(odd[odd_row(write_addr_i[0])], mask[!first],
                                                  data[!first]);
      end else if (write_i[0]) begin
        for (int unsigned top = 0; top < Padded; top += 64) begin
          for (int unsigned eight = top; eight < top + 64; eight += 8) begin
            for (int unsigned i = eight; i < eight + 8; i++) begin
              if (i < WriteBytes && 16'(i) < write_bytes_i[0]) begin
                if (lane[i][OffsetBits]) begin
                  odd[odd_row(lane[i])][{lane[i][OffsetBits-1:0], 3'b000} +: 8] <=
                      write_data_i[0][8*i +: 8];
                end else begin
                  even[even_row(lane[i])][{lane[i][OffsetBits-1:0], 3'b000} +: 8] <=
                      write_data_i[0][8*i +: 8];
                end
              end
            end
          end
        end
      end
    end
  end
endmodule
