#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "hw/golden/golden.h"
#include "sim/map/mapper.h"
#include "sim/map/moves/move_emitter.h"
#include "tests/sim/operators/single_node.h"
#include "tests/support/index.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

using test::as_index;

/// The bytes of a tensor, all different modulo a prime.
std::vector<uint8_t> numbered(int64_t bytes) {
  std::vector<uint8_t> out(as_index(bytes));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(i * 7 % 251);
  return out;
}

/// What Transpose is by ONNX: output index (i_0, ...) is the input's with i_k at axis perm[k].
std::vector<uint8_t> transposed(const std::vector<uint8_t>& in, const Dims& dims,
                                const std::vector<int64_t>& perm, size_t element) {
  std::vector<uint8_t> out;
  std::vector<int64_t> at(dims.size(), 0);
  for (size_t n = 0; n < in.size() / element; ++n) {
    size_t left = n;
    for (size_t k = perm.size(); k-- > 0;) {
      const auto axis = as_index(perm[k]), size = as_index(dims[axis]);
      at[axis] = static_cast<int64_t>(left % size);
      left /= size;
    }
    size_t from = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      from = from * as_index(dims[axis]) + as_index(at[axis]);
    for (size_t b = 0; b < element; ++b) out.push_back(in[from * element + b]);
  }
  return out;
}

MemoryOp transpose(const Dims& dims, const std::vector<int64_t>& perm) {
  SingleNode node("Transpose", 13);
  node.in(dims).list("perm", perm);
  if (!node.infer()) ADD_FAILURE() << "a transpose that isn't one";
  const auto work = node.cost();
  return work && !work->empty() ? std::get<MemoryOp>(work->front()) : MemoryOp{};
}

/// The output tensor that golden leaves of a program that verifies.
std::vector<uint8_t> output_of(const hw::Program& p, const hw::HwConfig& hw,
                               const std::vector<uint8_t>& in) {
  const Status good = verify(p, hw);
  if (!good) ADD_FAILURE() << good.errors().front().text() << program_text(p);
  hw::MemoryImage image = {in, std::vector<uint8_t>(as_index(p.tensors.at(1).bytes))};
  const Status ran = hw::run_golden(p, hw, image);
  if (!ran) ADD_FAILURE() << ran.errors().front().text() << program_text(p);
  return image[1];
}

MoveProblem problem(const MemoryOp& op, int64_t element) {
  MoveProblem p;
  p.in = {{"in"}, op.inputs[0].elements, element, op.inputs[0].run};
  p.out = {{"out"}, op.outputs[0].elements, element, op.outputs[0].run};
  p.axes = op.axes;
  p.spacing = spacing_of(op);
  return p;
}

