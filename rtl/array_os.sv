// Systolic array with sums that stay. PE (r, c) multiplies element k of pixel r and of channel c in
// cycle t + r + c + k. Clearing and capturing sums run along the same diagonals. Row `Rows - 1`
// leaves first, in cycle capture + Rows + c: by then the column is captured, and what a row's
// register must still pass on has gone by when the next capture reaches it, however closely drains
// follow.
//
// A PE passes its operands to the right and down; its drain register takes the sum when the next
// product may begin to overwrite it, and is shifted down from there. PEs are modules (pe_os.sv), or
// with OneProcess one process, as in array_ws.sv.
module array_os
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter bit          OneProcess = 1'b0,
  localparam int unsigned IndexBits = $clog2(Rows + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  code_t [Rows-1:0]      pixel_i,
  input  logic                  valid_i,
  input  logic [IndexBits-1:0]  index_i,
  input  code_t [Cols-1:0]      weight_i,
  input  logic                  clear_i,
  input  logic                  capture_i,
  input  logic                  shift_i,  // one cycle before the first row leaves column 0
  output sum_t [Cols-1:0]       sum_o
);
  code_t [Rows-1:0]     row;
  code_t [Cols-1:0]     column;

  transpose #(.Rows(Rows)) u_transpose (.clk_i, .rst_ni, .pixel_i, .valid_i, .index_i, .row_o(row));
  skew #(.Lanes(Cols)) u_skew (.clk_i, .data_i(weight_i), .data_o(column));

  // Parity of the drains whose shifting has begun. phase[d] is what it was d cycles ago: PE (r, c)
  // shifts while its column knows of a drain that its diagonal doesn't know of yet.
  logic phase_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) phase_q <= 1'b0;
    else         phase_q <= phase_q ^ shift_i;
  end

  if (!OneProcess) begin : gen_pes
    // [d]: what was at the input d cycles ago.
    logic [Rows+Cols-2:0]          clear, capture, phase;
    code_t [Rows-1:0][Cols:0]      left;   // what PE (r, c) gets from the left
    code_t [Rows:0][Cols-1:0]      above;  // ... from above
    sum_t [Rows:0][Cols-1:0]       drain;  // ... and from the drain register above

    assign clear[0]   = clear_i;
    assign capture[0] = capture_i;
    assign phase[0]   = phase_q;
    for (genvar d = 1; d < Rows + Cols - 1; d++) begin : gen_diagonal
      logic clear_late_q, capture_late_q, phase_late_q;
      always_ff @(posedge clk_i) begin
        clear_late_q   <= clear[d-1];
        capture_late_q <= capture[d-1];
        phase_late_q   <= phase[d-1];
      end
      assign clear[d]   = clear_late_q;
      assign capture[d] = capture_late_q;
      assign phase[d]   = phase_late_q;
    end

    logic unused_below;
    assign unused_below = ^above[Rows];
    assign above[0]     = column;
    assign drain[0]     = '0;
    assign sum_o        = drain[Rows];
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      logic unused_right;
      assign left[r][0]   = row[r];
      assign unused_right = ^left[r][Cols];
      for (genvar c = 0; c < Cols; c++) begin : gen_column
        pe_os u_pe (
          .clk_i, .clear_i(clear[r+c]), .capture_i(capture[r+c]), .shift_i(phase[c] ^ phase[r+c]),
          .left_i(left[r][c]), .above_i(above[r][c]), .drain_i(drain[r][c]),
          .right_o(left[r][c+1]), .below_o(above[r+1][c]), .drain_o(drain[r+1][c])
        );
      end
    end
  end else begin : gen_process
    // Powers of two, so that simulators need no check of an index.
    localparam int unsigned Across    = 1 << $clog2(Cols + 1);
    localparam int unsigned Diagonals = 1 << $clog2(Rows + Cols);

    operand_t          row_lane [Rows];
    operand_t          column_lane [Cols];
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      assign row_lane[r] = row[r];
    end
    for (genvar c = 0; c < Cols; c++) begin : gen_column
      assign column_lane[c] = column[c];
    end

    // Masks of one PE's bits; [d]: what was at the input d cycles ago.
    sum_t               clear [Diagonals];
    sum_t               capture [Diagonals];
    sum_t               phase [Diagonals];
    sum_t               late [Diagonals];
    operand_t           left [Rows][Across];  // what PE (r, c) gets from the left
    operand_t           above [Rows][Cols];   // ... and from above
    sum_t               sum [Rows][Cols];
    sum_t               drain [Rows][Cols];
    sum_t               shift [Cols];
    operand_t           moved [Cols];
    sum_t [Cols-1:0]    sums;

    always_ff @(posedge clk_i) begin : pes
      // Rows are taken from the last up, so that each reads the registers above it as they were.
      automatic int unsigned r, c;
      clear[0]   = {AccumulatorBits{clear_i}};
      capture[0] = {AccumulatorBits{capture_i}};
      phase[0]   = {AccumulatorBits{phase_q}};
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
          sum[r][c] = (sum[r][c] & ~clear[r+c]) +
                      sum_t'(product_t'(left[r][c]) * product_t'(above[r][c]));
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
      for (c = 0; c < Cols; c++) sums[c] = drain[Rows-1][c];
      sum_o <= sums;
    end
  end
endmodule
