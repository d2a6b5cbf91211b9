#include "sim/map/rows/row_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "hw/golden/golden.h"
#include "hw/golden/row_math.h"
#include "sim/lower/row_layout.h"
#include "sim/map/mapper.h"
#include "sim/map/rows/row_operands.h"
#include "sim/operators/norm/row_rules.h"
#include "tests/support/index.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

using test::as_index;

/// The operators as their definitions have them, element by element of a logical tensor: which row
/// an element is of, which channel, which element of the mask, and where it lies in memory.
struct RowElement {
  int64_t row = 0, channel = 0, mask = 0, place = 0;
};

enum class RowOperator { softmax, layer_norm, rms_norm, group_norm, instance_norm };

struct RowCase {
  RowOperator op = RowOperator::softmax;
  Dims dims;
  size_t axis = 0;     ///< softmax, and the first of a norm's
  int64_t groups = 1;  ///< of a group norm
  Dims mask;           ///< of the rank of the dims; empty: none
  bool channels_last = false;

  Dims at(int64_t index) const {
    Dims out(dims.size());
    for (size_t i = dims.size(); i-- > 0; index /= dims[i]) out[i] = index % dims[i];
    return out;
  }
  int64_t spatial() const { return elements(dims, 2, dims.size()); }

  RowElement element(int64_t index) const {
    const Dims i = at(index);
    RowElement e;
    e.place = index;
    if (channels_last) {
      const int64_t pixel = index % spatial();
      e.place = (i[0] * spatial() + pixel) * dims[1] + i[1];
    }
    for (size_t d = 0; d < mask.size(); ++d) e.mask = e.mask * mask[d] + (mask[d] == 1 ? 0 : i[d]);
    const int64_t tail = elements(dims, axis, dims.size());
    switch (op) {
      case RowOperator::softmax: {
        const int64_t inner = elements(dims, axis + 1, dims.size());
        e.row = index - i[axis] * inner;
        break;
      }
      case RowOperator::layer_norm:
      case RowOperator::rms_norm:
        e.row = index / tail;
        e.channel = index % tail;
        break;
      case RowOperator::group_norm:
        e.row = i[0] * groups + i[1] / (dims[1] / groups);
        e.channel = i[1];
        break;
      case RowOperator::instance_norm:
        e.row = i[0] * dims[1] + i[1];
        e.channel = i[1];
    }
    return e;
  }

  RowMeaning meaning() const {
    const size_t rank = dims.size();
    if (op == RowOperator::softmax) {
      RowMeaning m = row_meaning(RowKind::softmax, dims, axis, axis + 1, false);
      if (channels_last) m.channel_axes = 1;
      if (mask.empty()) return m;
      m.mask_port = 1;
      for (size_t i = 0; i < rank; ++i)
        m.axes[i].mask_stride = mask[i] == 1 ? 0 : elements(mask, i + 1, rank);
      return m;
    }
    if (op == RowOperator::layer_norm || op == RowOperator::rms_norm)
      return row_meaning(op == RowOperator::rms_norm ? RowKind::rms_norm : RowKind::layer_norm,
                         dims, axis, rank, true);
    Dims split = dims;
    const bool group = op == RowOperator::group_norm;
    if (group) {
      split[1] = groups;
      split.insert(split.begin() + 2, dims[1] / groups);
    }
    RowMeaning m = row_meaning(RowKind::layer_norm, split, 2, split.size(), false);
    m.axes[1].channel = true;
    if (group) m.axes[2].channel = true;
    if (channels_last) m.channel_axes = group ? 2 : 1;
    return m;
  }
};

class RowDraw {
 public:
  explicit RowDraw(unsigned seed) : random(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }

  RowCase any() {
    RowCase c;
    c.op = static_cast<RowOperator>(pick(0, 4));
    const bool image = c.op == RowOperator::group_norm || c.op == RowOperator::instance_norm;
    const int64_t rank = image ? pick(3, 4) : pick(1, 4);
    for (int64_t i = 0; i < rank; ++i) c.dims.push_back(pick(1, pick(0, 3) == 0 ? 40 : 7));
    c.axis = as_index(pick(0, rank - 1));
    if (image) {
      c.axis = 1;
      c.groups = pick(1, 3);
      c.dims[1] = c.groups * pick(1, 6);
      c.channels_last = pick(0, 3) > 0;
    }
    if (c.op == RowOperator::softmax && rank > 2) c.channels_last = c.axis == 1 && pick(0, 1) > 0;
    if (c.op == RowOperator::softmax && !c.channels_last && pick(0, 1) > 0) {
      c.mask = c.dims;
      for (size_t i = 0; i < c.mask.size(); ++i)
        if (i != c.axis && pick(0, 1) > 0) c.mask[i] = 1;
    }
    return c;
  }

