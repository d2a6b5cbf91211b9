// A queue of four rows. Neither side's ready or valid depends on the other's in the same cycle.
module result_fifo #(
  parameter int Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic [Width-1:0] rows_q [4];
  logic [1:0]       write_q, read_q;
  logic [2:0]       count_q;
  logic             push, pop;

  assign ready_o = count_q != 3'd4;
  assign valid_o = count_q != 3'd0;
  assign data_o  = rows_q[read_q];
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= 2'd0;
      read_q  <= 2'd0;
      count_q <= 3'd0;
    end else begin
      write_q <= write_q + {1'b0, push};
      read_q  <= read_q + {1'b0, pop};
      count_q <= count_q + {2'b0, push} - {2'b0, pop};
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) rows_q[write_q] <= data_i;
  end
endmodule
