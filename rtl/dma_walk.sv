// Beats of a strided walk, one a step: at most `port_bytes_i` bytes of one run each. The slot side
// is dense. Outputs come from registers; a command is loaded the cycle before its first beat.
// Transposed, the runs of level 0 are the rows of a matrix that is walked in blocks of as many rows
// as the port has bytes: a beat of each row, down the matrix, then to the right. The slot offset is
// that of the block's first element in the turned matrix. Gathered, an item of the outermost level
// begins where gather_index.sv says, the first one before the first step.
module dma_walk
  import accsim_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 load_i,
  input  dma_cmd_t             cmd_i,
  input  logic                 step_i,
  input  bytes_t               port_bytes_i,
  input  logic                 gather_i,     // the walk is a gathered one
  input  logic                 first_i,      // ... whose first item's address is there
  input  logic [AddrWidth-1:0] item_addr_i,  // ... address of the item to come
  output logic                 item_end_o,   // this is the last beat of an item
  output logic [AddrWidth-1:0] addr_o,
  output word_t                slot_offset_o,
  output bytes_t               bytes_o,
  output logic                 last_o,
  output logic                 block_end_o,  // transposed: the last row of a block
  output word_t                rows_left_o   // transposed: rows of the matrix below this one
);
  logic  [Levels-1:0][AddrWidth-1:0] base_q, base_d;  // where the current run of a level starts
  word_t [Levels-1:0]                index_q, index_d, count_q, stride_q;
  word_t                             run_q, left_q, left_d, slot_q, slot_d;
  logic  [AddrWidth-1:0]             addr_q, addr_d, first;
  word_t                             block_q, block_d, row_q;
  logic                              turned_q, run_end, item_run, last_run, next_piece;

  assign run_end       = left_q <= 32'(port_bytes_i);
  assign addr_o        = addr_q;
  assign slot_offset_o = turned_q ? block_q : slot_q;
  assign rows_left_o   = count_q[0] - 1 - index_q[0];
  assign block_end_o   = rows_left_o == '0 || row_q == 32'(port_bytes_i) - 1;
  assign next_piece    = !turned_q || rows_left_o == '0;
  assign bytes_o       = run_end ? bytes_t'(left_q) : port_bytes_i;
  assign last_o        = run_end && last_run;
  assign item_end_o    = run_end && item_run;
  assign first         = {cmd_i.addr_hi[AddrWidth-33:0], cmd_i.addr_lo};

  always_comb begin
    item_run = 1'b1;
    for (int unsigned l = 0; l < Levels - 1; l++) item_run &= index_q[l] == count_q[l] - 1;
    last_run = item_run && index_q[Levels-1] == count_q[Levels-1] - 1;
  end

  // The innermost level that isn't at its end advances; those inside it start again from there.
  always_comb begin
    automatic logic carry = 1'b1;
    index_d = index_q;
    base_d  = base_q;
    addr_d  = addr_q + AddrWidth'(port_bytes_i);
    left_d  = left_q - 32'(port_bytes_i);
    slot_d  = slot_q + 32'(bytes_o);
    block_d = block_q;
    if (next_piece)       block_d = slot_d;
    else if (block_end_o) block_d = block_q + 32'(port_bytes_i);
    if (turned_q && !next_piece) begin
      left_d     = left_q;
      index_d[0] = index_q[0] + 1;
      addr_d     = addr_q + unsigned'(AddrWidth'(signed'(stride_q[0])));
    end else if (turned_q && !run_end) begin
      index_d[0] = '0;
      addr_d     = base_q[0] + AddrWidth'(port_bytes_i);
      base_d[0]  = addr_d;
    end else if (run_end) begin
      left_d = run_q;
      for (int unsigned l = 0; l < Levels; l++) begin
        if (carry) begin
          if (index_q[l] == count_q[l] - 1) begin
            index_d[l] = '0;
          end else begin
            carry      = 1'b0;
            index_d[l] = index_q[l] + 1;
            addr_d     = gather_i && l == Levels - 1 ? item_addr_i :
                         base_q[l] + unsigned'(AddrWidth'(signed'(stride_q[l])));
            for (int unsigned i = 0; i <= l; i++) base_d[i] = addr_d;
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      base_q   <= {Levels{first}};
      index_q  <= '0;
      count_q  <= cmd_i.count;
      stride_q <= cmd_i.stride;
      run_q    <= cmd_i.run;
      left_q   <= cmd_i.run;
      slot_q   <= cmd_i.slot_offset;
      block_q  <= cmd_i.slot_offset;
      row_q    <= '0;
      turned_q <= cmd_i.flags.transposed;
      addr_q   <= first;
    end else if (first_i) begin
      base_q <= {Levels{item_addr_i}};
      addr_q <= item_addr_i;
    end else if (step_i) begin
      base_q  <= base_d;
      index_q <= index_d;
      left_q  <= left_d;
      slot_q  <= slot_d;
      block_q <= block_d;
      row_q   <= block_end_o ? '0 : row_q + 1;
      addr_q  <= addr_d;
    end
  end
endmodule
