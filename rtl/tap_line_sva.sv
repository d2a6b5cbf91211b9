// Checks tap_line.sv: each tap is what the one before it was.
`include "sva.svh"

module tap_line_sva #(
  parameter int unsigned Width = 1,
  parameter int unsigned Taps  = 2
) (
  input logic                       clk_i,
  input logic                       rst_ni,
  input logic [Width-1:0]           data_i,
  input logic [Taps-1:0][Width-1:0] tap_o
);
  if (Width < 1 || Taps < 1) begin : gen_illegal
    $error("tap_line: at least one bit and one tap");
  end

  `ASSERT(FirstIsNow_A, tap_o[0] == data_i);
  if (Taps > 1) begin : gen_later
    logic out_of_reset_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) out_of_reset_q <= 1'b0;
      else         out_of_reset_q <= 1'b1;
    end
    for (genvar i = 1; i < Taps; i++) begin : gen_tap
      `ASSERT(TapFollows_A, out_of_reset_q |-> tap_o[i] == $past(tap_o[i-1]));
    end
  end
endmodule

bind tap_line tap_line_sva #(.Width(Width), .Taps(Taps)) u_sva (.*);
