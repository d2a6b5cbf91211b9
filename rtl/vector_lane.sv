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
  input  logic [7:0]         a_i,            // stage 0
  input  logic [7:0]         b_i,
  input  lane_zeros_t        operand_zeros_i,
  output logic signed [8:0]  difference_o,   // after stage 0
  input  logic               first_i,        // stage 1: the first tap
  input  logic               last_i,         // ... the last one
  input  logic               mac_i,
  input  logic signed [31:0] bias_i,
  input  tap_op_e            tap_op_i,
  input  logic               across_i,
  input  logic signed [31:0] all_i,          // the taps of all lanes put together
  input  logic               column_i,       // the last tap of a column of a window that slides
  input  logic               window_i,       // ... whose last column it is
  input  logic [2:0]         kept_i,         // columns before the last
  input  lane_op_e           multiply_op_i,  // stage 2
  input  lane_factors_t      multiply_factors_i,
  input  logic signed [31:0] multiplier_i,   // of a mac
  input  lane_op_e           op_i,           // stage 3
  input  lane_factors_t      factors_i,
  input  logic [5:0]         half_shift_i,   // stage 4
  input  logic [5:0]         shift_i,        // stage 5
  input  logic signed [15:0] zero_i,         // stage 6
  input  logic signed [7:0]  low_i,
  input  logic signed [7:0]  high_i,
  output logic [7:0]         value_o         // after stage 6
);
  localparam int unsigned ColumnBits = 20;
  localparam int unsigned FactorBits = Mac ? 32 : 16, ProductBits = 32 + FactorBits;
  logic signed [8:0]  a_q, b_q, b_late_q;
  logic signed [31:0] own, tap, taps, result, taps_q;
  logic signed [MostColumns-2:0][ColumnBits-1:0] columns_q;  // the last, the last two ...
  logic [2:0]         others;
  logic signed [15:0] narrow;
  logic signed [FactorBits-1:0]  factor;
  logic signed [ProductBits-1:0] product_q;
  logic signed [24:0] other_q;
  logic signed [63:0] sum_q, rounded_q, moved;
  logic signed [63:0] product, other;
  logic [63:0]        magnitude_q;
  logic               negative_q;
  logic [7:0]         value_q;

  assign difference_o = a_q;
  assign value_o      = value_q;
  assign tap          = across_i ? all_i : own;
  assign product      = 64'(product_q);
  assign other        = 64'(other_q);
  assign narrow       = multiply_op_i == LaneMul ? 16'(b_late_q) : multiply_factors_i.a;
  assign moved        = rounded_q + 64'(zero_i);

  function automatic logic signed [31:0] put(tap_op_e op, logic signed [31:0] a, b);
    case (op)
      TapMin:  return a < b ? a : b;
      TapMax:  return a > b ? a : b;
      TapSum:  return a + b;
      default: return '0;
    endcase
  endfunction
  function automatic logic signed [31:0] column(logic signed [ColumnBits-1:0] of);
    return 32'(of);
  endfunction
  function automatic logic signed [8:0] less(logic [7:0] value, logic [7:0] zero);
    return 9'(signed'(value)) - 9'(signed'(zero));
  endfunction

  assign others = kept_i - 3'd1;
  assign taps   = first_i ? tap : put(tap_op_i, taps_q, tap);

  if (Mac) begin : gen_mac
    assign own    = mac_i ? 32'(18'(a_q) * 18'(b_q)) : 32'(a_q);
    assign result = taps + (mac_i && last_i ? bias_i : '0);
    assign factor = multiply_op_i == LaneMac ? multiplier_i : 32'(narrow);
  end else begin : gen_plain
    assign own    = 32'(a_q);
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
      product_q <= ProductBits'(taps_q) * ProductBits'(factor);
      other_q   <= 25'(b_late_q) * 25'(signed'(multiply_factors_i.b));
    end
    if (valid_i[3]) begin
      case (op_i)
        LaneAdd:  sum_q <= product + other;
        LaneSub:  sum_q <= product - other;
        LaneMul:  sum_q <= product * 64'(signed'(factors_i.a));
        LaneMin:  sum_q <= product < other ? product : other;
        LaneMax:  sum_q <= product > other ? product : other;
        LaneCopy: sum_q <= product;
        LaneMac:  sum_q <= product;
        default:  sum_q <= '0;
      endcase
    end
    if (valid_i[4]) begin
      magnitude_q <= unsigned'(sum_q < 0 ? -sum_q : sum_q) + ((64'd1 << half_shift_i) >> 1);
      negative_q  <= sum_q < 0;
    end
    if (valid_i[5]) begin
      rounded_q <= negative_q ? -(magnitude_q >> shift_i) : magnitude_q >> shift_i;
    end
    if (valid_i[6]) begin
      value_q <= moved < 64'(low_i) ? low_i : moved > 64'(high_i) ? high_i : moved[7:0];
    end
  end
endmodule