  std::mt19937 random;
};

/// A value that one element should have, and how far from it it may be.
struct Wanted {
  double value = 0, bound = 0;
};

/// The real results by place, from the definition of the operator.
class RowTrial {
 public:
  RowTrial(const RowCase& c, RowDraw& draw) : c_(c), count_(elements(c.dims)) {
    for (int64_t i = 0; i < count_; ++i) {
      elements_.push_back(c.element(i));
      rows_[elements_.back().row].push_back(i);
    }
    x_.resize(as_index(count_));
    const int64_t spread = draw.pick(0, 127);
    for (int8_t& x : x_) x = static_cast<int8_t>(draw.pick(-spread - 1, spread));
    if (!c.mask.empty()) {
      mask_.resize(as_index(elements(c.mask)));
      for (int8_t& m : mask_) m = draw.pick(0, 1) > 0 ? 0 : -128;
    }
    for (int64_t i = 0; i < 2000; ++i) {
      gamma_.push_back(draw.real(-2, 3));
      beta_.push_back(draw.real(-2, 2));
    }
    input_ = std::exp(draw.real(-5, 0));
    out_scale_ = draw.real(0.02, 0.2);
    out_zero_ = static_cast<int32_t>(draw.pick(-20, 20));
    in_zero_ = static_cast<int32_t>(draw.pick(-20, 20));
  }

  /// Memory before the program, in the order of its tensors, and its numbers.
  hw::MemoryImage image(RowProblem& p) {
    hw::MemoryImage out;
    std::vector<uint8_t> in(x_.size());
    for (size_t i = 0; i < x_.size(); ++i)
      in[as_index(elements_[i].place)] = static_cast<uint8_t>(x_[i]);
    out.push_back(in);
    out.emplace_back(x_.size());
    if (!mask_.empty()) out.emplace_back(mask_.begin(), mask_.end());
    out.push_back(p.is_softmax() ? tables(p) : channels(p));
    return out;
  }

  std::vector<Wanted> wanted() const {
    std::vector<Wanted> out(x_.size());
    for (const auto& [id, row] : rows_)
      c_.op == RowOperator::softmax ? softmax(row, out) : norm(row, out);
    return out;
  }

 private:
  std::vector<uint8_t> bytes_of(const std::vector<int32_t>& words) {
    std::vector<uint8_t> out(words.size() * sizeof words[0]);
    std::memcpy(out.data(), words.data(), out.size());
    return out;
  }

  std::vector<uint8_t> tables(RowProblem& p) {
    const hw::SoftmaxTables t =
        *hw::softmax_tables({.input = input_, .mask = mask_.empty() ? 0 : 1.0});
    p.numbers = {.row_multiplier = t.row_multiplier,
                 .mask_multiplier = t.mask_multiplier,
                 .difference_shift = t.difference_shift,
                 .numerator = t.numerator,
                 .exponent = t.exponent};
    p.numbers.epilogue.zero = t.output_zero;
    off_ = mask_.empty() ? 0 : std::ldexp(255.0, -t.difference_shift);
    std::vector<int32_t> words(t.coarse.begin(), t.coarse.end());
    words.insert(words.end(), t.fine.begin(), t.fine.end());
    return bytes_of(words);
  }

  std::vector<uint8_t> channels(RowProblem& p) {
    const int64_t n = p.work.row_length();
    unit_bits_ = hw::norm_unit_bits(n);
    p.numbers.epsilon = *hw::norm_epsilon(kEpsilon, input_, n);
    p.numbers.epilogue.zero = out_zero_;
    p.numbers.input_zero = in_zero_;
    int64_t most = 0;
    for (const RowElement& e : elements_) most = std::max(most, e.channel);
    std::vector<int32_t> words;
    for (int64_t c = 0; c <= most; ++c) {
      const hw::NormChannel each =
          *hw::norm_channel(gamma_[as_index(c)], beta_[as_index(c)], out_scale_, unit_bits_);
      const hw::NormWords packed = hw::pack_channel(each);
      words.insert(words.end(), packed.begin(), packed.end());
    }
    return bytes_of(words);
  }

