#include "sim/program/network_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "sim/program/reference_product.h"
#include "sim/ref/integer_gather.h"
#include "sim/ref/integer_lanes.h"
#include "sim/ref/integer_rows.h"

namespace accsim::sim {
namespace {

using Values = std::span<const int8_t>;

Values signed_bytes(const std::vector<uint8_t>& from) {
  return {reinterpret_cast<const int8_t*>(from.data()), from.size()};
}

std::vector<int32_t> int32_words(Values from) {
  std::vector<int32_t> out(from.size() / sizeof(int32_t));
  std::memcpy(out.data(), from.data(), out.size() * sizeof(int32_t));
  return out;
}

class Reference {
 public:
  Reference(const CostedNetwork& network, const NetworkProgram& program,
            const std::vector<PartNumbers>& numbers, const hw::MemoryImage& image,
            const hw::MemoryImage& golden)
      : network_(network), program_(program), numbers_(numbers), image_(image), golden_(golden) {}

  ReferenceResult compare_parts() {
    for (size_t i = 0; i < program_.parts.size() && out_.difference.empty(); ++i) compare_part(i);
    return std::move(out_);
  }

 private:
  void compare_part(size_t i) {
    part_ = &program_.parts[i];
    gathered_.clear();
    operands_ = &numbers_[i].operands;
    visit_kind(numbers_[i].source, [&](const auto& s) { compare_kind(s); });
  }

  void compare_kind(const GemmSource& s) {
    compare_result(kProductOut, product_result(s.problem, *operands_));
  }
  void compare_kind(const LaneSource& s) {
    compare_result(part_->tensors.size() - 1, lane_results(s.problem));
  }
  void compare_kind(const RowSource& s) {
    const ref::RowResults results = row_results(s.problem);
    compare_result(kRowsOut, results.rows);
    if (!results.logarithms.empty()) compare_result(part_->tensors.size() - 2, results.logarithms);
  }
  void compare_kind(const GatherSource& s) {
    const GatherProblem& p = s.problem;
    compare_result(kGatherOut,
                   ref::integer_rows_picked({p.rows, p.element_bytes, p.index_bytes,
                                             values_of_tensor(0), values_of_tensor(1)}));
  }
  /// Elements in the order that the op says.
  void compare_kind(const MoveSource& s) {
    const MoveProblem& p = s.problem;
    const auto out = part_->tensors.size() - 1;
    const int64_t bytes = p.in.element_bytes;
    moved_ = {in_memory(0), result_of(out)};
    move_along_axes(p, 0, p.from * bytes, part_->offsets[out] + p.to * bytes);
    ++out_.compared;
  }
  /// Only their number is known, and they are golden's.
  void compare_kind(const StreamSource&) {
    out_.taken.push_back(layer_name());
    take_results();
  }

  const std::string& layer_name() const { return network_.lowered.layers[part_->layer].name; }

  // ---- tensors ----------------------------------------------------------------------------------

  /// What the program's tensor holds before the part, from where the part's own begins.
  Values in_memory(size_t of_part) const {
    const auto t = static_cast<size_t>(part_->tensors[of_part]);
    const auto known = values_.find(t);
    const Values all = known != values_.end() ? Values(known->second) : signed_bytes(image_[t]);
    return all.subspan(static_cast<size_t>(part_->offsets[of_part]));
  }
  /// What a tensor of the part holds before it.
  Values values_of_tensor(size_t of_part) {
    const Values all = in_memory(of_part);
    const Pitch& pitch = part_->pitches[of_part];
    if (pitch.is_dense()) return all;
    const int64_t end = std::ssize(all);
    const int64_t extent = std::min(end, part_->mapping->program.tensors[of_part].bytes);
    std::vector<int8_t>& out = gathered_.emplace_back();
    for (int64_t row = 0; row < extent; row += pitch.pitch)
      for (int64_t i = row; i < std::min(end, row + pitch.run); ++i)
        out.push_back(all[static_cast<size_t>(i)]);
    return out;
  }
  Values values_of_tensor(size_t of_part, int64_t elements) {
    return values_of_tensor(of_part).first(static_cast<size_t>(elements));
  }

