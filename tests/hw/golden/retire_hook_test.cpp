#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <variant>

#include "hw/random/random_program.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

using TensorBytes = std::vector<uint8_t>;

int64_t value(const Affine& at, const RetiredCommand& r) {
  int64_t out = at.base;
  for (const Affine::Term& t : at.terms)
    out += t.coeff * r.loop_indices[static_cast<size_t>(t.loop)];
  return out;
}

/// The bytes of a walk from `at` on, in its order.
void walk_on(const Walk& walk, size_t level, int64_t at, const TensorBytes& tensor,
             TensorBytes& out) {
  if (level == walk.levels.size()) {
    const auto first = tensor.begin() + at;
    out.insert(out.end(), first, first + walk.run);
    return;
  }
  for (int64_t i = 0; i < walk.levels[level].count; ++i)
    walk_on(walk, level + 1, at + i * walk.levels[level].stride, tensor, out);
}
TensorBytes walked(const Walk& walk, int64_t at, const TensorBytes& tensor) {
  TensorBytes out;
  walk_on(walk, 0, at, tensor, out);
  return out;
}

/// Each matrix of a transposed load with its columns as rows.
TensorBytes turned(const LoadCommand& c, const TensorBytes& from) {
  const int64_t rows = c.walk.levels.back().count, cols = c.walk.run / c.transposed;
  TensorBytes out;
  for (int64_t matrix = 0; matrix < c.walk.run_count() / rows; ++matrix)
    for (int64_t col = 0; col < cols; ++col)
      for (int64_t row = 0; row < rows; ++row) {
        const auto first = from.begin() + ((matrix * rows + row) * cols + col) * c.transposed;
        out.insert(out.end(), first, first + c.transposed);
      }
  return out;
}

/// What the hook of a run must say of each command, by the memory as it is then.
class Expected {
 public:
  Expected(const Program& program, const MemoryImage& image)
      : program_(program),
        image_(image),
        one_layer_(std::ranges::none_of(program.body, [](const Item& item) {
          return std::holds_alternative<LayerHead>(item.node);
        })) {}

  void operator()(const RetiredCommand& r) {
    std::visit([&](const auto& c) { see(c, r); }, *r.command);
    ++seen_[r.command->index()];
  }
  int seen(size_t kind) const { return seen_[kind]; }

