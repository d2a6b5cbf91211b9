// Where the items of a gathered load begin: reads their indices from the parameter slot, some
// ahead, limits them and makes addresses of them. Its stages move together: read, limit, product,
// and the address, which dma_walk.sv takes. They fill from the command's first cycle on; then they
// move when an item is through. Without `gather` it is always ready and does nothing.
module gather_index
  import accsim_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 load_i,       // the cycle before the command's first
  input  dma_cmd_t             cmd_i,
  input  word_t                start_i,      // address of the first index
  input  logic                 active_i,     // the command is in work
  input  logic                 next_i,       // the last beat of an item is taken
  output logic                 read_o,
  output word_t                addr_o,
  input  word_t                data_i,       // from the cycle behind a read on, until the next one
  output logic                 first_o,      // the walk begins at the first item's address
  output logic                 ready_o,      // ... and may step
  output logic [AddrWidth-1:0] item_addr_o   // of the item that comes next
);
  localparam int unsigned Bits = $clog2(GatherLatency + 1);

  logic                 gather_q, filling, moves;
  logic [Bits-1:0]      step_q;
  word_t                left_q, last_q, pitch_q, row_q;
  logic [AddrWidth-1:0] source_q, product_q;

  assign ready_o     = !gather_q || step_q == Bits'(GatherLatency);
  assign filling     = active_i && !ready_o;
  assign first_o     = filling && step_q == Bits'(GatherLatency - 1);
  assign moves       = filling || (gather_q && next_i);
  assign read_o      = moves && left_q != '0;
  assign item_addr_o = source_q + product_q;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      gather_q <= cmd_i.flags.gather;
      step_q   <= '0;
      left_q   <= cmd_i.count[Levels-1];
      last_q   <= cmd_i.last_row;
      pitch_q  <= cmd_i.stride[Levels-1];
      source_q <= {cmd_i.addr_hi[AddrWidth-33:0], cmd_i.addr_lo};
      addr_o   <= start_i;
    end else begin
      if (filling) step_q <= step_q + 1'b1;
      if (read_o) begin
        left_q <= left_q - 1;
        addr_o <= addr_o + IndexBytes;
      end
    end
    if (moves) begin
      row_q     <= data_i < last_q ? data_i : last_q;
      product_q <= AddrWidth'(64'(row_q) * 64'(pitch_q));
    end
  end
endmodule