TEST(MoveTiling, GivesTheProgramOfATransposeWhatTheTransposeIs) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int turned = 0, moved = 0, cut = 0;
  for (int round = 0; round < 400; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    Dims dims;
    int64_t bytes = 1;
    for (int64_t rank = pick(2, 5); rank > 0; --rank)
      bytes *= dims.emplace_back(pick(1, rank < 3 ? 60 : 6));
    std::vector<int64_t> perm(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    const MemoryOp op = transpose(dims, perm);
    if (op.axes.empty() || bytes > 60'000) continue;
    const int64_t element = pick(0, 3) == 0 ? 2 : 1;
    const MoveProblem p = problem(op, element);
    const bool turns = contiguous_axis(p) + 1 != p.axes.size();
    ASSERT_EQ(has_move_commands(p), !turns || element == 1);
    if (!has_move_commands(p)) continue;
    const int64_t chunks = pick(1, 40);
    if (!fits(p, hw, {chunks})) continue;
    const hw::Program program = emit(p, hw, MoveCut{chunks});
    const std::vector<uint8_t> in = numbered(bytes * element);
    ASSERT_EQ(output_of(program, hw, in), transposed(in, dims, perm, as_index(element)))
        << program_text(program);
    const Cost cost = CostEvaluator(hw).cost(p, MoveCut{chunks});
    EXPECT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
    EXPECT_EQ(cost.counts, count_program(program, hw));
    EXPECT_LE(lower_bound(p, hw), cost.timing.total.count()) << program_text(program);
    (turns ? turned : moved) += 1;
    cut += program.loops > 1;
  }
  EXPECT_GT(turned, 60);
  EXPECT_GT(moved, 20);
  EXPECT_GT(cut, 50);
}

TEST(MoveTiling, MovesABoxFromTensorToTensor) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int boxes = 0, cut = 0, spread = 0;
  for (int round = 0; round < 400; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    // Of tensors of the same rank a box of every in_step-th and out_step-th element of each dim.
    struct Dim {
      int64_t count, in_step, out_step, in_first, out_first, in_size, out_size;
    };
    std::vector<Dim> dims;
    for (int64_t rank = pick(1, 4); rank > 0; --rank) {
      Dim d{pick(1, rank < 3 ? 30 : 5),
            pick(1, 4) == 1 ? 2 : 1,
            pick(1, 4) == 1 ? 3 : 1,
            pick(0, 3),
            pick(0, 3),
            0,
            0};
      d.in_size = d.in_first + d.count * d.in_step + pick(0, 2);
      d.out_size = d.out_first + d.count * d.out_step + pick(0, 2);
      if (pick(0, 2) == 0) d = {d.count, 1, 1, 0, 0, d.count, d.count};
      dims.push_back(d);
    }
    std::vector<BoxAxis> axes(dims.size());
    int64_t in_size = 1, out_size = 1, from = 0, to = 0;
    for (size_t i = dims.size(); i-- > 0;) {
      const Dim& d = dims[i];
      axes[i] = {d.count, in_size * d.in_step, out_size * d.out_step};
      from += d.in_first * in_size;
      to += d.out_first * out_size;
      in_size *= d.in_size;
      out_size *= d.out_size;
    }
    const int64_t element = pick(0, 3) == 0 ? 2 : 1;
    if (in_size > 60'000 || out_size > 60'000) continue;
    const MemoryOp op = box_move(axes, 0, 0, from, to);
    MoveProblem p = problem(op, element);
    p.from = op.from;
    p.to = op.to;
    ASSERT_TRUE(has_move_commands(p));
    const int64_t chunks = pick(1, 40);
    if (!fits(p, hw, {chunks})) continue;
    hw::Program program = emit(p, hw, MoveCut{chunks});
    ASSERT_LE(program.tensors[0].bytes, in_size * element);
    ASSERT_LE(program.tensors[1].bytes, out_size * element);
    const std::vector<uint8_t> in = numbered(program.tensors[0].bytes);
    std::vector<uint8_t> expected(as_index(program.tensors[1].bytes));
    std::vector<int64_t> at(dims.size(), 0);
    for (bool more = true; more;) {
      int64_t source = from, target = to;
      for (size_t i = 0; i < dims.size(); ++i) {
        source += at[i] * axes[i].in;
        target += at[i] * axes[i].out;
      }
      for (int64_t b = 0; b < element; ++b)
        expected.at(as_index(target * element + b)) = in.at(as_index(source * element + b));
      size_t i = dims.size();
      while (i > 0 && ++at[i - 1] == dims[i - 1].count) at[--i] = 0;
      more = i > 0;
    }
    ASSERT_EQ(output_of(program, hw, in), expected) << program_text(program);
    const Cost cost = CostEvaluator(hw).cost(p, MoveCut{chunks});
    EXPECT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
    EXPECT_LE(lower_bound(p, hw), cost.timing.total.count()) << program_text(program);
    ++boxes;
    cut += program.loops > 1;
    spread += op.spacing.size() > 1;
  }
  EXPECT_GT(boxes, 200);
  EXPECT_GT(cut, 20);
  EXPECT_GT(spread, 100);
}

TEST(MoveTiling, DoesTheMapperWriteIt) {
  const hw::HwConfig hw = test::small_machine();
  const Dims dims{100, 70};
  MapOptions options;
  options.programs = true;
  Mapper mapper(hw, options);
  const OpRequest request{transpose(dims, {1, 0}),
                          {{{"in", hw::MemoryId::dram, false}, 1}},
                          {{{"out", hw::MemoryId::dram, false}, 1}}};
  const auto mapping = mapper.map(request, "turn");
  ASSERT_TRUE(mapping);
  const std::vector<uint8_t> in = numbered(7000);
  EXPECT_EQ(output_of((*mapping)->program, hw, in), transposed(in, dims, {1, 0}, 1));
}

TEST(MoveTiling, AreJoinedAxesOne) {
  // (a, b, c, d) -> (c, d, a, b): two axes of 2 x 3 and 4 x 5.
  EXPECT_EQ(transpose({2, 3, 4, 5}, {2, 3, 0, 1}).axes, (std::vector<MoveAxis>{{20, 1}, {6, 20}}));
  EXPECT_EQ(transpose({2, 1, 4, 5}, {2, 1, 0, 3}).axes,
            (std::vector<MoveAxis>{{4, 5}, {2, 20}, {5, 1}}));
}

TEST(MoveTiling, AreMoreAxesThanAWalkHoldsNotTrue) {
  MoveProblem p;
  p.in = {{"in"}, 512, 1, 1};
  p.out = {{"out"}, 512, 1, 1};
  // Reversed axes of two: each a stride of its own.
  for (int64_t stride = 1; stride < 128; stride *= 2) p.axes.push_back({2, stride});
  EXPECT_TRUE(has_move_commands(p)) << "seven: six levels around a run";
  p.axes.push_back({2, 128});
  EXPECT_FALSE(has_move_commands(p));
}

}  // namespace
}  // namespace accsim::sim