  void softmax(const std::vector<int64_t>& row, std::vector<Wanted>& out) const {
    std::vector<double> logits;
    for (const int64_t i : row) {
      const RowElement& e = elements_[as_index(i)];
      logits.push_back(input_ * x_[as_index(i)] + (mask_.empty() ? 0 : mask_[as_index(e.mask)]));
    }
    const double top = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double l : logits) sum += std::exp(l - top);
    // docs/vector-arithmetic.md, Softmax, Error.
    const auto n = static_cast<double>(row.size());
    const double e = 1.5 * 0x1p-30, reach = std::min(22.5, 255 * (input_ + 1));
    const double parts = std::floor(input_ * 4094 / reach);
    const double unit = parts >= 1 ? input_ / parts : reach / 4094;
    const double j = mask_.empty() ? 0 : unit * (0.5 + off_);
    const double bound = 0.5 + ((n + 1) * e / (1 - n * e) + 0x1p-28 + j / 2) * 256;
    for (size_t i = 0; i < row.size(); ++i)
      out[as_index(elements_[as_index(row[i])].place)] = {
          256 * std::exp(logits[i] - top) / sum - 128, bound};
  }

  void norm(const std::vector<int64_t>& row, std::vector<Wanted>& out) const {
    const auto n = static_cast<double>(row.size());
    double sum = 0, squares = 0;
    for (const int64_t i : row) {
      const double v = x_[as_index(i)] - in_zero_;
      sum += v;
      squares += v * v;
    }
    if (c_.op == RowOperator::rms_norm) sum = 0;
    const double scaled = n * squares - sum * sum;  // n^2 times the variance, in steps
    const double root = std::sqrt(input_ * input_ * scaled / (n * n) + kEpsilon);
    for (const int64_t i : row) {
      const RowElement& e = elements_[as_index(i)];
      const double v = x_[as_index(i)] - in_zero_;
      const double unit = input_ * (v - sum / n) / root;
      const double gain = gamma_[as_index(e.channel)] / out_scale_, g = std::abs(gain);
      // docs/vector-arithmetic.md, Normalisation, Error.
      const double rest = scaled > 0 ? 1.01 * 0x1p-16 / scaled : 0;
      const double bound = 0.5 + std::abs(unit) * g * (rest + 0x1p-25 + 0x1p-28) +
                           std::ldexp(g, -unit_bits_) + 0x1p-20;
      out[as_index(e.place)] = {unit * gain + beta_[as_index(e.channel)] / out_scale_ + out_zero_,
                                bound};
    }
  }

  static constexpr double kEpsilon = 1e-5;

  const RowCase& c_;
  int64_t count_;
  std::vector<RowElement> elements_;
  std::map<int64_t, std::vector<int64_t>> rows_;
  std::vector<int8_t> x_, mask_;
  std::vector<double> gamma_, beta_;
  double input_ = 1, out_scale_ = 1, off_ = 0;
  int32_t in_zero_ = 0, out_zero_ = 0, unit_bits_ = 0;
};

/// A problem of the case where a machine's commands can do it.
std::optional<RowProblem> problem_of(const RowCase& c) {
  const RowMeaning meaning = c.meaning();
  const auto work = row_work(meaning, memory_axes(meaning));
  if (!work) return std::nullopt;
  RowProblem p;
  p.work = *work;
  p.in = {"in"};
  p.out = {"out"};
  p.mask = {"mask"};
  p.parameters = {"parameters", hw::MemoryId::dram, true};
  return p;
}

std::string text_of(const RowProblem& p, const RowTile& t, const hw::Program& program) {
  return to_string(p, t) + "\n" + program_text(program);
}

TEST(RowProblem, GivesTheProgramWhatTheOperatorIs) {
  RowDraw draw(1);
  std::map<RowOperator, int> done;
  std::map<RowParameters, int> ways;
  int cut = 0, masked = 0, pieces = 0;
  for (int round = 0; round < 900; ++round) {
    const hw::HwConfig hw = test::random_machine(draw.random);
    const RowCase c = draw.any();
    auto p = problem_of(c);
    if (!p) continue;
    const auto cuts = tilings(*p, hw);
    if (cuts.empty()) continue;
    const RowTile tile = cuts[as_index(draw.pick(0, std::ssize(cuts) - 1))].second;
    RowTrial trial(c, draw);
    hw::MemoryImage image = trial.image(*p);
    const hw::Program program = emit(*p, hw, tile);
    const Status good = verify(program, hw);
    ASSERT_TRUE(good.ok()) << good.errors().front().text() << text_of(*p, tile, program);
    const Status ran = run_golden(program, hw, image);
    ASSERT_TRUE(ran.ok()) << ran.errors().front().text() << text_of(*p, tile, program);
    const std::vector<Wanted> wanted = trial.wanted();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double real = std::clamp(wanted[i].value, -128.0, 127.0);
      ASSERT_NEAR(static_cast<int8_t>(image[1][i]), real, wanted[i].bound + 1e-9)
          << i << "\n"
          << text_of(*p, tile, program);
    }
    ++done[c.op];
    ++ways[tile.parameters];
    cut += tile.rows != p->work.rows;
    masked += p->work.mask.has_value();
    pieces += p->work.pieces > 1;
  }
  for (int op = 0; op < 5; ++op) EXPECT_GT(done[static_cast<RowOperator>(op)], 80) << op;
  for (int way = 0; way < 3; ++way) EXPECT_GT(ways[static_cast<RowParameters>(way)], 40) << way;
  EXPECT_GT(cut, 200);
  EXPECT_GT(masked, 40);
  EXPECT_GT(pieces, 60);
}