 private:
  bool is_region(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].slots > 0;
  }
  const TensorBytes& bytes(int tensor) const { return image_[static_cast<size_t>(tensor)]; }

  void see(const LoadCommand& c, const RetiredCommand& r) const {
    EXPECT_EQ(r.address, value(c.slot_offset, r));
    EXPECT_EQ(std::ssize(r.bytes), c.walk.bytes());
    expect_no_sums(r);
    if (c.padded || c.gather || is_region(c.tensor)) return;
    const TensorBytes from = walked(c.walk, value(c.source, r), bytes(c.tensor));
    EXPECT_EQ(r.bytes, c.transposed == 0 ? from : turned(c, from));
  }
  void see(const StoreCommand& c, const RetiredCommand& r) const {
    EXPECT_EQ(r.address, value(c.target, r));
    expect_no_sums(r);
    if (is_region(c.tensor)) return;
    EXPECT_EQ(r.bytes, walked(c.walk, r.address, bytes(c.tensor)));
  }
  void see(const StageCommand& c, const RetiredCommand& r) const {
    EXPECT_EQ(r.address, value(c.target, r));
    expect_no_sums(r);
    const bool in = program_.tensors[static_cast<size_t>(c.from)].memory == MemoryId::dram;
    const int dram = in ? c.from : c.to;
    EXPECT_EQ(std::ssize(r.bytes), c.walk.bytes());
    if (is_region(dram)) return;
    EXPECT_EQ(r.bytes, walked(c.walk, value(in ? c.source : c.target, r), bytes(dram)));
  }
  void see(const GemmCommand& c, const RetiredCommand& r) {
    EXPECT_EQ(std::ssize(r.sums), c.m * c.n);
    EXPECT_TRUE(r.bytes.empty());
    ASSERT_EQ(std::ssize(r.a), c.m * c.k);
    ASSERT_EQ(std::ssize(r.b), c.k * c.n);
    const bool stays = r.dataflow == Dataflow::output_stationary;
    const bool turned = r.dataflow == Dataflow::input_stationary;
    EXPECT_EQ(r.in_array, stays);
    EXPECT_EQ(r.address, stays ? 0 : value(c.accumulator_row, r));
    EXPECT_EQ(r.row, turned ? c.m : c.n);
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        int32_t sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += r.a[static_cast<size_t>(m * c.k + k)] * r.b[static_cast<size_t>(k * c.n + n)];
        const int64_t row = turned ? n : m, col = turned ? m : n;
        see_sum(stays ? array_ : accumulators_[r.slot], row, col, sum, r);
      }
    if (one_layer_) {
      EXPECT_EQ(r.dataflow, program_.dataflow);
    }
  }
  void see(const DrainCommand& c, const RetiredCommand& r) {
    EXPECT_EQ(r.address, value(c.accumulator_row, r));
    EXPECT_EQ(r.row, c.n);
    EXPECT_EQ(std::ssize(r.sums), c.m * c.n);
    EXPECT_TRUE(r.bytes.empty());
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) see_sum(accumulators_[r.slot], m, n, array_.at({m, n}), r);
  }
  static void see(const PostCommand& c, const RetiredCommand& r) {
    EXPECT_EQ(r.address, value(c.slot_offset, r));
    EXPECT_EQ(std::ssize(r.bytes), c.rows * c.cols);
    EXPECT_EQ(std::ssize(r.scales), c.channels());
    EXPECT_EQ(std::ssize(r.group_multipliers), (c.groups - 1) * c.channels());
    expect_no_sums(r);
  }
  static void see(const SetTableCommand& c, const RetiredCommand& r) {
    EXPECT_EQ(r.address, value(c.parameter_offset, r));
    EXPECT_EQ(std::ssize(r.bytes), SetTableCommand::kBytes);
    expect_no_sums(r);
  }
  template <class Other>
  static void see(const Other&, const RetiredCommand& r) {
    expect_no_sums(r);
  }

  using Sums = std::map<std::pair<int64_t, int64_t>, int32_t>;
  /// What `sum` makes of the one held at a row, from the command's first on, and a column.
  static void see_sum(Sums& held, int64_t row, int64_t col, int32_t sum, const RetiredCommand& r) {
    int32_t& to = held[{r.address + row, col}];
    to = r.overwrites ? sum : to + sum;
    EXPECT_EQ(r.sums[static_cast<size_t>(row * r.row + col)], to);
  }

  static void expect_no_sums(const RetiredCommand& r) {
    EXPECT_TRUE(r.a.empty() && r.b.empty());
    EXPECT_FALSE(r.overwrites);
    EXPECT_EQ(r.row, 0);
    EXPECT_TRUE(r.sums.empty());
  }

  const Program& program_;
  const MemoryImage& image_;
  const bool one_layer_;
  Sums array_;                            ///< of an output stationary machine
  std::map<int64_t, Sums> accumulators_;  ///< by slot
  std::array<int, std::variant_size_v<Command>> seen_{};
};

/// Programs of all dataflows, with all that random programs have.
TEST(RetireHook, SaysWhatRandomProgramsDoAndWhere) {
  HwConfig hw = test::small_machine(8, 8);
  hw.shared.kib = 64;
  std::mt19937 random(3);
  std::array<int, std::variant_size_v<Command>> seen{};
  for (int i = 0; i < 90; ++i) {
    const auto dataflow = static_cast<Dataflow>(i % static_cast<int>(kDataflows));
    auto drawn = random_program(hw, dataflow, random);
    ASSERT_TRUE(drawn);
    Expected expected(drawn->program, drawn->image);
    const Status ran = run_golden(drawn->program, hw, drawn->image, std::ref(expected));
    ASSERT_TRUE(ran.ok()) << ran.errors().front().text();
    for (size_t kind = 0; kind < seen.size(); ++kind) seen[kind] += expected.seen(kind);
    if (HasFailure()) FAIL() << program_text(drawn->program);
  }
  const size_t never = Command(VectorCommand{}).index();  // golden has none
  for (size_t kind = 0; kind < seen.size(); ++kind)
    EXPECT_EQ(seen[kind] > 0, kind != never) << "kind " << kind;
}

}  // namespace
}  // namespace accsim::hw
