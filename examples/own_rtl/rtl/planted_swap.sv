// Planted: where fewer kernels than there are have weights, the last two results change places. It
// looks at the last load, so results of an earlier one must have left.
module planted_swap #(
  parameter int Kernels = 64
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  beat_i,
  input  logic                  last_i,
  input  logic [Kernels*32-1:0] results_i,
  output logic [Kernels*32-1:0] results_o
);
  localparam int CountWidth = $clog2(Kernels + 1);

  logic [CountWidth-1:0] beats_q, kernels_q;  // of this load; of the last one
  logic                  ragged;

  assign ragged = kernels_q != CountWidth'(Kernels) && kernels_q > CountWidth'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beats_q   <= '0;
      kernels_q <= '0;
    end else if (beat_i) begin
      beats_q <= last_i ? '0 : beats_q + 1'b1;
      if (last_i) kernels_q <= beats_q + 1'b1;
    end
  end

  for (genvar k = 0; k < Kernels; k++) begin : g_result
    localparam int Below = (k == 0) ? 0 : k - 1;
    localparam int Above = (k == Kernels - 1) ? k : k + 1;
    logic is_last, is_next;
    assign is_last = ragged && kernels_q == CountWidth'(k + 1);
    assign is_next = ragged && kernels_q == CountWidth'(k + 2);
    assign results_o[32*k +: 32] = is_last ? results_i[32*Below +: 32] :
                                   is_next ? results_i[32*Above +: 32] : results_i[32*k +: 32];
  end
endmodule
