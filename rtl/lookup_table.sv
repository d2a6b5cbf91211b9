// The table of a unit: 256 int8, written some bytes at a time, looked up by all lanes at once.
// Entry v + 128 is that of the int8 v.
module lookup_table
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input  logic                             clk_i,
  input  logic                             write_i,
  input  code_t                            entry_i,  // first of those that are written
  input  logic [TableBeat*OperandBits-1:0] data_i,
  input  code_t [Lanes-1:0]                value_i,
  output code_t [Lanes-1:0]                result_o
);
  localparam int unsigned Beats = TableBytes / TableBeat, BeatBits = $clog2(TableBeat);
  logic [TableBeat*OperandBits-1:0] table_q [Beats];

  always_ff @(posedge clk_i) if (write_i) table_q[entry_i[7:BeatBits]] <= data_i;

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    code_t entry;
    assign entry       = value_i[i] ^ 8'h80;
    assign result_o[i] = table_q[entry[7:BeatBits]][{entry[BeatBits-1:0], 3'b000} +: OperandBits];
  end
endmodule
