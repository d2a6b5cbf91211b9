#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/program/program.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {
    names_.resize(static_cast<size_t>(program.loops));
  }

  std::string print_program() {
    out_ = fmt::format("program {} ({})\n", program_.name, name(program_.dataflow));
    for (size_t i = 0; i < program_.tensors.size(); ++i)
      out_ += fmt::format("  tensor %{} {} {} bytes '{}'{}\n", i, name(program_.tensors[i].memory),
                          program_.tensors[i].bytes, program_.tensors[i].name,
                          place_text(program_.tensors[i]));
    print_body();
    return std::move(out_);
  }

 private:
  void print_body() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      std::string& loop_name = names_[static_cast<size_t>(l.id)];
      loop_name = fmt::format("{}{}", l.name, l.id);
      add_line(fmt::format("for {} < {}:", loop_name, l.count));
      ++depth_;
      inner();
      --depth_;
    };
    const auto sync = [this](const Sync& s) {
      const std::string of =
          s.region >= 0 ? fmt::format("%{}", s.region) : std::string(name(s.buffer));
      add_line(fmt::format("{:<8}{} {}", name(s.queue), name(s.kind), of));
    };
    const auto mark = [this](const Mark& m) {
      add_line(
          fmt::format("{:<8}{} %{}", name(m.queue), m.waits ? "wait_marks" : "mark", m.tensor));
    };
    const auto head = [this](const LayerHead& h) {
      add_line(fmt::format("layer '{}' ({})", h.name, name(h.dataflow)));
    };
    const auto command = [this](const Command& c) {
      const std::string what =
          std::visit([this](const auto& kind) { return this->text_of(kind); }, c);
      add_line(fmt::format("{:<8}{}", name(queue_of(c)), what));
    };
    visit_nest(program_.body, Overloaded{loop, sync, mark, head, command});
  }
  void add_line(const std::string& what) {
    out_.append(2 * depth_, ' ');
    out_ += what + "\n";
  }

  static std::string place_text(const ProgramTensor& t) {
    if (t.is_placed()) return fmt::format(", at {}{}", t.address, t.given ? ", given" : "");
    return t.slots > 0 ? fmt::format(", {} slots", t.slots) : "";
  }

  std::string text_of(const Affine& a) const {
    std::string out;
    for (const Affine::Term& t : a.terms) {
      if (t.coeff == 0) continue;
      if (!out.empty()) out += " + ";
      const std::string& loop = names_[static_cast<size_t>(t.loop)];
      out += t.coeff == 1 ? loop : fmt::format("{}*{}", t.coeff, loop);
    }
    if (out.empty()) return fmt::format("{}", a.base);
    if (a.base > 0) out += fmt::format(" + {}", a.base);
    if (a.base < 0) out += fmt::format(" - {}", -a.base);
    return out;
  }

  static std::string text_of(const Walk& w) {
    std::string out;
    for (const Walk::Level& l : w.levels)
      out += fmt::format("{} (stride {}) x ", l.count, l.stride);
    return out + fmt::format("{} bytes", w.run);
  }

  std::string overwrite_text(const std::vector<int>& first_of, bool accumulate) const {
    if (accumulate) return "+=";
    std::vector<std::string> loops;
    for (int id : first_of) loops.push_back(names_[static_cast<size_t>(id)] + "=0");
    return loops.empty() ? "=" : fmt::format("+= (= at {})", fmt::join(loops, ","));
  }

  std::string text_of(const PaddedWindow& w) const {
    return fmt::format(
        ", padded: {} images of {} positions stride {} of {} taps step {} of {} bytes, from "
        "({}, {}, {}) of {} pixels{}",
        w.images, fmt::join(w.count, "x"), fmt::join(w.stride, "x"), fmt::join(w.kernel, "x"),
        fmt::join(w.dilation, "x"), w.tap, text_of(w.origin[0]), text_of(w.origin[1]),
        text_of(w.origin[2]), fmt::join(w.extent, "x"), pad_text(w.pad_value));
  }
  static std::string pad_text(int32_t value) {
    return value == 0 ? "" : fmt::format(", pad {}", value);
  }
  std::string text_of(const LoadCommand& c) const {
    return fmt::format(
        "load {}[{}] <- %{}[{}], {}{}{}{}", name(c.buffer), text_of(c.slot_offset), c.tensor,
        text_of(c.source), text_of(c.walk), c.padded ? text_of(*c.padded) : "",
        c.transposed > 0 ? fmt::format(", transposed by {} bytes", c.transposed) : "",
        c.gather ? text_of(*c.gather) : "");
  }
  std::string text_of(const Gather& g) const {
    return fmt::format(", gathered by parameters[{}] of {} rows at {}", text_of(g.index_offset),
                       g.limit, g.pitch);
  }
  /// Which of a window's positions are streamed, unless all are.
  std::string part_text(const OperandWindow& w, int64_t m) const {
    return m == w.position_count() ? "" : fmt::format("{}+{} of ", text_of(w.first), m);
  }
  std::string text_of(const GemmCommand& c) const {
    const OperandWindow& w = c.window;
    return fmt::format(
        "gemm acc[{}] {} {}x{}x{}: rows {}{} stride {} from ({}, {}, {}) of a {} tile of {}-byte "
        "pixels, flat {} (line {} bytes, step {}){}; weights[{}]{}",
        text_of(c.accumulator_row), overwrite_text(c.first_of, c.accumulate), c.m, c.k, c.n,
        part_text(w, c.m), fmt::join(w.count, "x"), fmt::join(w.stride, "x"), text_of(w.origin[0]),
        text_of(w.origin[1]), text_of(w.origin[2]), fmt::join(w.tile, "x"), w.pixel,
        text_of(w.offset), w.line, w.line_step, pad_text(w.pad_value), text_of(c.weights.offset),
        groups_text(c.weights));
  }
  std::string groups_text(const WeightTile& t) const {
    std::string narrow =
        t.encoding.is_packed() ? fmt::format(" of {} bits", t.encoding.bits()) : "";
    if (t.groups == 1) return narrow;
    return fmt::format("{}, {} groups of {}x{} from row {}", narrow, t.groups, t.group_k, t.group_n,
                       text_of(t.first_k));
  }
  std::string text_of(const DrainCommand& c) const {
    return fmt::format("drain acc[{}] {} {}x{}", text_of(c.accumulator_row),
                       overwrite_text(c.first_of, c.accumulate), c.m, c.n);
  }
  std::string text_of(const PostCommand& c) const {
    const Epilogue& e = c.epilogue;
    const bool clips = e.zero != 0 || e.low != -128 || e.high != 127;
    return fmt::format(
        "post output[{}] <- acc[{}] {}x{}, pitch {}{}{}{}{}{}{}{}", text_of(c.slot_offset),
        text_of(c.accumulator_row), c.rows, c.cols, c.pitch,
        c.has_parameters ? ", parameters[" + text_of(c.parameter_offset) + "]" : "",
        c.groups > 1 ? fmt::format(", {} groups of {} rows by parameters[{}]", c.groups,
                                   c.group_rows, text_of(c.group_offset))
                     : "",
        clips ? fmt::format(", zero {} in [{}, {}]", e.zero, e.low, e.high) : "",
        e.relu ? ", relu" : "", c.transposed ? ", transposed" : "", e.table ? ", table" : "",
        e.residual ? fmt::format(", residual (zero {}) * {} / 2^{} in [{}, {}]", e.residual->zero,
                                 e.residual->multiplier, e.residual->shift, e.residual->low,
                                 e.residual->high)
                   : "");
  }
  std::string text_of(const SetTableCommand& c) const {
    return fmt::format("table <- parameters[{}]", text_of(c.parameter_offset));
  }
  std::string text_of(const LaneOperand& o) const {
    return fmt::format("{}[{}] strides {}{} (zero {}) * {}", name(o.buffer), text_of(o.offset),
                       fmt::join(o.row_stride, ","), o.splat ? " splat" : "", o.zero, o.multiplier);
  }
  std::string text_of(const LaneCommand& c) const {
    const std::string taps = c.tap_count() > 1
                                 ? fmt::format(" of {} {} taps at {}", fmt::join(c.taps, "x"),
                                               name(c.tap_op), fmt::join(c.tap_stride, ","))
                                 : "";
    return fmt::format(
        "{} output[{}] strides {} <- {}{}{}, rows {} of {} bytes{}, / 2^{}, zero {} in [{}, {}]{}",
        row_of(c.op).name, text_of(c.slot_offset), fmt::join(c.out_stride, ","), text_of(c.a), taps,
        c.b ? " and " + text_of(*c.b) : "", fmt::join(c.rows, "x"), c.run,
        c.weighs() ? fmt::format(", weights at {}, channels[{}]", fmt::join(c.weight_stride, ","),
                                 text_of(c.channel_offset))
        : c.across ? fmt::format(" ({} across)", name(c.tap_op))
        : c.slide  ? fmt::format(", sliding by {}", c.slide)
                   : "",
        c.shift, c.epilogue.zero, c.epilogue.low, c.epilogue.high,
        c.epilogue.table ? ", table" : "");
  }
  std::string text_of(const RowOperand& o, std::string_view buffer) const {
    return fmt::format("{}[{}] strides {},{}", buffer, text_of(o.offset),
                       fmt::join(o.row_stride, ","), o.piece_stride);
  }
  std::string text_of(const RowLogarithm& l) const {
    return fmt::format(", logarithms output[{}] <- (rows * {} + log2 * {} + {}) / 2^{}",
                       text_of(l.offset), l.row_multiplier, l.sum_multiplier, l.addend, l.shift);
  }
  std::string text_of(const RowCommand& c) const {
    const std::string constants =
        c.op == RowOp::softmax
            ? fmt::format(" * {} + mask * {}, / 2^{}, numerator {} exponent {}, zero {}{}",
                          c.row_multiplier, c.mask_multiplier, c.difference_shift, c.numerator,
                          c.exponent, c.epilogue.zero, c.logarithm ? text_of(*c.logarithm) : "")
            : fmt::format(
                  " strides {} of {} elements a channel, (zero {}) epsilon {}, {} unit bits, "
                  "zero {} in [{}, {}]",
                  fmt::join(c.parameter_stride, ","), c.per_channel, c.input_zero, c.epsilon,
                  c.unit_bits, c.epilogue.zero, c.epilogue.low, c.epilogue.high);
    return fmt::format("{} {} <- {}{}, rows {} of {}x{} elements, parameters[{}]{}", name(c.op),
                       text_of(c.out, "output"), text_of(c.in, "activation"),
                       c.mask ? " and mask " + text_of(*c.mask, "activation") : "",
                       fmt::join(c.rows, "x"), c.pieces, c.run, text_of(c.parameter_offset),
                       constants);
  }
  std::string text_of(const VectorCommand& c) const {
    std::string ops;
    for (size_t i = 0; i < kLaneClasses; ++i)
      if (c.ops[i] > 0) ops += fmt::format(" {} {}", c.ops[i], kLaneClassNames[i]);
    return fmt::format("vector{}, {} bytes in, {} bytes out", ops, c.in_bytes, c.out_bytes);
  }
  std::string text_of(const StoreCommand& c) const {
    return fmt::format("store %{}[{}] <- output[{}], {}", c.tensor, text_of(c.target),
                       text_of(c.slot_offset), text_of(c.walk));
  }

  std::string text_of(const StageCommand& c) const {
    return fmt::format("stage %{}[{}] <- %{}[{}], {}", c.to, text_of(c.target), c.from,
                       text_of(c.source), text_of(c.walk));
  }

  const Program& program_;
  std::vector<std::string> names_;
  std::string out_;
  size_t depth_ = 1;
};

}  // namespace

std::string program_text(const Program& program) { return Printer(program).print_program(); }

}  // namespace accsim::hw
