// Systolic array with sums that stay. PE (r, c) multiplies element k of pixel r and of channel c in
// cycle t + r + c + k. Clearing and capturing sums run along the same diagonals. Row `Rows - 1` leaves
// first, in cycle capture + Rows + c: by then the column is captured, and what a row's register must
// still pass on has gone by when the next capture reaches it, however closely drains follow.
//
// A PE passes its operands to the right and down; its drain register takes the sum when the next
// product may begin to overwrite it, and is shifted down from there. One process holds all PEs, as in
// array_ws.sv; rows are taken from the last up, so that each reads the registers above as they were.
module array_os #(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  localparam int unsigned IndexBits = $clog2(Rows + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [Rows*8-1:0]     pixel_i,
  input  logic                  valid_i,
  input  logic [IndexBits-1:0]  index_i,
  input  logic [Cols*8-1:0]     weight_i,
  input  logic                  clear_i,
  input  logic                  capture_i,
  input  logic                  shift_i,  // one cycle before the first row leaves column 0
  output logic [Cols-1:0][31:0] sum_o
);
  localparam int unsigned Across    = 1 << $clog2(Cols + 1);
  localparam int unsigned Diagonals = 1 << $clog2(Rows + Cols);

  logic [Rows-1:0][7:0] row;
  logic [Cols-1:0][7:0] column;

  transpose #(.Rows) u_transpose (.clk_i, .rst_ni, .pixel_i, .valid_i, .index_i, .row_o(row));
  skew #(.Lanes(Cols)) u_skew (.clk_i, .data_i(weight_i), .data_o(column));

  logic signed [7:0] row_lane [Rows];
  logic signed [7:0] column_lane [Cols];
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign row_lane[r] = row[r];
  end
  for (genvar c = 0; c < Cols; c++) begin : gen_column
    assign column_lane[c] = column[c];
  end

  // Parity of the drains whose shifting has begun. phase[d] is what it was d cycles ago: PE (r, c)
  // shifts while its column knows of a drain that its diagonal doesn't know of yet.
  logic phase_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) phase_q <= 1'b0;
    else         phase_q <= phase_q ^ shift_i;
  end

  // Masks of one PE's bits; [d]: what was at the input d cycles ago.
  logic signed [31:0] clear [Diagonals];
  logic signed [31:0] capture [Diagonals];
  logic signed [31:0] phase [Diagonals];
  logic signed [31:0] late [Diagonals];
  logic signed [7:0]  left [Rows][Across];    // what PE (r, c) gets from the left
  logic signed [7:0]  above [Rows][Cols];     // ... and from above
  logic signed [31:0] sum [Rows][Cols];
  logic signed [31:0] drain [Rows][Cols];
  logic signed [31:0] shift [Cols];
  logic signed [7:0]  moved [Cols];
  logic [Cols*32-1:0] sums;

  always_ff @(posedge clk_i) begin : pes
    automatic int unsigned r, c;
    clear[0]   = {32{clear_i}};
    capture[0] = {32{capture_i}};
    phase[0]   = {32{phase_q}};
    for (r = 0; r < Rows; r++) left[r][0] = row_lane[r];
    for (c = 0; c < Cols; c++) above[0][c] = column_lane[c];
    for (r = Rows - 1; r != 0; r--) begin
      for (c = 0; c < Cols; c++) shift[c] = phase[c] ^ phase[r+c];
      for (c = 0; c < Cols; c++) begin
        drain[r][c] = (drain[r][c] & ~shift[c]) | (drain[r-1][c] & shift[c]);
      end
    end
    for (r = 0; r < Rows; r++) begin
      for (c = 0; c < Cols; c++) begin
        drain[r][c] = (drain[r][c] & ~capture[r+c]) | (sum[r][c] & capture[r+c]);
      end
      for (c = 0; c < Cols; c++) begin
        sum[r][c] = (sum[r][c] & ~clear[r+c]) + 32'(16'(left[r][c]) * 16'(above[r][c]));
      end
      for (c = 0; c < Cols; c++) moved[c] = left[r][c];
      for (c = 0; c < Cols; c++) left[r][c+1] = moved[c];
    end
    for (r = Rows - 1; r != 0; r--) begin
      for (c = 0; c < Cols; c++) above[r][c] = above[r-1][c];
    end
    for (c = 0; c < Diagonals; c++) late[c] = clear[c];
    for (c = 1; c < Diagonals; c++) clear[c] = late[c-1];
    for (c = 0; c < Diagonals; c++) late[c] = capture[c];
    for (c = 1; c < Diagonals; c++) capture[c] = late[c-1];
    for (c = 0; c < Diagonals; c++) late[c] = phase[c];
    for (c = 1; c < Diagonals; c++) phase[c] = late[c-1];
    for (c = 0; c < Cols; c++) sums[32*c +: 32] = drain[Rows-1][c];
    sum_o <= sums;
  end
endmodule
