// The tables of a softmax: 64 words coarse and 64 fine, of which the lowest 31 bits count. Read
// from the parameter slot from the command's second cycle on, when what came before needs them no
// longer, a beat a cycle: they are there before the command's first row needs them. Every lane that
// has exponentials looks one word up in each.
module row_tables
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      load_i,   // the cycle before the command's first
  input  word_t                     start_i,
  input  logic                      step_i,   // a softmax is in work
  output logic                      read_o,
  output word_t                     addr_o,
  input  byte_t [RowTableBeat-1:0]  data_i,   // one cycle later
  input  logic [Lanes-1:0][11:0]    difference_i,
  output logic [Lanes-1:0][30:0]    coarse_o,
  output logic [Lanes-1:0][30:0]    fine_o
);
  localparam int unsigned Beats = RowTableBytes / RowTableBeat;

  logic [RowTableBeat*ByteBits-1:0] words_q [Beats];
  logic [5:0]                step_q;  // 0: the first cycle, then the beats, Beats + 1: all is read
  logic [4:0]                beat_q;
  logic                      write_q;

  assign read_o = step_i && step_q != '0 && step_q <= 6'(Beats);

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      step_q <= '0;
      addr_o <= start_i;
    end else if (step_i && step_q <= 6'(Beats)) begin
      step_q <= step_q + 1'b1;
      if (read_o) addr_o <= addr_o + RowTableBeat;
    end
    beat_q <= 5'(step_q - 1'b1);
    if (write_q) words_q[beat_q] <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_q <= 1'b0;
    else         write_q <= read_o;
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [11:0] d;
    assign d           = difference_i[i];
    assign coarse_o[i] = words_q[{1'b0, d[11:8]}][{d[7:6], 5'd0} +: 31];
    assign fine_o[i]   = words_q[{1'b1, d[5:2]}][{d[1:0], 5'd0} +: 31];
  end
endmodule
