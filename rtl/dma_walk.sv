// Beats of a strided walk, one a step: at most `port_bytes_i` bytes of one run each. The slot side
// is dense. Outputs come from registers; a command is loaded the cycle before its first beat.
module dma_walk
  import accsim_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 load_i,
  input  dma_cmd_t             cmd_i,
  input  logic                 step_i,
  input  logic [15:0]          port_bytes_i,
  output logic [AddrWidth-1:0] addr_o,
  output word_t                slot_offset_o,
  output logic [15:0]          bytes_o,
  output logic                 last_o
);
  logic  [Levels-1:0][AddrWidth-1:0] base_q, base_d;  // where the current run of a level starts
  word_t [Levels-1:0]                index_q, index_d, count_q, stride_q;
  word_t                             run_q, left_q, left_d, slot_q, slot_d;
  logic  [AddrWidth-1:0]             addr_q, addr_d, first;
  logic                              run_end, last_run;

  assign run_end       = left_q <= 32'(port_bytes_i);
  assign addr_o        = addr_q;
  assign slot_offset_o = slot_q;
  assign bytes_o       = run_end ? left_q[15:0] : port_bytes_i;
  assign last_o        = run_end && last_run;
  assign first         = {cmd_i.addr_hi[AddrWidth-33:0], cmd_i.addr_lo};

  always_comb begin
    last_run = 1'b1;
    for (int unsigned l = 0; l < Levels; l++) last_run &= index_q[l] == count_q[l] - 1;
  end

  // The innermost level that isn't at its end advances; those inside it start again from there.
  always_comb begin
    automatic logic carry = 1'b1;
    index_d = index_q;
    base_d  = base_q;
    addr_d  = addr_q + AddrWidth'(port_bytes_i);
    left_d  = left_q - 32'(port_bytes_i);
    slot_d  = slot_q + 32'(bytes_o);
    if (run_end) begin
      left_d = run_q;
      for (int unsigned l = 0; l < Levels; l++) begin
        if (carry) begin
          if (index_q[l] == count_q[l] - 1) begin
            index_d[l] = '0;
          end else begin
            carry      = 1'b0;
            index_d[l] = index_q[l] + 1;
            addr_d     = base_q[l] + unsigned'(AddrWidth'(signed'(stride_q[l])));
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
      addr_q   <= first;
    end else if (step_i) begin
      base_q  <= base_d;
      index_q <= index_d;
      left_q  <= left_d;
      slot_q  <= slot_d;
      addr_q  <= addr_d;
    end
  end
endmodule
