// One lane of the row commands, see docs/vector-arithmetic.md. Stage k works k cycles after the
// read; what it does depends on the pass of the beat that is there: `exp` beats are those of a
// softmax that need the exponential of a difference, `soft` those of them that are written, `norm`
// those of a normalisation that are written. Both multipliers serve softmax and normalisation, at
// stages of their own.
module row_lane
  import accsim_pkg::*;
#(
  parameter bit Exponential = 1'b1  // without, the lane takes no part in beats that need them
) (
  input  logic                  clk_i,
  input  logic                  logit_on_i,  // stage 1: a softmax, or the write of a normalisation
  input  logic                  first_on_i,  // stage 1: the first pass of a normalisation
  input  logic                  square_on_i,  // stage 2: the same
  input  logic [5:2]            exp_i,
  input  logic [9:6]            soft_i,
  input  logic [9:1]            norm_i,
  input  code_t                 x_i, m_i,  // stage 1
  input  logic [16:0]           factor_i,
  input  logic [FactorBits-1:0] mask_factor_i,
  input  logic signed [24:0]    offset_i,  // of a normalisation: what n x is less
  input  code_t                 input_zero_i,
  input  logic [63:0]           channel_i,  // beta, multiplier, shift
  output logic signed [24:0]    logit_o,  // after stage 1
  output logic signed [8:0]     value_late_o,  // after stage 2
  output logic [15:0]           square_o,
  input  logic signed [24:0]    maximum_i,  // stage 2
  input  logic [3:0]            difference_shift_i,
  output logic [11:0]           difference_o,  // after stage 2
  input  logic [30:0]           coarse_i, fine_i,  // stage 3
  input  logic [30:0]           norm_reciprocal_i,  // stage 2
  input  logic [5:0]            unit_half_i, unit_shift_i,  // stages 3 and 4
  output logic [30:0]           term_o,  // after stage 5
  input  logic [30:0]           soft_reciprocal_i,  // stage 6
  input  logic [5:0]            soft_half_i, soft_shift_i,  // stages 7 and 8
  input  row_zeros_t            zeros_i,  // stage 9
  output code_t                 value_o  // after stage 9
);
  localparam int unsigned BetaBits = 20;

  function automatic logic [63:0] half(logic [5:0] shift);
    return (64'd1 << shift) >> 1;
  endfunction
  function automatic logic [63:0] size(logic signed [63:0] value);
    return unsigned'(value < 0 ? -value : value);
  endfunction
  function automatic logic signed [63:0] signed_as(logic negative, logic [63:0] magnitude);
    return negative ? -signed'(magnitude) : signed'(magnitude);
  endfunction

  // ---- stages 1 to 3: what is multiplied --------------------------------------------------------
  logic signed [24:0] logit_q, weighted;
  logic signed [8:0]  value_q, value_late_q;
  logic [15:0]        square_q;
  logic [30:0]        coarse, fine;  // at stage 4
  logic [30:0]        term_q;
  logic signed [63:0] first_q;

  assign logit_o      = logit_q;
  assign value_late_o = value_late_q;
  assign square_o     = square_q;
  assign weighted = 25'(signed'({1'b0, factor_i})) * 25'(signed'(x_i));

  always_ff @(posedge clk_i) begin
    if (logit_on_i) begin
      logit_q <= norm_i[1] ? weighted - offset_i
                           : weighted + 25'(signed'({1'b0, mask_factor_i})) * 25'(signed'(m_i));
    end
    if (first_on_i) value_q <= 9'(signed'(x_i)) - 9'(signed'(input_zero_i));
    if (square_on_i) begin
      value_late_q <= value_q;
      square_q     <= 16'(18'(value_q) * 18'(value_q));
    end
  end

  if (Exponential) begin : gen_exponential
    logic [24:0] below, steps;
    logic [12:0] difference_q;
    logic [30:0] coarse_q, fine_q;
    assign below        = unsigned'(maximum_i - logit_q) + ((25'd1 << difference_shift_i) >> 1);
    assign steps        = below >> difference_shift_i;
    assign difference_o = difference_q[11:0];
    assign coarse       = coarse_q;
    assign fine         = fine_q;
    always_ff @(posedge clk_i) begin
      if (exp_i[2]) difference_q <= steps >= 25'd4096 ? 13'd4096 : steps[12:0];
      if (exp_i[3]) begin
        coarse_q <= difference_q[12] ? '0 : coarse_i;
        fine_q   <= fine_i;
      end
      if (exp_i[5]) term_q <= 31'((first_q + 64'sd536870912) >>> 30);
    end
  end else begin : gen_none
    logic unused;
    assign unused       = ^{maximum_i, difference_shift_i, coarse_i, fine_i, exp_i};
    assign term_q       = '0;
    assign difference_o = '0;
    assign coarse       = '0;
    assign fine         = '0;
  end

  // ---- the first multiplier: the exponential, or the normalised element -------------------------
  logic signed [31:0] first_a, first_b;
  logic [63:0]        unit_magnitude_q;
  logic               unit_negative_q;
  logic signed [31:0] unit_q;

  assign term_o  = term_q;
  assign first_a = norm_i[2] ? 32'(logit_q) : {1'b0, coarse};
  assign first_b = {1'b0, norm_i[2] ? norm_reciprocal_i : fine};

  always_ff @(posedge clk_i) begin
    if ((Exponential && exp_i[4]) || norm_i[2]) first_q <= 64'(first_a) * 64'(first_b);
    if (norm_i[3]) begin
      unit_magnitude_q <= size(first_q) + half(unit_half_i);
      unit_negative_q  <= first_q < 0;
    end
    if (norm_i[4]) unit_q <= 32'(signed_as(unit_negative_q, unit_magnitude_q >> unit_shift_i));
  end

  // ---- a channel waits for its element ----------------------------------------------------------
  logic [7:2][31:0]   beta_q;
  logic [4:2][25:0]   multiplier_q;
  logic [6:2][5:0]    shift_q;
  logic [31:0]        beta8_q;
  logic signed [25:0] multiplier5_q;
  logic [5:0]         shift7_q;

  always_ff @(posedge clk_i) begin
    if (norm_i[1]) begin
      beta_q[2]       <= channel_i[31:0];
      multiplier_q[2] <= channel_i[57:32];
      shift_q[2]      <= channel_i[63:58];
    end
    for (int unsigned k = 2; k < 7; k++) if (norm_i[k]) beta_q[k+1] <= beta_q[k];
    for (int unsigned k = 2; k < 4; k++) if (norm_i[k]) multiplier_q[k+1] <= multiplier_q[k];
    for (int unsigned k = 2; k < 6; k++) if (norm_i[k]) shift_q[k+1] <= shift_q[k];
    if (norm_i[7]) beta8_q       <= beta_q[7];
    if (norm_i[4]) multiplier5_q <= multiplier_q[4];
    if (norm_i[6]) shift7_q      <= shift_q[6];
  end

  // ---- the second multiplier: the result --------------------------------------------------------
  logic signed [31:0] second_a, second_b;
  logic signed [63:0] second_q, rounded_q, moved, sum;
  logic [63:0]        magnitude_q, beta_magnitude_q;
  logic               negative_q, beta_negative_q;
  logic [5:0]         second_half, second_shift;
  code_t              result_q;

  assign value_o      = result_q;
  assign second_a     = norm_i[5] ? unit_q : {1'b0, term_q};
  assign second_b     = norm_i[5] ? 32'(multiplier5_q) : {1'b0, soft_reciprocal_i};
  assign second_half  = norm_i[6] ? shift_q[6] : soft_half_i;
  assign second_shift = norm_i[7] ? shift7_q : soft_shift_i;
  assign sum          = rounded_q + 64'(signed'(beta8_q));
  assign moved = (norm_i[9] ? signed_as(beta_negative_q, beta_magnitude_q >> BetaBits) : rounded_q)
                 + 64'(signed'(zeros_i.output_zero));

  always_ff @(posedge clk_i) begin
    if (soft_i[6] || norm_i[5]) second_q <= 64'(second_a) * 64'(second_b);
    if (soft_i[7] || norm_i[6]) begin
      magnitude_q <= size(second_q) + half(second_half);
      negative_q  <= second_q < 0;
    end
    if (soft_i[8] || norm_i[7]) rounded_q <= signed_as(negative_q, magnitude_q >> second_shift);
    if (norm_i[8]) begin
      beta_magnitude_q <= size(sum) + half(6'(BetaBits));
      beta_negative_q  <= sum < 0;
    end
    if (soft_i[9] || norm_i[9]) begin
      result_q <= moved < 64'(signed'(zeros_i.low))    ? zeros_i.low
                  : moved > 64'(signed'(zeros_i.high)) ? zeros_i.high : moved[OperandBits-1:0];
    end
  end
endmodule