  void compare_result(size_t of_part, const std::vector<int8_t>& result) {
    const auto t = static_cast<size_t>(part_->tensors[of_part]);
    const int64_t offset = part_->offsets[of_part];
    const Pitch& pitch = part_->pitches[of_part];
    const Values have = signed_bytes(golden_[t]).subspan(static_cast<size_t>(offset));
    check(pitch.extent_of(std::ssize(result)) <= std::ssize(have),
          "a result that is larger than its tensor");
    ++out_.compared;
    std::vector<int8_t>& to = result_of(of_part);
    for (int64_t i = 0; i < std::ssize(result); ++i) {
      const int8_t ours = result[static_cast<size_t>(i)];
      const int64_t at = pitch.offset_of(i);
      const int8_t theirs = have[static_cast<size_t>(at)];
      if (ours != theirs && out_.difference.empty())
        out_.difference =
            fmt::format("layer '{}': element {} of '{}' is {}, by the integer reference {}",
                        layer_name(), offset + at, program_.program.tensors[t].name, theirs, ours);
      to[static_cast<size_t>(offset + at)] = ours;
    }
  }
  /// What a tensor of the part holds, to write to.
  std::vector<int8_t>& result_of(size_t of_part) {
    const auto t = static_cast<size_t>(part_->tensors[of_part]);
    const Values before = signed_bytes(image_[t]);
    return values_.try_emplace(t, std::vector<int8_t>(before.begin(), before.end())).first->second;
  }

  // ---- products ---------------------------------------------------------------------------------

  /// Weights that an earlier layer computes, in logical order.
  std::vector<int8_t> computed_weights(const GemmOp& op, Values from) const {
    const int64_t taps = op.kernel[0] * op.kernel[1] * op.kernel[2];
    const int64_t batches = op.b_shared ? 1 : op.batch;
    std::vector<int8_t> out(static_cast<size_t>(batches * op.k() * op.outputs));
    const bool by_output = op.b_transposed || taps > 1 || op.grouped;
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t k = 0; k < op.k(); ++k)
        for (int64_t n = 0; n < op.outputs; ++n)
          out[static_cast<size_t>((b * op.k() + k) * op.outputs + n)] = from[static_cast<size_t>(
              by_output ? (b * op.outputs + n) * op.k() + k : (b * op.k() + k) * op.outputs + n)];
    return out;
  }

  std::vector<int8_t> product_result(const GemmProblem& p, const GemmOperands& operands) {
    ComputedOperands tensors;
    tensors.a = values_of_tensor(kProductA, logical_a(p.op));
    tensors.a_in_memory = true;
    std::vector<int8_t> computed;
    if (!part_->constant[kProductB]) computed = computed_weights(p.op, values_of_tensor(kProductB));
    tensors.weights = computed.empty() ? Values(operands.weights) : Values(computed);
    if (p.residual)
      tensors.residual = values_of_tensor(p.has_parameters ? kProductP + 1 : kProductP);
    return reference_product(p, operands, tensors);
  }

  // ---- lane and row operations ------------------------------------------------------------------

  std::vector<int8_t> lane_results(const LaneProblem& p) {
    const LaneFactors& f = p.factors;
    ref::IntegerLanes r;
    r.work = p.work;
    r.a = values_of_tensor(0);
    if (p.has_b()) r.b = values_of_tensor(1);
    r.a_zero = f.a_zero;
    r.b_zero = f.b_zero;
    r.b_multiplier = f.b_multiplier;
    r.scale = {f.a_multiplier, f.shift};
    if (f.mean)
      r.mean = [&f](int64_t count) {
        const LaneScale s = f.mean(count);
        return ref::IntegerScale{s.multiplier, s.shift};
      };
    r.out_zero = f.epilogue.zero;
    r.low = f.epilogue.low;
    r.high = f.epilogue.high;
    if (p.work.table) r.table = values_of_tensor(p.has_b() ? 2 : 1);
    return ref::integer_lanes(r);
  }

