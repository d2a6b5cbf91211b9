// Two-entry command queue: full throughput with registered ready.
module cmd_fifo #(
  parameter type T = logic,
  localparam int unsigned Width = $bits(T)
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic ready_o,
  input  T     data_i,
  output logic valid_o,
  input  logic ready_i,
  output T     data_o
);
  logic [1:0]       count_q, count_d;
  logic [Width-1:0] head_q, tail_q;
  logic             push, pop;

  assign ready_o = count_q != 2'd2;
  assign valid_o = count_q != 2'd0;
  assign data_o  = head_q;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign count_d = count_q + {1'b0, push} - {1'b0, pop};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= 2'd0;
    else         count_q <= count_d;
  end

  always_ff @(posedge clk_i) begin
    if (pop && count_q == 2'd2)                         head_q <= tail_q;
    else if (push && (count_q == 2'd0 || pop))          head_q <= data_i;
    if (push && (count_q == 2'd1 && !pop))              tail_q <= data_i;
  end
endmodule
