#include "sim/program/network_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hw/golden/row_math.h"

namespace accsim::sim {
namespace {

std::vector<uint8_t> random_bytes(int64_t count, std::mt19937& random) {
  std::vector<uint8_t> out(static_cast<size_t>(count));
  for (uint8_t& b : out) b = static_cast<uint8_t>(random());
  return out;
}

void put_words(std::vector<uint8_t>& out, std::initializer_list<int32_t> words) {
  for (const int32_t word : words)
    for (int byte = 0; byte < 4; ++byte)
      out.push_back(static_cast<uint8_t>(static_cast<uint32_t>(word) >> (8 * byte)));
}

/// Draws the numbers of one part.
class Drawer {
 public:
  Drawer(const NetworkPart& part, const hw::HwConfig& hw, const ZeroPoints& zeros,
         const std::vector<int8_t>& weights, std::mt19937& random)
      : part_(part), hw_(hw), zeros_(zeros), weights_(weights), random_(random) {
    out_.source = part.mapping->source;
    const std::vector<hw::ProgramTensor>& tensors = part.mapping->program.tensors;
    for (size_t i = 0; i < tensors.size(); ++i)
      out_.constants.push_back(part.constant[i] ? random_bytes(tensors[i].bytes, random)
                                                : std::vector<uint8_t>());
  }

  PartNumbers draw_part() {
    visit_kind(out_.source, [&](auto& source) { draw_numbers(source); });
    return std::move(out_);
  }

 private:
  int64_t draw_integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int32_t draw_int32(int64_t low, int64_t high) {
    return static_cast<int32_t>(draw_integer(low, high));
  }
  double draw_real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  int32_t draw_zero_point(size_t tensor) const { return zeros_(part_.tensors[tensor]); }

  // ---- moves: what they say follows from their tilings ------------------------------------------

  void draw_numbers(GatherSource&) {}
  void draw_numbers(MoveSource&) {}
  void draw_numbers(StreamSource&) {}

  // ---- products ---------------------------------------------------------------------------------

  void draw_numbers(GemmSource& source) {
    GemmProblem& p = source.problem;
    out_.operands = random_operands(p, weights_, random_);
    p.a_zero = draw_zero_point(kA);
    p.epilogue.zero = draw_zero_point(kOut);
    if (p.residual) {
      p.epilogue.residual->zero = draw_zero_point(p.has_parameters ? kParameters + 1 : kParameters);
      p.epilogue.residual->multiplier = draw_int32(INT16_MIN, INT16_MAX);
      p.epilogue.residual->shift = draw_int32(14, 16);
    }
    const hw::MemoryImage image = pack_operands(p, hw_, source.tiling, out_.operands);
    for (size_t i = 0; i < image.size(); ++i)
      if (part_.constant[i]) out_.constants[i] = image[i];
  }

  // ---- lane operations --------------------------------------------------------------------------

  /// About 1 / divisor, of results of `bits` bits more than int8 has.
  LaneScale draw_scale(int64_t divisor, int bits) {
    const auto size = static_cast<int>(std::bit_width(static_cast<uint64_t>(divisor)));
    return {draw_int32(1 << 13, INT16_MAX) * (draw_integer(0, 7) == 0 ? -1 : 1),
            14 + size - 1 + bits};
  }

  void draw_numbers(LaneSource& source) {
    LaneProblem& p = source.problem;
    LaneFactors& f = p.factors;
    const LaneWork& w = p.work;
    const size_t out = out_.constants.size() - 1;
    int64_t gathered = w.across;
    for (const LaneAxis& x : w.axes) gathered *= x.slide.kernel;
    const bool sums = w.gather == LaneGather::sum || w.gather == LaneGather::mean;
    const bool product = w.op == LaneArithmetic::mul;
    const LaneScale s = draw_scale(sums ? gathered : 1, product ? 6 : 0);
    f.a_zero = draw_zero_point(0);
    f.a_multiplier = s.multiplier;
    f.shift = std::min(s.shift, 62);
    f.epilogue.zero = draw_zero_point(out);
    f.epilogue.low = draw_integer(0, 3) == 0 ? draw_int32(-128, 0) : -128;
    f.epilogue.high = draw_integer(0, 3) == 0 ? draw_int32(0, 127) : 127;
    if (p.has_b()) {
      f.b_zero = draw_zero_point(1);
      f.b_multiplier = draw_int32(INT16_MIN, INT16_MAX);
    }
    if (w.gather == LaneGather::mean)
      f.mean = [s](int64_t divisor) {
        const auto most = std::bit_width(static_cast<uint64_t>(divisor));
        const int64_t one = int64_t{s.multiplier} << (most - 1);
        return LaneScale{static_cast<int32_t>(one / divisor), 14};
      };
  }

