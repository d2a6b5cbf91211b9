// Systolic array with a held operand. Cycle t of a stream row at the input: PE (r, c) works on it
// in t + r + c, its sum leaves column c at t + Rows + c. Writing the shadow registers and swapping
// run along the same diagonals: PE (r, c) sees the pulse of cycle t in t + r + c. Weights are
// written row by row (lane c of the bus feeds column c), held activations column by column (lane r
// feeds row r). With FillRows buses, each has the rows of its Block, and several fills are on their
// way.
//
// A PE multiplies what comes from the left by what it holds, adds what comes from above, and passes
// the left operand on to the right. PEs are modules (pe_ws.sv), or with OneProcess, for simulators
// only, one process over arrays that nothing else sees: a simulator turns it into vector code. The
// two are equal in every cycle.
module array_ws
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter int unsigned FillRows = 1,
  parameter bit          OneProcess = 1'b0
) (
  input  logic                   clk_i,
  input  logic                   by_column_i,  // what is held is written column by column
  input  code_t [Rows-1:0]       stream_i,
  input  logic                   swap_i,
  input  logic                   write_i,
  input  code_t [FillRows-1:0][Cols-1:0] write_row_i,
  input  code_t [Rows-1:0]       write_column_i,
  output sum_t [Cols-1:0]        sum_o
);
  localparam int unsigned Block = (Rows + FillRows - 1) / FillRows;  // rows of a bus
  code_t [Rows-1:0]               stream, write_column;
  code_t [FillRows-1:0][Cols-1:0] write_row;

  skew #(.Lanes(Rows)) u_stream (.clk_i, .data_i(stream_i), .data_o(stream));
  for (genvar p = 0; p < FillRows; p++) begin : gen_bus
    skew #(.Lanes(Cols)) u_row (.clk_i, .data_i(write_row_i[p]), .data_o(write_row[p]));
  end
  skew #(.Lanes(Rows)) u_column (.clk_i, .data_i(write_column_i), .data_o(write_column));

  if (!OneProcess) begin : gen_pes
    // [d]: the pulse d cycles later.
    logic [Rows+Cols-2:0]             swap, write;
    code_t [Rows-1:0][Cols:0]         left;   // what PE (r, c) gets from the left
    sum_t [Rows:0][Cols-1:0]          above;  // ... and from above

    assign swap[0]  = swap_i;
    assign write[0] = write_i;
    for (genvar d = 1; d < Rows + Cols - 1; d++) begin : gen_diagonal
      logic swap_q, write_q;
      always_ff @(posedge clk_i) begin
        swap_q  <= swap[d-1];
        write_q <= write[d-1];
      end
      assign swap[d]  = swap_q;
      assign write[d] = write_q;
    end

    assign above[0] = '0;
    assign sum_o    = above[Rows];
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      logic unused_right;
      assign left[r][0]   = stream[r];
      assign unused_right = ^left[r][Cols];
      for (genvar c = 0; c < Cols; c++) begin : gen_column
        pe_ws u_pe (
          .clk_i, .write_i(write[r+c]), .swap_i(swap[r+c]),
          .next_i(by_column_i ? write_column[r] : write_row[r/Block][c]), .left_i(left[r][c]),
          .above_i(above[r][c]), .right_o(left[r][c+1]), .below_o(above[r+1][c])
        );
      end
    end
  end else begin : gen_process
    // Powers of two, so that simulators need no check of an index.
    localparam int unsigned Across    = 1 << $clog2(Cols + 1);
    localparam int unsigned Diagonals = 1 << $clog2(Rows + Cols);
    localparam int unsigned Buses     = 1 << $clog2(FillRows);
    operand_t          stream_lane [Rows];
    operand_t          row_lane [Buses][Cols];
    operand_t          column_lane [Rows];
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      assign stream_lane[r] = stream[r];
      assign column_lane[r] = write_column[r];
    end
    for (genvar c = 0; c < Cols; c++) begin : gen_column
      for (genvar p = 0; p < FillRows; p++) begin : gen_bus_lane
        assign row_lane[p][c] = write_row[p][c];
      end
      for (genvar p = FillRows; p < Buses; p++) begin : gen_no_bus
        assign row_lane[p][c] = '0;
      end
    end

    operand_t           swap [Diagonals];     // [d]: the pulse d cycles later as a mask; [0] now
    operand_t           write [Diagonals];
    operand_t           left [Rows][Across];  // what PE (r, c) gets from the left
    operand_t           held [Rows][Cols];
    operand_t           shadow [Rows][Cols];
    sum_t               below [Rows][Cols];   // what PE (r, c) has passed down
    operand_t           moved [Cols];
    operand_t           next [Cols];
    operand_t           late_swap [Diagonals];
    operand_t           late_write [Diagonals];
    sum_t [Cols-1:0]    sums;

    function automatic int unsigned bus_of(int unsigned row);
      return FillRows == 1 ? 0 : row / Block;
    endfunction

    always_ff @(posedge clk_i) begin : pes
      // Rows are taken from the last up, so that each reads the registers above it as they were.
      automatic int unsigned r, c;
      swap[0]  = {OperandBits{swap_i}};
      write[0] = {OperandBits{write_i}};
      for (r = 0; r < Rows; r++) left[r][0] = stream_lane[r];
      for (r = Rows - 1; r != 0; r--) begin
        for (c = 0; c < Cols; c++) begin
          below[r][c] = below[r-1][c] + sum_t'(product_t'(left[r][c]) * product_t'(held[r][c]));
        end
      end
      for (c = 0; c < Cols; c++) begin
        below[0][c] = sum_t'(product_t'(left[0][c]) * product_t'(held[0][c]));
      end
      for (r = 0; r < Rows; r++) begin
        for (c = 0; c < Cols; c++) moved[c] = left[r][c];
        for (c = 0; c < Cols; c++) left[r][c+1] = moved[c];
        for (c = 0; c < Cols; c++) begin
          held[r][c] = (held[r][c] & ~swap[r+c]) | (shadow[r][c] & swap[r+c]);
        end
        if (by_column_i) for (c = 0; c < Cols; c++) next[c] = column_lane[r];
        else             for (c = 0; c < Cols; c++) next[c] = row_lane[bus_of(r)][c];
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
      for (c = 0; c < Cols; c++) sums[c] = below[Rows-1][c];
      sum_o <= sums;
    end
  end
endmodule