  ref::RowResults row_results(const RowProblem& p) {
    ref::IntegerRows r;
    r.work = p.work;
    r.in = values_of_tensor(0, p.work.element_count());
    if (p.work.mask) r.mask = values_of_tensor(2);
    r.out_zero = p.numbers.epilogue.zero;
    const std::vector<int32_t> constants = int32_words(values_of_tensor(part_->tensors.size() - 1));
    if (p.is_softmax()) {
      ref::IntegerSoftmax& s = r.softmax;
      s.a = p.numbers.row_multiplier;
      s.b = p.work.mask ? p.numbers.mask_multiplier : 0;
      s.q = p.numbers.difference_shift;
      s.c = p.numbers.numerator;
      s.k = p.numbers.exponent;
      const hw::RowLogarithm& l = p.numbers.logarithm;
      r.logarithm = {l.row_multiplier, l.sum_multiplier, l.addend, l.shift};
      std::copy_n(constants.begin(), s.coarse.size(), s.coarse.begin());
      std::copy_n(constants.begin() + std::ssize(s.coarse), s.fine.size(), s.fine.begin());
      return ref::integer_rows(r);
    }
    r.norm.in_zero = p.numbers.input_zero;
    r.norm.epsilon = p.numbers.epsilon;
    r.norm.low = p.numbers.epilogue.low;
    r.norm.high = p.numbers.epilogue.high;
    for (size_t i = 0; i + 2 <= constants.size(); i += 2) {
      const int32_t word = constants[i + 1];  // 26 bits with a sign, and a shift of 6 above them
      r.norm.channels.push_back(
          {constants[i], word << 6 >> 6, static_cast<int32_t>(static_cast<uint32_t>(word) >> 26)});
    }
    return ref::integer_rows(r);
  }

  // ---- moves ------------------------------------------------------------------------------------

  /// What golden has where the part stores, in one tensor or several.
  void take_results() {
    for (size_t i = 0; i < part_->tensors.size(); ++i) {
      if (part_->mapping->trace.ports[i].side == OperandPort::Side::input || part_->constant[i])
        continue;
      const auto t = static_cast<size_t>(part_->tensors[i]);
      const Values all = signed_bytes(golden_[t]);
      values_[t] = {all.begin(), all.end()};
    }
  }
  /// Moves what the axes from `axis` on say, from a byte to a byte, and compares it.
  void move_along_axes(const MoveProblem& p, size_t axis, int64_t from, int64_t to) {
    const int64_t bytes = p.in.element_bytes;
    if (axis == p.axes.size())
      return move_element(moved_.in.subspan(static_cast<size_t>(from), static_cast<size_t>(bytes)),
                          to);
    for (int64_t i = 0; i < p.axes[axis].count; ++i)
      move_along_axes(p, axis + 1, from + i * p.axes[axis].stride * bytes,
                      to + i * p.spacing[axis] * bytes);
  }
  void move_element(Values element, int64_t to) {
    const auto t = static_cast<size_t>(part_->tensors.back());
    std::ranges::copy(element, moved_.out.begin() + to);
    const Values theirs = signed_bytes(golden_[t]).subspan(static_cast<size_t>(to), element.size());
    if (out_.difference.empty() && !std::ranges::equal(element, theirs))
      out_.difference =
          fmt::format("layer '{}': element {} of '{}' is {}, by the integer reference {}",
                      layer_name(), to / std::ssize(element), program_.program.tensors[t].name,
                      theirs.front(), element.front());
  }

  static constexpr size_t kProductA = 0, kProductB = 1, kProductOut = 2, kProductP = 3;
  static constexpr size_t kRowsOut = 1, kGatherOut = 2;

  const CostedNetwork& network_;
  const NetworkProgram& program_;
  const std::vector<PartNumbers>& numbers_;
  const hw::MemoryImage &image_, &golden_;
  const NetworkPart* part_ = nullptr;
  const GemmOperands* operands_ = nullptr;  ///< of the part
  struct {
    Values in;
    std::span<int8_t> out;
  } moved_;                                       ///< of a move, whole tensors
  std::deque<std::vector<int8_t>> gathered_;      ///< of the part: rows that have a pitch
  std::map<size_t, std::vector<int8_t>> values_;  ///< computed so far, by tensor of the program
  ReferenceResult out_;
};

}  // namespace

ReferenceResult compare_with_reference(const CostedNetwork& network, const NetworkProgram& program,
                                       const std::vector<PartNumbers>& numbers,
                                       const hw::MemoryImage& image,
                                       const hw::MemoryImage& golden) {
  return Reference(network, program, numbers, image, golden).compare_parts();
}

}  // namespace accsim::sim
