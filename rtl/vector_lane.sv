// One lane of the vector unit: clip(round(s / 2^shift) + zero, low, high) of s = A * factor, or of
// A and B put together; A is a sum, minimum or maximum of taps less their zero point. Stage i works
// when valid_i[i] is set; from stage 2 on that is once for all taps. `across` brings what all lanes
// have of a row that is reduced. Where windows slide, the lane keeps the last columns put together,
// by one, two, three ...: a new column is put together with so many before it as a window has.
// With Mac, the lane can weigh taps: it adds up products of a and b, and behind the last one the
// bias of a channel. The sum is multiplied by the channel's 32 bits.
module vector_lane
  import accsim_pkg::*;
#(
  parameter bit Mac = 1'b0
) (
  input  logic               clk_i,
  input  logic [6:0]         valid_i,
  input  code_t              a_i,            // stage 0
  input  code_t              b_i,
  input  lane_zeros_t        operand_zeros_i,
  output difference_t        difference_o,   // after stage 0
  input  logic               first_i,        // stage 1: the first tap
  input  logic               last_i,         // ... the last one
  input  logic               mac_i,
  input  sum_t               bias_i,
  input  tap_op_e            tap_op_i,
  input  logic               across_i,
  input  sum_t               all_i,          // the taps of all lanes put together
  input  logic               column_i,       // the last tap of a column of a window that slides
  input  logic               window_i,       // ... whose last column it is
  input  logic [2:0]         kept_i,         // columns before the last
  input  lane_op_e           multiply_op_i,  // stage 2
  input  lane_factors_t      multiply_factors_i,
  input  multiplier_t        multiplier_i,   // of a mac
  input  lane_op_e           op_i,           // stage 3
  input  lane_factors_t      factors_i,
  input  logic [5:0]         half_shift_i,   // stage 4
  input  logic [5:0]         shift_i,        // stage 5
  input  factor_t            zero_i,         // stage 6
  input  operand_t           low_i,
  input  operand_t           high_i,
  output code_t              value_o         // after stage 6
);
  localparam int unsigned ColumnBits = 20;
  localparam int unsigned MostFactorBits = Mac ? MultiplierBits : FactorBits;
  localparam int unsigned WeighedBits = AccumulatorBits + MostFactorBits;
  difference_t a_q, b_q, b_late_q;
  sum_t own, tap, taps, result, taps_q;
  logic signed [MostColumns-2:0][ColumnBits-1:0] columns_q;  // the last, the last two ...
  logic [2:0] others;
  factor_t narrow;
  logic signed [MostFactorBits-1:0] factor;
  logic signed [WeighedBits-1:0] product_q;
  weighted_t other_q;
  scaled_t sum_q, rounded_q, moved;
  scaled_t product, other;
  logic [ScaledBits-1:0] magnitude_q;
  logic negative_q;
  code_t value_q;

  assign difference_o = a_q;
  assign value_o      = value_q;
  assign tap          = across_i ? all_i : own;
  assign product      = scaled_t'(product_q);
  assign other        = scaled_t'(other_q);
  assign narrow       = multiply_op_i == LaneMul ? factor_t'(b_late_q) : multiply_factors_i.a;
  assign moved        = rounded_q + scaled_t'(zero_i);

  function automatic sum_t put(tap_op_e op, sum_t a, b);
    case (op)
      TapMin:  return a < b ? a : b;
      TapMax:  return a > b ? a : b;
      TapSum:  return a + b;
      default: return '0;
    endcase
  endfunction
  function automatic sum_t column(logic signed [ColumnBits-1:0] of);
    return sum_t'(of);
  endfunction
  function automatic difference_t less(code_t value, code_t zero);
    return difference_t'(signed'(value)) - difference_t'(signed'(zero));
  endfunction

  assign others = kept_i - 3'd1;
  assign taps   = first_i ? tap : put(tap_op_i, taps_q, tap);

  if (Mac) begin : gen_mac
    assign own    = mac_i ? sum_t'((ProductBits+2)'(a_q) * (ProductBits+2)'(b_q)) : sum_t'(a_q);
    assign result = taps + (mac_i && last_i ? bias_i : '0);
    assign factor = multiply_op_i == LaneMac ? multiplier_i : sum_t'(narrow);
  end else begin : gen_plain
    assign own    = sum_t'(a_q);
    assign result = taps;
    assign factor = narrow;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i[0]) begin
      a_q <= less(a_i, operand_zeros_i.a);
      b_q <= less(b_i, operand_zeros_i.b);
    end
    if (valid_i[1]) begin
      b_late_q <= b_q;
      taps_q   <= window_i ? put(tap_op_i, column(columns_q[others]), taps) : result;
      if (column_i) begin
        columns_q[0] <= taps[ColumnBits-1:0];
        for (int unsigned i = 1; i < MostColumns - 1; i++) begin
          columns_q[i] <= ColumnBits'(put(tap_op_i, column(columns_q[i-1]), taps));
        end
      end
    end
    if (valid_i[2]) begin
      product_q <= WeighedBits'(taps_q) * WeighedBits'(factor);
      other_q   <= weighted_t'(b_late_q) * weighted_t'(signed'(multiply_factors_i.b));
    end
    if (valid_i[3]) begin
      case (op_i)
        LaneAdd:  sum_q <= product + other;
        LaneSub:  sum_q <= product - other;
        LaneMul:  sum_q <= product * scaled_t'(signed'(factors_i.a));
        LaneMin:  sum_q <= product < other ? product : other;
        LaneMax:  sum_q <= product > other ? product : other;
        LaneCopy: sum_q <= product;
        LaneMac:  sum_q <= product;
        default:  sum_q <= '0;
      endcase
    end
    if (valid_i[4]) begin
      magnitude_q <= unsigned'(sum_q < 0 ? -sum_q : sum_q) +
                     ((ScaledBits'(1'b1) << half_shift_i) >> 1);
      negative_q  <= sum_q < 0;
    end
    if (valid_i[5]) begin
      rounded_q <= negative_q ? -(magnitude_q >> shift_i) : magnitude_q >> shift_i;
    end
    if (valid_i[6]) begin
      value_q <= moved < scaled_t'(low_i)    ? low_i
                 : moved > scaled_t'(high_i) ? high_i : moved[OperandBits-1:0];
    end
  end
endmodule
