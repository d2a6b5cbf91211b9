// What the lanes of row commands have together: maximum of a softmax' logits, sum of its terms, sum
// and squares of a normalisation. Eight lanes each in a first stage, all of them in a second,
// then what the row's earlier beats have had; outputs are valid in the last stage's cycle of a
// row's last beat.
module row_reduce
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8, ExpLanes = Lanes  // those that have terms
) (
  input  logic                         clk_i,
  input  logic [4:2]                   maximum_on_i,  // a softmax' first pass at these stages
  input  logic [5:3]                   sums_on_i,  // a normalisation's first pass
  input  logic [8:6]                   terms_on_i,  // a softmax' second pass
  input  logic                         maximum_first_i, sums_first_i, terms_first_i,  // last stage
  input  bytes_t                       maximum_bytes_i, sums_bytes_i, terms_bytes_i,  // first stage
  input  logic [Lanes-1:0][24:0]       logit_i,
  input  logic [Lanes-1:0][8:0]        value_i,
  input  logic [Lanes-1:0][15:0]       square_i,
  input  logic [ExpLanes-1:0][30:0]    term_i,
  output logic signed [24:0]           maximum_o,
  output logic signed [24:0]           sum_o,
  output logic [31:0]                  squares_o,
  output logic [46:0]                  terms_o
);
  localparam int unsigned Groups = (Lanes + 7) / 8;
  localparam logic signed [24:0] Lowest = {1'b1, 24'd0};

  logic [Groups-1:0][24:0] maximum8_q;
  logic [Groups-1:0][11:0] sum8_q;
  logic [Groups-1:0][18:0] squares8_q;
  logic [Groups-1:0][33:0] terms8_q;
  logic signed [24:0]      maximum, maximum_q, maximum_row_q;
  logic signed [24:0]      sum, sum_q, sum_row_q;
  logic [31:0]             squares, squares_q, squares_row_q;
  logic [46:0]             terms, terms_q, terms_row_q;

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    localparam int unsigned End = min_of(Lanes, 8 * g + 8);
    logic signed [24:0] maximum8;
    logic signed [11:0] sum8;
    logic [18:0]        squares8;
    logic [33:0]        terms8;
    always_comb begin
      maximum8 = Lowest;
      sum8     = '0;
      squares8 = '0;
      terms8   = '0;
      for (int unsigned i = 8 * g; i < End; i++) begin
        if (bytes_t'(i) < maximum_bytes_i && signed'(logit_i[i]) > maximum8) maximum8 = logit_i[i];
        if (bytes_t'(i) < sums_bytes_i) begin
          sum8     = sum8 + 12'(signed'(value_i[i]));
          squares8 = squares8 + 19'(square_i[i]);
        end
      end
      for (int unsigned i = 8 * g; i < min_of(End, ExpLanes); i++)
        if (bytes_t'(i) < terms_bytes_i) terms8 = terms8 + 34'(term_i[i]);
    end
    always_ff @(posedge clk_i) begin
      if (maximum_on_i[2]) maximum8_q[g] <= maximum8;
      if (sums_on_i[3]) begin
        sum8_q[g]     <= sum8;
        squares8_q[g] <= squares8;
      end
      if (terms_on_i[6]) terms8_q[g] <= terms8;
    end
  end

  always_comb begin
    maximum = Lowest;
    sum     = '0;
    squares = '0;
    terms   = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      if (signed'(maximum8_q[g]) > maximum) maximum = maximum8_q[g];
      sum     = sum + 25'(signed'(sum8_q[g]));
      squares = squares + 32'(squares8_q[g]);
      terms   = terms + 47'(terms8_q[g]);
    end
  end

  assign maximum_o = !maximum_first_i && maximum_row_q > maximum_q ? maximum_row_q : maximum_q;
  assign sum_o     = sum_q + (sums_first_i ? '0 : sum_row_q);
  assign squares_o = squares_q + (sums_first_i ? '0 : squares_row_q);
  assign terms_o   = terms_q + (terms_first_i ? '0 : terms_row_q);

  always_ff @(posedge clk_i) begin
    if (maximum_on_i[3]) maximum_q <= maximum;
    if (maximum_on_i[4]) maximum_row_q <= maximum_o;
    if (sums_on_i[4]) begin
      sum_q     <= sum;
      squares_q <= squares;
    end
    if (sums_on_i[5]) begin
      sum_row_q     <= sum_o;
      squares_row_q <= squares_o;
    end
    if (terms_on_i[7]) terms_q <= terms;
    if (terms_on_i[8]) terms_row_q <= terms_o;
  end
endmodule