TEST(RowProblem, IsTheBoundBelowAndTheCostThatOfTheProgram) {
  RowDraw draw(2);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    hw::HwConfig hw = test::random_machine(draw.random);
    test::draw_channels(hw, draw.random);
    auto p = problem_of(draw.any());
    if (!p) continue;
    if (draw.pick(0, 2) == 0) p->in.memory = hw::MemoryId::shared;
    if (draw.pick(0, 2) == 0) p->out.memory = hw::MemoryId::shared;
    for (const auto& [bound, tile] : tilings(*p, hw)) {
      const hw::Program program = emit(*p, hw, tile);
      const hw::Timing step = hw::simulate(program, hw, hw::TimingMode::step);
      ASSERT_LE(bound, step.total.count()) << text_of(*p, tile, program);
      const Cost cost = CostEvaluator(hw).cost(*p, tile);
      ASSERT_TRUE(test::equal(cost.timing, step)) << text_of(*p, tile, program);
      ASSERT_EQ(cost.counts, count_program(program, hw));
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

/// Where one queue sets the time, the bound is all but the few cycles in which commands start.
TEST(RowProblem, IsTheBoundTheCyclesWhereOneQueueSetsThem) {
  constexpr int64_t kStarts = 15;
  const auto bytes_a_cycle = [](int64_t n) { return hw::ByteRate{1000 * n}; };
  for (const int slow : {0, 1, 2}) {
    hw::HwConfig hw = test::small_machine();
    for (hw::BufferConfig& b : hw.buffers) b.width = 64;
    hw.dram = {bytes_a_cycle(slow == 0 ? 1 : 64), bytes_a_cycle(slow == 2 ? 1 : 64), 1000};
    hw.vector.lanes.fill(slow == 1 ? 1 : 64);
    const RowProblem p =
        *problem_of({.op = RowOperator::layer_norm, .dims = {400, 64}, .axis = 1, .mask = {}});
    int close = 0;
    for (const auto& [bound, tile] : tilings(p, hw)) {
      const int64_t cycles = hw::simulate(emit(p, hw, tile), hw).total.count();
      if (tile.rows[kRowLevels - 1] == 25) {
        EXPECT_LE(cycles - bound, kStarts) << slow;
      }
      close += cycles - bound <= kStarts;
    }
    EXPECT_GE(close, 3) << slow;
  }
}

/// Whatever the order of a nest: what lies side by side in memory is one run of the walk.
TEST(RowParts, LieInTheOrderOfMemory) {
  const RowPart all = row_part({2, 3, 5, 1, 1, 4}, {4, 8, 0, 0, 0, 1}, 2);
  EXPECT_EQ(all.bytes, 2 * 3 * 4 * 2) << "five times the same";
  EXPECT_EQ(all.walk.run, all.bytes);
  EXPECT_TRUE(all.walk.levels.empty());
  EXPECT_EQ(all.stride, (RowLevels{4 * 2, 8 * 2, 0, 0, 0, 2}));
  const RowPart apart = row_part({2, 3, 1, 1, 1, 4}, {5, 10, 0, 0, 0, 1}, 1);
  EXPECT_EQ(apart.walk.run, 4);
  ASSERT_EQ(apart.walk.levels.size(), 1);
  EXPECT_EQ(apart.walk.levels[0].count, 6);
  EXPECT_EQ(apart.walk.levels[0].stride, 5);
}

/// Every element is read once and written once: rows are never loaded twice.
TEST(RowProblem, MovesRowsOnce) {
  RowDraw draw(3);
  for (int round = 0; round < 200; ++round) {
    const hw::HwConfig hw = test::random_machine(draw.random);
    auto p = problem_of(draw.any());
    if (!p || p->work.mask) continue;
    for (const auto& [bound, tile] : tilings(*p, hw)) {
      if (tile.parameters != RowParameters::once) continue;
      const hw::Counts counts = count_program(emit(*p, hw, tile), hw);
      EXPECT_EQ(counts.written[hw::MemoryId::dram], Bytes(p->work.element_count()));
      EXPECT_EQ(counts.read[hw::MemoryId::dram],
                Bytes(p->work.element_count() + p->parameter_bytes(p->work.rows)));
    }
  }
}

// ---- the mapper's choice ------------------------------------------------------------------------

OpRequest row_request(const RowWork& work, int64_t bytes) {
  VectorOp op;
  op.inputs = {{0, work.element_count(), 0}};
  op.outputs = {{0, work.element_count(), 0}};
  op[VectorClass::elementwise] = 4 * work.element_count();
  op.row = work.row_length();
  op.row_work = work;
  OpRequest r;
  r.item = op;
  r.inputs = {{{"x", hw::MemoryId::dram, false}, bytes}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, bytes}};
  return r;
}

RowWork layer_norm_of(int64_t rows, int64_t length) {
  const RowMeaning m = row_meaning(RowKind::layer_norm, {rows, length}, 1, 2, true);
  return *row_work(m, memory_axes(m));
}

/// Commands of a kind in a program.
template <class C>
int64_t commands(const std::vector<hw::Item>& body) {
  int64_t sum = 0;
  for (const hw::Item& item : body) {
    if (const auto* loop = std::get_if<hw::Loop>(&item.node)) sum += commands<C>(loop->body);
    if (const auto* c = std::get_if<hw::Command>(&item.node))
      sum += std::holds_alternative<C>(*c) ? 1 : 0;
  }
  return sum;
}

TEST(RowMapping, HasAMachineOfIntegersCommandsAndOneOfFloatsOperations) {
  const hw::HwConfig integers = test::small_machine();
  hw::HwConfig floats = integers;
  floats.types = {DType::float16, DType::float16, DType::float32};
  const RowWork work = layer_norm_of(30, 64);
  const auto rows = Mapper(integers, {}).map(row_request(work, 1), "norm");
  const auto stream = Mapper(floats, {}).map(row_request(work, 2), "norm");
  ASSERT_TRUE(rows.ok() && stream.ok());
  EXPECT_GT(commands<hw::RowCommand>((*rows)->program.body), 0);
  EXPECT_EQ(commands<hw::VectorCommand>((*rows)->program.body), 0);
  EXPECT_EQ(commands<hw::RowCommand>((*stream)->program.body), 0);
  EXPECT_GT(commands<hw::VectorCommand>((*stream)->program.body), 0);
}

/// 1 KiB of parameters in a slot are 128 channels: up to 256 go in halves, more not in commands.
TEST(RowMapping, HasWhatDoesNotFitHalvesOrOperations) {
  const hw::HwConfig hw = test::small_machine();
  const auto row_commands = [&](int64_t length) {
    const auto m = Mapper(hw, {}).map(row_request(layer_norm_of(1, length), 1), "norm");
    return m.ok() ? commands<hw::RowCommand>((*m)->program.body) : -1;
  };
  EXPECT_EQ(row_commands(128), 1);
  EXPECT_EQ(row_commands(130), 2);
  EXPECT_EQ(row_commands(256), 2);
  EXPECT_EQ(row_commands(258), 0);
  EXPECT_EQ(row_commands(129), 0) << "an odd number has no halves";
}

/// A row takes 2 cycles a beat in the middle of many (rtl/README.md, Row commands).
TEST(RowMapping, TakesWhatItsRowsTake) {
  hw::HwConfig hw = test::small_machine();
  hw.dram = {{1000000}, {1000000}, 0};
  for (auto& b : hw.buffers) b = {1024, 2, 64};
  hw.vector.lanes.fill(16);
  const auto m = Mapper(hw, {}).map(row_request(layer_norm_of(400, 256), 1), "norm");
  ASSERT_TRUE(m.ok());
  const int64_t rows = 400 * 2 * 16;
  EXPECT_GE((*m)->timing.queue(hw::Queue::vector).busy.count(), rows);
  EXPECT_LE((*m)->timing.total.count(), rows * 11 / 10);
}

}  // namespace
}  // namespace accsim::sim
