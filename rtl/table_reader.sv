// Reads a table from the parameter slot into a unit's registers: waits until what came before has
// left the unit, then a beat a cycle. The command takes Wait + TableBytes / TableBeat cycles.
module table_reader
  import accsim_pkg::*;
#(
  parameter int unsigned Wait = 8
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       load_i,   // the cycle before the command's first
  input  word_t      start_i,  // address of the table
  input  logic       step_i,   // the command is in work
  output logic       read_o,
  output word_t      addr_o,
  output logic       last_o,   // its last cycle
  output logic       write_o,  // data of the read before is there
  output code_t      entry_o
);
  localparam int unsigned Steps = Wait + TableBytes / TableBeat;
  localparam int unsigned Bits  = $clog2(Steps + 1);
  logic [Bits-1:0] step_q;

  assign read_o = step_i && step_q >= Bits'(Wait);
  assign last_o = step_q == Bits'(Steps - 1);

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      step_q <= '0;
      addr_o <= start_i;
    end else if (step_i) begin
      step_q <= step_q + 1'b1;
      if (read_o) addr_o <= addr_o + TableBeat;
    end
    if (read_o) entry_o <= code_t'((32'(step_q) - 32'(Wait)) * TableBeat);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) write_o <= 1'b0;
    else         write_o <= read_o;
  end
endmodule
