// The command in work of one stage of a queue. The stage takes the next command when it has none or
// in the last cycle of the one it has, so that commands follow each other without a gap. It starts
// when `ready_i` says that it may: its tokens are there, and whatever else the stage waits for.
module cmd_issue (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic enable_i,
  input  logic next_i,    // there is a next command
  input  logic ready_i,   // the command may start
  input  logic done_i,    // this is its last cycle
  output logic load_o,    // the stage's registers take the next command
  output logic start_o,   // first cycle
  output logic active_o   // first to last cycle
);
  logic valid_q, started_q;

  assign load_o   = next_i && (!valid_q || done_i);
  assign start_o  = enable_i && valid_q && !started_q && ready_i;
  assign active_o = start_o || started_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      started_q <= 1'b0;
    end else begin
      if (load_o)      valid_q <= 1'b1;
      else if (done_i) valid_q <= 1'b0;
      if (done_i)       started_q <= 1'b0;
      else if (start_o) started_q <= 1'b1;
    end
  end
endmodule
