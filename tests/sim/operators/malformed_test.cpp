#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

/// Draws nodes that are mostly wrong: any input of any shape, type and value, any attribute.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  int64_t number() {
    constexpr std::array<int64_t, 12> kOdd = {
        kLowest, kHighest, -1, 0, 1, 2, 3, -2, -3, 4, int64_t{1} << 40, int64_t{1} << 61};
    return one_of(kOdd);
  }
  Dims dims() {
    constexpr std::array<int64_t, 8> kSizes = {0, 1, 1, 2, 2, 3, 4, int64_t{1} << 20};
    Dims drawn(random_() % 5);
    for (int64_t& d : drawn) d = one_of(kSizes);
    return drawn;
  }
  std::vector<int64_t> list() {
    std::vector<int64_t> drawn(random_() % 4);
    for (int64_t& v : drawn) v = number();
    return drawn;
  }
  DType type() {
    constexpr std::array kTypes = {DType::float32, DType::int64,   DType::int32, DType::boolean,
                                   DType::uint64,  DType::float16, DType::int64, DType::string};
    return one_of(kTypes);
  }
  void input(SingleNode& node) {
    const DType t = type();
    switch (random_() % 5) {
      case 0:
        node.absent();
        return;
      case 2:
        node.ints(list());
        return;
      case 3:
        node.scalar(number());
        return;
      default:
        break;
    }
    const Dims d = dims();
    const std::optional<int64_t> count = checked_elements(d);
    if (!count) {
      node.absent();  // import refuses such shapes
    } else if (*count > 1000) {
      node.in(d, t);
    } else if (is_float(t)) {
      std::vector<double> values(static_cast<size_t>(*count));
      for (double& v : values) v = static_cast<double>(number()) / 2;
      node.constant(d, t, std::make_shared<ConstData>(std::move(values)));
    } else {
      std::vector<int64_t> values(static_cast<size_t>(*count));
      for (int64_t& v : values) v = t == DType::boolean ? number() & 1 : number();
      node.constant(d, t, std::make_shared<ConstData>(std::move(values)));
    }
  }
  void attributes(SingleNode& node) {
    for (const char* name :
         {"axis",  "to",         "blocksize", "keepdims",    "k",           "start",      "end",
          "upper", "batch_dims", "largest",   "num_outputs", "sample_size", "batch_axis", "fmod",
          "dtype", "exclusive",  "reverse",   "value",       "value_int",   "allowzero",  "sorted"})
      if (random_() % 4 == 0) node.attr(name, number());
    for (const char* name :
         {"axes", "perm", "pads", "starts", "ends", "split", "shape", "value_ints"})
      if (random_() % 4 == 0) node.attr(name, list());
    constexpr std::array<const char*, 5> kModes = {"edge", "reflect", "LEFT", "add", "nonsense"};
    for (const char* name : {"mode", "direction", "reduction", "axis"})
      if (random_() % 8 == 0) node.attr(name, one_of(kModes));
  }
  size_t below(size_t n) { return random_() % n; }

 private:
  template <class T, size_t N>
  T one_of(const std::array<T, N>& from) {
    return from[random_() % N];
  }
  std::mt19937 random_;
};

/// Whatever the node, its rules must come back; sanitizers see what else goes wrong.
void put_to_rules(const OpRow& row, Draw& draw) {
  constexpr std::array<int64_t, 7> kOpsets = {7, 9, 10, 11, 13, 18, 26};
  SingleNode node(std::string(row.name), kOpsets[draw.below(kOpsets.size())]);
  const size_t inputs = std::min<size_t>(draw.below(6), static_cast<size_t>(row.max_inputs));
  for (size_t i = 0; i < inputs; ++i) draw.input(node);
  draw.attributes(node);
  node.outs(1 + draw.below(3));
  const Status shape = node.infer();
  if (!shape) {
    EXPECT_FALSE(shape.errors().front().message.empty()) << row.name;
    return;
  }
  const std::optional<int64_t> count = checked_elements(node.out());
  ASSERT_TRUE(count) << row.name;
  if (row.value != nullptr && *count <= 65536 && node.all_known()) (void)node.fold();
  if (row.cost != nullptr) (void)node.cost();
}

void put_family_to_rules(std::span<const OpRow> rows, unsigned seed) {
  Draw draw(seed);
  for (const OpRow& row : rows)
    for (int i = 0; i < 1000; ++i) put_to_rules(row, draw);
}

TEST(MalformedNodes, DoElementwiseRulesSurviveThem) { put_family_to_rules(elementwise_rows(), 1); }
TEST(MalformedNodes, DoShapeRulesSurviveThem) { put_family_to_rules(shape_rows(), 2); }
TEST(MalformedNodes, DoMovementRulesSurviveThem) { put_family_to_rules(movement_rows(), 3); }
TEST(MalformedNodes, DoReductionRulesSurviveThem) { put_family_to_rules(reduction_rows(), 4); }

}  // namespace
}  // namespace accsim::sim
