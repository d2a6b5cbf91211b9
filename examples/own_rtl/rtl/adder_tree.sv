// Sums signed numbers. A stage has two levels of adders and a register: four numbers become one.
module adder_tree #(
  parameter int Inputs = 64,
  parameter int Width  = 16,
  parameter int Stages = 3  // 4^Stages >= Inputs
) (
  input  logic                    clk_i,
  input  logic                    step_i,
  input  logic [Inputs*Width-1:0] values_i,
  output logic [31:0]             sum_o
);
  localparam int SumWidth = Width + 2 * Stages;

  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int From      = (Inputs + (1 << (2 * s)) - 1) >> (2 * s);
    localparam int To        = (From + 3) / 4;
    localparam int FromWidth = Width + 2 * s;

    logic [From*FromWidth-1:0]    values;
    logic [To*(FromWidth + 2)-1:0] sums;

    if (s == 0) begin : g_first
      assign values = values_i;
    end else begin : g_next
      assign values = g_stage[s-1].sums;
    end

    adder_stage #(.Inputs(From), .Outputs(To), .Width(FromWidth)) u_stage (
      .clk_i,
      .step_i,
      .values_i(values),
      .sums_o  (sums)
    );
  end

  assign sum_o = 32'($signed(g_stage[Stages-1].sums[SumWidth-1:0]));
endmodule
