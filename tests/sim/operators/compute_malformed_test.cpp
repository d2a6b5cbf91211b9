#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

/// Draws nodes that no exporter would write, but close enough to legal ones that some get through.
class Scribbler {
 public:
  explicit Scribbler(uint32_t seed) : rng_(seed) {}

  SingleNode node(const OpRow& row) {
    constexpr int64_t kOpsets[] = {7, 9, 10, 11, 13, 18, 21, 24, 27};
    SingleNode node(std::string(row.name), row.domain.empty() ? of(kOpsets) : 1,
                    std::string(row.domain));
    const int most = std::min(row.max_inputs, row.min_inputs + 8);
    const int64_t count = pick(row.min_inputs, most);
    rank_ = static_cast<size_t>(pick(0, 5));
    for (int64_t i = 0; i < count; ++i) add_input(node, i >= row.min_inputs);
    for (const char* name : kNumbers)
      if (pick(0, 2) == 0) node.attr(name, small());
    for (const char* name : kLists)
      if (pick(0, 2) == 0) node.list(name, numbers(static_cast<size_t>(pick(0, 4))));
    constexpr const char* kPads[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "", "?"};
    constexpr const char* kModes[] = {"nearest", "linear", "cubic", "none", "sum", "?"};
    constexpr const char* kEquations[] = {"ij,jk->ik", "...i,i...->...", "ii", "->", "i...j->ij"};
    if (pick(0, 1) == 0) node.attr("auto_pad", of(kPads));
    if (pick(0, 1) == 0) node.attr("mode", of(kModes)).attr("reduction", of(kModes));
    node.attr("equation", of(kEquations)).outs(static_cast<size_t>(pick(1, 4)));
    return node;
  }

 private:
  static constexpr const char* kNumbers[] = {"axis",
                                             "group",
                                             "ceil_mode",
                                             "num_heads",
                                             "kv_num_heads",
                                             "q_num_heads",
                                             "layout",
                                             "hidden_size",
                                             "block_size",
                                             "K",
                                             "N",
                                             "bits",
                                             "size",
                                             "num_groups",
                                             "offset_group",
                                             "transA",
                                             "output_dtype",
                                             "stash_type",
                                             "inverse",
                                             "onesided",
                                             "antialias",
                                             "channels_last",
                                             "output_height",
                                             "sampling_ratio",
                                             "rotary_embedding_dim",
                                             "do_rotary",
                                             "output_datatype",
                                             "training_mode",
                                             "state_window",
                                             "spatial"};
  static constexpr const char* kLists[] = {"kernel_shape", "strides",      "dilations",
                                           "pads",         "output_shape", "output_padding",
                                           "axes",         "pooled_shape", "qkv_hidden_sizes"};

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  template <class T, size_t N>
  T of(const T (&choices)[N]) {
    return choices[static_cast<size_t>(pick(0, N - 1))];
  }
  int64_t small() {
    constexpr int64_t kRare[] = {-3, -1, 0, int64_t{1} << 31, INT64_MAX, INT64_MIN};
    return pick(0, 9) == 0 ? of(kRare) : pick(1, 4);
  }
  std::vector<int64_t> numbers(size_t count) {
    std::vector<int64_t> list(count);
    for (int64_t& v : list) v = small();
    return list;
  }
  Dims dims() {
    Dims d(pick(0, 3) == 0 ? static_cast<size_t>(pick(0, 5)) : rank_);
    constexpr int64_t kRare[] = {0, 1, int64_t{1} << 20, int64_t{1} << 40, (int64_t{1} << 62) - 1};
    const bool alike = pick(0, 1) == 0;
    for (int64_t& v : d) v = pick(0, 19) == 0 ? of(kRare) : alike ? 2 : pick(1, 4);
    return checked_elements(d) ? d : Dims{2, 3};
  }
  void add_input(SingleNode& node, bool optional) {
    constexpr DType kTypes[] = {DType::float32, DType::int64,   DType::uint8,
                                DType::int4,    DType::boolean, DType::string};
    const int64_t kind = pick(0, optional ? 11 : 5);
    if (kind > 5) {
      node.absent();
    } else if (kind == 5) {
      node.ints(numbers(static_cast<size_t>(pick(0, 5))));
    } else if (kind == 4) {
      std::vector<double> reals;
      for (int64_t v : numbers(static_cast<size_t>(pick(0, 5))))
        reals.push_back(static_cast<double>(v) / 2);
      node.reals(std::move(reals));
    } else {
      node.in(dims(), pick(0, 3) == 0 ? of(kTypes) : DType::float32);
    }
  }

  std::mt19937 rng_;
  size_t rank_ = 0;
};

/// Whatever the operands and attributes, a rule answers with shapes or an error and never with
/// undefined behaviour; the sanitizer build makes this question sharp.
TEST(MalformedCompute, IsEveryNodeAnsweredWithShapesOrAnError) {
  constexpr int kRounds = 400;
  std::map<std::string_view, int> costed;
  Scribbler scribbler(7);
  for (const auto rows : {norm_rows(), conv_rows(), matmul_rows(), pool_rows(), quant_rows(),
                          signal_rows(), contrib_rows()})
    for (const OpRow& row : rows)
      for (int round = 0; round < kRounds; ++round) {
        SingleNode node = scribbler.node(row);
        if (const Status s = node.infer(); !s) {
          EXPECT_FALSE(s.errors().front().message.empty()) << row.name;
          continue;
        }
        for (int64_t d : node.out()) EXPECT_GE(d, 0) << row.name;
        const Result<Work> work = node.cost();
        if (work) ++costed[row.name];
      }
  // Nodes must get as far as the cost rules, or the question hasn't been asked.
  EXPECT_GT(costed.size(), 30U);
}

}  // namespace
}  // namespace accsim::sim
