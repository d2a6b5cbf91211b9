// Whose turn it is among lanes that have a row for RowStep cycles each: the rows come in order, no
// more than Lanes of them in any RowStep cycles. One that is loaded in a cycle ends RowStep later.
module row_turns
  import accsim_pkg::*;
#(
  parameter  int unsigned Lanes = RowStep / 2,
  localparam int unsigned LaneBits = max_of($clog2(Lanes), 1)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                load_i,
  output logic [Lanes-1:0]    load_o,  // the lane that takes what is loaded
  output logic                busy_o,  // some lane has a row
  output logic                end_o,   // a lane is in the last cycle of its row
  output logic [LaneBits-1:0] lane_o   // that one, or the next one that will be
);
  typedef logic [LaneBits-1:0] lane_t;

  logic  [RowStep-1:0] on_q;  // loaded so many cycles ago, and one
  lane_t               load_q;

  function automatic lane_t after(lane_t lane);
    return lane == lane_t'(Lanes - 1) ? '0 : lane + 1'b1;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q   <= '0;
      load_q <= '0;
      lane_o <= '0;
    end else begin
      on_q <= {on_q[RowStep-2:0], load_i};
      if (load_i) load_q <= after(load_q);
      if (end_o)  lane_o <= after(lane_o);
    end
  end

  assign load_o = load_i ? Lanes'(1) << load_q : '0;
  assign busy_o = on_q != '0;
  assign end_o  = on_q[RowStep-1];
endmodule
