// Turns what a memory sends of transposed loads, block by block: a block's rows come in, a beat
// each, its columns go out, a beat each, from the cycle behind its last row on. Two blocks have
// room: one comes while the other goes. Anything else passes through; it never comes while a column
// goes, as load_unit.sv leaves so much time behind a transposed load.
module load_transposer
  import accsim_pkg::*;
#(
  parameter int unsigned Side = 8,  // rows and columns of a block, at most
  parameter int unsigned Port = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              valid_i,
  input  load_tag_t         tag_i,
  input  byte_t [Port-1:0]  data_i,
  output logic              valid_o,
  output load_tag_t         tag_o,
  output byte_t [Port-1:0]  data_o
);
  localparam int unsigned CountBits = $clog2(Side + 1);
  localparam int unsigned IndexBits = max_of(1, $clog2(Side));
  typedef logic [IndexBits-1:0] index_t;

  byte_t [Side-1:0]     even [1 << IndexBits];  // rows of a block, of the next one
  byte_t [Side-1:0]     odd  [1 << IndexBits];
  logic                 row_in, starts, ends, going_q, odd_in_q, odd_out_q;
  index_t               row_q, column_q;
  logic [CountBits-1:0] rows_q, left_q;
  load_tag_t            tag_q;
  byte_t [Side-1:0]     column;

  assign row_in = valid_i && tag_i.transposed;
  assign starts = row_in && tag_i.block_end;
  assign ends   = left_q == 1;

  always_comb begin
    column = '0;
    if (going_q) begin
      for (int unsigned r = 0; r < Side; r++) begin
        column[r] = odd_out_q ? odd[index_t'(r)][column_q] : even[index_t'(r)][column_q];
      end
    end
  end

  assign valid_o = going_q || (valid_i && !tag_i.transposed);
  assign data_o  = going_q ? (Port*ByteBits)'(column) : data_i;
  always_comb begin
    tag_o = tag_i;
    if (going_q) begin
      tag_o       = tag_q;
      tag_o.bytes = bytes_t'(rows_q);
      tag_o.last  = tag_q.last && ends;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      going_q  <= 1'b0;
      odd_in_q <= 1'b0;
      row_q    <= '0;
    end else begin
      if (starts)    going_q <= 1'b1;
      else if (ends) going_q <= 1'b0;
      if (starts) odd_in_q <= !odd_in_q;
      if (row_in) row_q <= tag_i.block_end ? '0 : row_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (row_in && odd_in_q)  odd[row_q]  <= data_i[Side-1:0];
    if (row_in && !odd_in_q) even[row_q] <= data_i[Side-1:0];
    if (starts) begin
      tag_q     <= tag_i;
      odd_out_q <= odd_in_q;
      rows_q    <= CountBits'(row_q) + 1'b1;
      left_q    <= tag_i.bytes[CountBits-1:0];
      column_q  <= '0;
    end else if (going_q) begin
      tag_q.address <= tag_q.address + tag_q.pitch;
      left_q        <= left_q - 1'b1;
      column_q      <= column_q + 1'b1;
    end
  end
endmodule
