// Rows of the weight operand, one a step; steps beyond the last row and lanes beyond the last
// element give zeros. Data comes two cycles after its step.
module weight_walk
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               load_i,
  input  word_t              start_i,
  input  word_t              pitch_i,
  input  word_t              rows_i,
  input  word_t              lanes_i,
  input  logic               step_i,
  output logic               read_o,
  output word_t              addr_o,
  input  logic [Lanes*8-1:0] data_i,
  output logic [Lanes*8-1:0] row_o
);
  localparam int unsigned LaneBits = $clog2(Lanes + 1);

  word_t               addr_q, pitch_q, left_q;
  logic [LaneBits-1:0] lanes_q, read_lanes_q;
  logic                step_q, read_q;
  logic [Lanes*8-1:0]  row_q;

  assign read_o = step_i && left_q != '0;
  assign addr_o = addr_q;
  assign row_o  = row_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= 1'b0;
      read_q <= 1'b0;
    end else begin
      step_q <= step_i;
      read_q <= read_o;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      addr_q  <= start_i;
      pitch_q <= pitch_i;
      left_q  <= rows_i;
      lanes_q <= lanes_i[LaneBits-1:0];
    end else if (read_o) begin
      addr_q <= addr_q + pitch_q;
      left_q <= left_q - 1;
    end
    if (read_o) read_lanes_q <= lanes_q;
    if (read_q)      row_q <= data_i & ~({(Lanes*8){1'b1}} << {read_lanes_q, 3'b000});
    else if (step_q) row_q <= '0;
  end
endmodule
