// Systolic array with a held operand. Cycle t of a stream row at the input: PE (r, c) works on it in
// t + r + c, its sum leaves column c at t + Rows + c. Writing the shadow registers and swapping run along
// the same diagonals: PE (r, c) sees the pulse of cycle t in t + r + c. Weights are written row by row
// (lane c of the bus feeds column c), held activations column by column (lane r feeds row r).
//
// A PE multiplies what comes from the left by what it holds, adds what comes from above, and passes
// the left operand on to the right. All PEs are one process over arrays that nothing else sees, which
// a simulator turns into vector code; rows are taken from the last up, so that each reads the
// registers above it as they were.
module array_ws #(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8
) (
  input  logic                   clk_i,
  input  logic                   by_column_i,   // what is held is written column by column
  input  logic [Rows*8-1:0]      stream_i,
  input  logic                   swap_i,
  input  logic                   write_i,
  input  logic [Cols*8-1:0]      write_row_i,
  input  logic [Rows*8-1:0]      write_column_i,
  output logic [Cols-1:0][31:0]  sum_o
);
  // Powers of two, so that simulators need no check of an index.
  localparam int unsigned Across    = 1 << $clog2(Cols + 1);
  localparam int unsigned Diagonals = 1 << $clog2(Rows + Cols);

  logic [Rows-1:0][7:0] stream, write_column;
  logic [Cols-1:0][7:0] write_row;

  skew #(.Lanes(Rows)) u_stream (.clk_i, .data_i(stream_i), .data_o(stream));
  skew #(.Lanes(Cols)) u_row (.clk_i, .data_i(write_row_i), .data_o(write_row));
  skew #(.Lanes(Rows)) u_column (.clk_i, .data_i(write_column_i), .data_o(write_column));

  logic signed [7:0] stream_lane [Rows];
  logic signed [7:0] row_lane [Cols];
  logic signed [7:0] column_lane [Rows];
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign stream_lane[r] = stream[r];
    assign column_lane[r] = write_column[r];
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_column
    assign row_lane[c] = write_row[c];
  end

  logic [7:0]         swap [Diagonals];       // [d]: the pulse d cycles later as a mask; [0] now
  logic [7:0]         write [Diagonals];
  logic signed [7:0]  left [Rows][Across];    // what PE (r, c) gets from the left
  logic signed [7:0]  held [Rows][Cols];
  logic signed [7:0]  shadow [Rows][Cols];
  logic signed [31:0] below [Rows][Cols];     // what PE (r, c) has passed down
  logic signed [7:0]  moved [Cols];
  logic signed [7:0]  next [Cols];
  logic [7:0]         late_swap [Diagonals];
  logic [7:0]         late_write [Diagonals];
  logic [Cols*32-1:0] sums;

  always_ff @(posedge clk_i) begin : pes
    automatic int unsigned r, c;
    swap[0]  = {8{swap_i}};
    write[0] = {8{write_i}};
    for (r = 0; r < Rows; r++) left[r][0] = stream_lane[r];
    for (r = Rows - 1; r != 0; r--) begin
      for (c = 0; c < Cols; c++) begin
        below[r][c] = below[r-1][c] + 32'(16'(left[r][c]) * 16'(held[r][c]));
      end
    end
    for (c = 0; c < Cols; c++) below[0][c] = 32'(16'(left[0][c]) * 16'(held[0][c]));
    for (r = 0; r < Rows; r++) begin
      for (c = 0; c < Cols; c++) moved[c] = left[r][c];
      for (c = 0; c < Cols; c++) left[r][c+1] = moved[c];
      for (c = 0; c < Cols; c++) begin
        held[r][c] = (held[r][c] & ~swap[r+c]) | (shadow[r][c] & swap[r+c]);
      end
      if (by_column_i) for (c = 0; c < Cols; c++) next[c] = column_lane[r];
      else             for (c = 0; c < Cols; c++) next[c] = row_lane[c];
      for (c = 0; c < Cols; c++) begin
        shadow[r][c] = (shadow[r][c] & ~write[r+c]) | (next[c] & write[r+c]);
      end
    end
    for (c = 0; c < Diagonals; c++) begin
      late_swap[c]  = swap[c];
      late_write[c] = write[c];
    end
    for (c = 1; c < Diagonals; c++) begin
      swap[c]  = late_swap[c-1];
      write[c] = late_write[c-1];
    end
    for (c = 0; c < Cols; c++) sums[32*c +: 32] = below[Rows-1][c];
    sum_o <= sums;
  end
endmodule
