// Tokens of one kind of one buffer. A token given in cycle t can be taken in t + 1.
module token_counter #(
  parameter int unsigned Initial = 0,
  parameter int unsigned Max     = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic give_i,
  input  logic take_i,
  output logic some_o
);
  localparam int unsigned Width = $clog2(Max + 1);
  logic [Width-1:0] count_q;

  assign some_o = count_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= Width'(Initial);
    else         count_q <= count_q + Width'(give_i) - Width'(take_i);
  end
endmodule