  // ---- row operations ---------------------------------------------------------------------------

  void draw_numbers(RowSource& source) {
    RowProblem& p = source.problem;
    const size_t parameters = out_.constants.size() - 1;
    out_.constants[parameters] = p.is_softmax() ? draw_softmax(p) : draw_normalisation(p);
    out_.constants[parameters].resize(
        static_cast<size_t>(part_.mapping->program.tensors[parameters].bytes));
  }

  std::vector<uint8_t> draw_softmax(RowProblem& p) {
    hw::SoftmaxScales scales;
    scales.input = std::exp2(draw_real(-7, -2));
    if (p.work.mask) scales.mask = std::exp2(draw_real(-7, 0));
    scales.output = {std::exp2(-draw_int32(6, 9)), draw_zero_point(1)};
    const hw::SoftmaxTables t = *hw::softmax_tables(scales);
    RowNumbers& n = p.numbers;
    n.row_multiplier = t.row_multiplier;
    n.mask_multiplier = t.mask_multiplier;
    n.difference_shift = t.difference_shift;
    n.numerator = t.numerator;
    n.exponent = t.exponent;
    n.epilogue.zero = t.output_zero;
    if (p.work.log) {
      const size_t log = out_.constants.size() - 2;
      n.logarithm = *hw::softmax_log(scales, {std::exp2(draw_real(-6, -3)), draw_zero_point(log)});
    }
    std::vector<uint8_t> out;
    for (const auto* table : {&t.coarse, &t.fine})
      for (const int32_t word : *table) put_words(out, {word});
    return out;
  }

  std::vector<uint8_t> draw_normalisation(RowProblem& p) {
    const int64_t length = p.work.row_length();
    RowNumbers& n = p.numbers;
    n.input_zero = draw_zero_point(0);
    n.epilogue.zero = draw_zero_point(1);
    n.epsilon = *hw::norm_epsilon(1e-5, std::exp2(draw_real(-6, -2)), length);
    const int32_t bits = hw::norm_unit_bits(length);
    std::vector<uint8_t> out;
    const int64_t bytes = part_.mapping->program.tensors[out_.constants.size() - 1].bytes;
    while (std::ssize(out) < bytes) {
      const hw::NormChannel c =
          *hw::norm_channel(draw_real(-2, 2), draw_real(-2, 2), draw_real(0.02, 0.05), bits);
      for (const int32_t word : hw::pack_channel(c)) put_words(out, {word});
    }
    return out;
  }

  static constexpr size_t kA = 0, kOut = 2, kParameters = 3;

  const NetworkPart& part_;
  const hw::HwConfig& hw_;
  const ZeroPoints& zeros_;
  const std::vector<int8_t>& weights_;
  std::mt19937& random_;
  PartNumbers out_;
};

}  // namespace

hw::Program emit(const PartNumbers& numbers, const hw::HwConfig& hw) {
  return visit_kind(numbers.source, [&](const auto& s) { return emit(s.problem, hw, s.tiling); });
}

PartNumbers random_numbers(const NetworkPart& part, const hw::HwConfig& hw,
                           const std::vector<int8_t>& weights, const ZeroPoints& zeros,
                           std::mt19937& random) {
  return Drawer(part, hw, zeros, weights, random).draw_part();
}

}  // namespace accsim::sim
