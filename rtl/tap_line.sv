// A bundle of bits now (tap 0) and 1, 2, ... Taps - 1 cycles later.
module tap_line #(
  parameter int unsigned Width = 1,
  parameter int unsigned Taps  = 2
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [Width-1:0]           data_i,
  output logic [Taps-1:0][Width-1:0] tap_o
);
  assign tap_o[0] = data_i;

  if (Taps > 1) begin : gen_later
    logic [Taps-2:0][Width-1:0] line_q;
    assign tap_o[Taps-1:1] = line_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) line_q <= '0;
      else         line_q <= tap_o[Taps-2:0];
    end
  end else begin : gen_now
    logic unused;
    assign unused = clk_i ^ rst_ni;
  end
endmodule
