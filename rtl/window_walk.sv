// Addresses of the activation operand: one streamed row a step. The k bytes of a row lie in up to
// WindowLines kernel lines; lanes [seg_end[s-1], seg_end[s]) come from kernel line s. The address
// of a segment is that of lane 0, as if the segment began there, so that the bytes need no further
// shift. All coordinates belong to lane 0 of segment 0; x counts bytes from the left edge of the
// tile and is negative in the padding.
//
// Lines of rows run from start_x to last_x, planes of lines from start_y to last_y. The walk begins
// at (first_x, first_y, start_z), whose address is start_addr: anywhere in a line and a plane, and
// ends when the rows have been streamed. step_y_addr leads from the last row of a line to the first
// of the next one, step_z_addr from the last of a plane to the first of the next one.
module window_walk
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8,
  localparam int unsigned LaneBits = $clog2(Lanes + 1)
) (
  input  logic                                  clk_i,
  input  logic                                  load_i,
  input  window_t                               window_i,
  input  word_t                                 base_i,  // of the slot
  input  logic                                  step_i,
  output logic [WindowLines-1:0]                read_o,
  output word_t [WindowLines-1:0]               addr_o,
  output logic [WindowLines-1:0][LaneBits-1:0]  low_o,  // lanes [low, high) hold bytes of the tile
  output logic [WindowLines-1:0][LaneBits-1:0]  high_o,
  output code_t                                 pad_o
);
  window_t window_q;
  word_t   addr_q, x_q, y_q, z_q;
  logic    end_x, end_y;

  assign end_x = x_q == window_q.last_x;
  assign end_y = y_q == window_q.last_y;
  assign pad_o = window_q.pad[OperandBits-1:0];

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      window_q <= window_i;
      addr_q   <= base_i + window_i.start_addr;
      x_q      <= window_i.first_x;
      y_q      <= window_i.first_y;
      z_q      <= window_i.start_z;
    end else if (step_i) begin
      x_q <= end_x ? window_q.start_x : x_q + window_q.step_x;
      if (!end_x) begin
        addr_q <= addr_q + window_q.step_x;
      end else if (!end_y) begin
        addr_q <= addr_q + window_q.step_y_addr;
        y_q    <= y_q + window_q.step_y;
      end else begin
        addr_q <= addr_q + window_q.step_z_addr;
        y_q    <= window_q.start_y;
        z_q    <= z_q + window_q.step_z;
      end
    end
  end

  always_comb begin
    automatic word_t x     = x_q;
    automatic word_t y     = y_q;
    automatic word_t addr  = addr_q;
    automatic word_t begins = '0;
    automatic word_t low, high;
    for (int unsigned s = 0; s < WindowLines; s++) begin
      low  = signed'(begins) > signed'(-x) ? begins : -x;
      high = signed'(window_q.seg_end[s]) < signed'(window_q.tile_line - x)
             ? window_q.seg_end[s] : window_q.tile_line - x;
      addr_o[s] = addr;
      low_o[s]  = low[LaneBits-1:0];
      high_o[s] = high[LaneBits-1:0];
      read_o[s] = step_i && signed'(low) < signed'(high) && y < window_q.tile_height &&
                  z_q < window_q.tile_depth;
      begins = window_q.seg_end[s];
      x      = x + window_q.seg_x_step;
      y      = y + window_q.seg_y_step;
      addr   = addr + window_q.seg_addr_step;
    end
  end
endmodule
