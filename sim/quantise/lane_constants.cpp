#include <algorithm>
#include <cmath>

#include "sim/cost/compare_bytes.h"
#include "sim/quantise/part_constants.h"

namespace accsim::sim {
namespace {

/// The nearest multiplier of 16 bits, and its shift.
LaneScale lane_scale(double factor, int shift) {
  const double scaled = std::nearbyint(std::ldexp(factor, shift));
  return {static_cast<int32_t>(std::clamp<double>(scaled, INT16_MIN, INT16_MAX)), shift};
}
/// The shift with which the larger of two factors fills 15 bits.
int lane_shift(double a, double b) {
  constexpr int kBits = 15, kMostShift = 62;
  int exponent = 0;
  std::frexp(std::max(std::abs(a), std::abs(b)), &exponent);
  return std::clamp(kBits - exponent, 0, kMostShift);
}

class LaneConstants : public PartConstants {
 public:
  LaneConstants(const ConstantsSource& source, const NetworkPart& part)
      : PartConstants(source, part),
        lanes_(std::get<LaneSource>(out_.source)),
        work_(lanes_.problem.work) {}

  Result<PartNumbers> part_numbers() {
    if (const auto compared = compared_bytes(source_.graph, layer_))
      return set_comparison(*compared);
    const TensorId a = tensor_read(work_.a_port);
    if (a == kNoTensor || (work_.has_b() && tensor_read(work_.b_port) == kNoTensor))
      return unknown_error("an operand of the layer alone");
    const Result<std::pair<int32_t, int32_t>> most = clip_limits();
    if (!most) return most.errors();
    std::tie(factors().epilogue.low, factors().epilogue.high) = *most;
    factors().epilogue.zero = scale_of(tensor_written()).zero;
    const Status done = work_.has_b()                              ? set_binary()
                        : work_.gather != LaneGather::none         ? set_gather(scale_of(a))
                        : !row_ || row_->lane == LaneRule::nearest ? set_gather(scale_of(a))
                                                                   : set_unary(a);
    if (!done) return done.errors();
    return std::move(out_);
  }

 private:
  LaneFactors& factors() { return lanes_.problem.factors; }
  void set_factor(const hw::ElementScale& a, double factor) {
    const LaneScale s = lane_scale(factor, lane_shift(factor, factor));
    factors().a_zero = a.zero;
    factors().a_multiplier = s.multiplier;
    factors().shift = s.shift;
  }

  // ---- one operand ------------------------------------------------------------------------------

  /// Elements as they are, or a sum, mean or extreme of several.
  Status set_gather(const hw::ElementScale& a) {
    const double factor = a.scale / scale_of(tensor_written()).scale;
    set_factor(a, factor);
    if (work_.gather == LaneGather::mean)
      factors().mean = [factor](int64_t count) {
        const double each = factor / static_cast<double>(count);
        return lane_scale(each, lane_shift(each, each));
      };
    return ok();
  }

  /// A function of one tensor: the layer's, or its node.
  Status set_unary(TensorId a) {
    UnaryFunction f = layer_.function;
    if (f.empty()) {
      f.of = a;
      f.nodes = {layer_.node};
    }
    if (work_.table) return look_up(f);
    const bool bounds = layer_.function.empty() &&
                        (row_->fusion == Fusion::clip || row_->arithmetic == LaneArithmetic::min ||
                         row_->arithmetic == LaneArithmetic::max);
    return bounds ? set_limits(a, f) : set_linear(a, f);
  }

  Status look_up(const UnaryFunction& f) {
    auto table = function_table(source_.graph, f, source_.constants, scale_of(f.of),
                                scale_of(tensor_written()));
    if (!table) return table.errors();
    std::vector<uint8_t> bytes;
    for (const int8_t v : *table)
      bytes.push_back(static_cast<uint8_t>(
          std::clamp<int32_t>(v, factors().epilogue.low, factors().epilogue.high)));
    factors().epilogue.low = INT8_MIN;  // of arguments: codes as they are
    factors().epilogue.high = INT8_MAX;
    factors().epilogue.zero = 0;
    return put_constant(1, bytes);
  }

  Status set_limits(TensorId a, const UnaryFunction& f) {
    constexpr double kFar = 1e30;
    const auto ends = evaluate_function(source_.graph, f, source_.constants, {-kFar, kFar});
    if (!ends) return ends.errors();
    factors().epilogue.low =
        std::max<int32_t>(factors().epilogue.low, code_of((*ends)[0], scale_of(tensor_written())));
    factors().epilogue.high =
        std::min<int32_t>(factors().epilogue.high, code_of((*ends)[1], scale_of(tensor_written())));
    set_factor(scale_of(a), scale_of(a).scale / scale_of(tensor_written()).scale);
    return ok();
  }

  Status set_linear(TensorId a, const UnaryFunction& f) {
    const double seen = source_.calibration.tensor_range(a).largest_magnitude();
    const auto affine = affine_function(source_.graph, f, source_.constants, seen > 0 ? seen : 1);
    if (!affine) return affine.errors();
    const hw::ElementScale& out = scale_of(tensor_written());
    set_factor(scale_of(a), affine->factor * scale_of(a).scale / out.scale);
    const double zero = out.zero + std::nearbyint(affine->offset / out.scale);
    factors().epilogue.zero = static_cast<int32_t>(std::clamp<double>(zero, INT16_MIN, INT16_MAX));
    return ok();
  }

