// A bundle of bits, `Cycles` later. Cleared by reset.
module delay_line #(
  parameter int unsigned Width  = 1,
  parameter int unsigned Cycles = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  logic [Cycles-1:0][Width-1:0] line_q;

  assign data_o = line_q[Cycles-1];

  if (Cycles == 1) begin : gen_one
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) line_q <= '0;
      else         line_q <= data_i;
    end
  end else begin : gen_more
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) line_q <= '0;
      else         line_q <= {line_q[Cycles-2:0], data_i};
    end
  end
endmodule
