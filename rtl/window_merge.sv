// Puts the segments of a row together and fills what lies outside the tile.
module window_merge
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8,
  localparam int unsigned LaneBits = $clog2(Lanes + 1)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 step_i,
  input  logic [WindowLines-1:0]               read_i,
  input  logic [WindowLines-1:0][LaneBits-1:0] low_i,
  input  logic [WindowLines-1:0][LaneBits-1:0] high_i,
  input  code_t                                pad_i,
  input  code_t [WindowLines-1:0][Lanes-1:0]   data_i,  // one cycle after read_i
  output code_t [Lanes-1:0]                    row_o    // two cycles after read_i
);
  logic                                 step_q;
  logic [WindowLines-1:0]               read_q;
  logic [WindowLines-1:0][LaneBits-1:0] low_q, high_q;
  code_t                                pad_q;
  code_t [Lanes-1:0]                    row_q, row_d, mask;

  assign row_o = row_q;

  always_comb begin
    row_d = row_q;
    mask  = '0;
    if (step_q) begin
      row_d = {Lanes{pad_q}};
      for (int unsigned s = 0; s < WindowLines; s++) begin
        if (read_q[s]) begin
          mask  = ({(Lanes*OperandBits){1'b1}} << {low_q[s], 3'b000}) &
                  ~({(Lanes*OperandBits){1'b1}} << {high_q[s], 3'b000});
          row_d = (row_d & ~mask) | (data_i[s] & mask);
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= 1'b0;
      read_q <= '0;
    end else begin
      step_q <= step_i;
      read_q <= read_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      low_q  <= low_i;
      high_q <= high_i;
      pad_q  <= pad_i;
    end
    row_q <= row_d;
  end
endmodule
