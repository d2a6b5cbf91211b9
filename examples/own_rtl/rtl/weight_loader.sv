// Hands the beats of the weight port to the kernels, one after the other.
module weight_loader #(
  parameter int Kernels = 64
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic               last_i,
  input  logic               hold_i,    // a row waits that needs the weights as they are
  output logic [Kernels-1:0] write_o,   // the kernel that takes this beat
  output logic               clear_o,   // all others forget theirs: the first beat
  output logic               loading_o  // between the first beat and the last
);
  localparam int IndexWidth = $clog2(Kernels);

  logic [IndexWidth-1:0] kernel_q;
  logic                  loading_q, beat;

  assign ready_o   = !hold_i;
  assign beat      = valid_i && ready_o;
  assign clear_o   = beat && !loading_q;
  assign loading_o = loading_q;

  for (genvar k = 0; k < Kernels; k++) begin : g_write
    assign write_o[k] = beat && kernel_q == IndexWidth'(k);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kernel_q  <= '0;
      loading_q <= 1'b0;
    end else if (beat) begin
      kernel_q  <= last_i ? '0 : kernel_q + 1'b1;
      loading_q <= !last_i;
    end
  end
endmodule
