// What goes along with a row through the stages: whether there is one, and where its sums go.
module tag_pipe #(
  parameter int Stages   = 5,
  parameter int RowWidth = 6
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                step_i,
  input  logic                valid_i,
  input  logic                accumulate_i,
  input  logic [RowWidth-1:0] row_i,
  output logic                first_o,  // the first stage has a row
  output logic                valid_o,  // so has the last one, and what follows is of it
  output logic                accumulate_o,
  output logic [RowWidth-1:0] row_o
);
  localparam int Width = RowWidth + 1;

  logic [Stages-1:0]       valid_q;
  logic [Stages*Width-1:0] tags_q;

  assign first_o               = valid_q[0];
  assign valid_o               = valid_q[Stages-1];
  assign {accumulate_o, row_o} = tags_q[(Stages-1)*Width +: Width];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)     valid_q <= '0;
    else if (step_i) valid_q <= {valid_q[Stages-2:0], valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (step_i) tags_q <= {tags_q[(Stages-1)*Width-1:0], accumulate_i, row_i};
  end
endmodule