  // ---- integers -----------------------------------------------------------------------------

  /// Bytes as they are, in both steps, and tables of what they say.
  Result<PartNumbers> set_comparison(const ComparedBytes& c) {
    if (work_.has_b()) {
      const Result<ref::Array> with = source_.constants(layer_.inputs[c.constant_port.index()]);
      if (!with) return with.errors();
      std::vector<uint8_t> bytes;
      for (int64_t b = 0; b < c.bytes; ++b)
        bytes.push_back(static_cast<uint8_t>(with->integers().front() >> (8 * b)));
      if (Status s = put_constant(1, bytes); !s) return s.errors();
    }
    const std::array<int8_t, 256> table = work_.has_b() ? difference_table() : equality_table();
    if (Status s = put_constant(work_.has_b() ? 2 : 1, {table.begin(), table.end()}); !s)
      return s.errors();
    return std::move(out_);
  }
  static size_t as_index(int input) { return static_cast<size_t>(input); }

  // ---- two operands -----------------------------------------------------------------------------

  /// Elements, or beyond all codes where a condition says so.
  Status set_fill() {
    const bool swapped = input_of(layer_, work_.a_port) == 0;
    const int from = input_of(layer_, swapped ? work_.b_port : work_.a_port), with = 3 - from;
    const hw::ElementScale& out = scale_of(tensor_written());
    const auto own = operand_scale(swapped ? 1 : 0, from, &out);
    if (!own) return own.errors();
    const Result<ref::Array> fill = source_.constants(layer_.inputs[as_index(with)]);
    if (!fill) return fill.errors();
    constexpr int kShift = 7;  // 2^15 / 2^7 steps are as many as there are codes
    const bool when = with == 1, lowest = fill->reals().front() < 0;
    const int32_t far = when == lowest ? INT16_MIN : INT16_MAX, never = when ? 0 : 1;
    const LaneScale keep = lane_scale(own->scale / out.scale, kShift);
    LaneFactors& f = factors();
    f.shift = kShift;
    std::tie(f.a_zero, f.a_multiplier) = std::tuple(own->zero, keep.multiplier);
    std::tie(f.b_zero, f.b_multiplier) = std::tuple(never, far);
    if (swapped) {
      std::swap(f.a_zero, f.b_zero);
      std::swap(f.a_multiplier, f.b_multiplier);
    }
    return ok();
  }

  Status set_binary() {
    if (row_->algebra == Algebra::select) return set_fill();
    const auto a = operand_scale(0, work_.a_port), b = operand_scale(1, work_.b_port);
    if (!a) return a.errors();
    if (!b) return b.errors();
    const double out = scale_of(tensor_written()).scale;
    factors().b_zero = b->zero;
    if (work_.op == LaneArithmetic::mul) {
      set_factor(*a, a->scale * b->scale / out);
      return ok();
    }
    const double of_a = a->scale / out, of_b = b->scale / out;
    factors().a_zero = a->zero;
    factors().shift = lane_shift(of_a, of_b);
    factors().a_multiplier = lane_scale(of_a, factors().shift).multiplier;
    factors().b_multiplier = lane_scale(of_b, factors().shift).multiplier;
    return ok();
  }

  /// An operand's scale; a constant has one of its own, or the one given, and is put where the
  /// program reads it.
  Result<hw::ElementScale> operand_scale(size_t of_part, ValuePort port,
                                         const hw::ElementScale* given = nullptr) {
    const TensorId id = tensor_read(port);
    if (!part_.constant[of_part]) return scale_of(id);
    Result<ref::Array> array = source_.constants(id);
    if (!array) return array.errors();
    std::vector<double> values = array->reals();
    if (row_->lane == LaneRule::div && input_of(layer_, port) == 1)
      for (double& v : values) v = 1 / v;
    ValueRange range;
    for (const double v : values) range.widen_to({v, v});
    const hw::ElementScale own = given ? *given : element_scale(range, false);
    std::vector<uint8_t> bytes;
    for (const int64_t at : as_result_lies(array->dims()))
      bytes.push_back(static_cast<uint8_t>(code_of(values[static_cast<size_t>(at)], own)));
    if (bytes.empty()) return unknown_error("a constant in an order of its own");
    if (Status s = put_constant(of_part, bytes); !s) return s.errors();
    return own;
  }

  /// Elements of a constant that broadcasts to the result, in the order in which the result lies.
  std::vector<int64_t> as_result_lies(const Dims& own) const {
    const Dims& dims = tensor(tensor_written()).dims;
    const LayerLayouts lies(source_.graph, source_.network.lowered, layer_);
    const auto pieces = pieces_of(lies.output_layout(0), dims);
    if (!pieces || own.size() > dims.size()) return {};
    const size_t missing = dims.size() - own.size();
    std::vector<int64_t> out{0};
    for (const DimPiece& p : *pieces) {
      if (p.dim < missing || own[p.dim - missing] == 1) continue;
      const int64_t stride = elements(own, p.dim - missing + 1, own.size()) * p.step;
      std::vector<int64_t> longer;
      for (const int64_t from : out)
        for (int64_t i = 0; i < p.count; ++i) longer.push_back(from + i * stride);
      out = std::move(longer);
    }
    return out;
  }

  LaneSource& lanes_;
  const LaneWork& work_;
};

}  // namespace

Result<PartNumbers> kind_constants(const LaneSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return LaneConstants(source, part).part_numbers();
}

}  // namespace accsim::sim
