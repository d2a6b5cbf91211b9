#include "sim/map/vector_tiling.h"

#include <gtest/gtest.h>

#include "hw/timing/timing.h"
#include "sim/map/mapper.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

VectorProblem random_problem(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  VectorProblem p;
  const int64_t elements = pick(1, 5000);
  for (int64_t i = pick(1, 3); i > 0; --i)
    p.inputs.push_back({{"in"}, pick(0, 1) ? elements : pick(1, 50), pick(1, 4), pick(0, 9)});
  p.outputs.push_back({{"out"}, pick(0, 3) == 0 ? pick(1, 9) : elements, pick(1, 4), pick(0, 9)});
  if (pick(0, 2) > 0) p.ops[static_cast<size_t>(pick(0, 6))] = elements * pick(1, 4);
  p.passes = pick(1, 3);
  return p;
}

TEST(VectorTiling, ProgramsAreValidMoveEveryByteAndDoEveryOperation) {
  std::mt19937 random(4);
  int checked = 0;
  for (int i = 0; i < 600; ++i) {
    const hw::HwConfig hw = test::random_machine(random);
    const VectorProblem p = random_problem(random);
    // More chunks than elements, too: then only the last one loads or stores anything.
    const auto chunks = static_cast<int64_t>(1 + random() % (random() % 2 ? 40 : 400));
    const int64_t passes = random() % 2 ? 1 : p.passes;
    if (!fits(p, hw, chunks)) continue;
    const hw::Program program = emit(p, hw, chunks, passes);
    ASSERT_TRUE(verify(program, hw).ok())
        << verify(program, hw).errors().front().text() << print(program);
    const hw::Counts c = count(program, hw);
    int64_t in = 0, out = 0;
    for (const VectorOperand& o : p.inputs) in += o.bytes();
    for (const VectorOperand& o : p.outputs) out += o.bytes();
    const bool vector = p.is_vector();
    EXPECT_EQ(c.read[0], Bytes(in * (vector ? passes : 1))) << print(program);
    EXPECT_EQ(c.written[0], Bytes(out));
    EXPECT_EQ(c.vector_ops, p.ops);
    const Cycles cycles = hw::simulate(program, hw, hw::TimingMode::step).total;
    EXPECT_EQ(cycles, hw::simulate(program, hw, hw::TimingMode::periodic).total);
    EXPECT_LE(lower_bound(p, hw, chunks, passes), cycles.count()) << print(program);
    const Cost cost = CostEvaluator(hw).cost(p, chunks, passes);
    EXPECT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
    EXPECT_EQ(cost.counts, c);
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(VectorTiling, StridedRunsCostPortBeats) {
  const hw::HwConfig hw = test::small_machine();
  const auto cycles = [&](int64_t run) {
    VectorProblem p;
    p.inputs = {{{"in"}, 1024, 1, run}};
    p.outputs = {{{"out"}, 1024, 1, 0}};
    return hw::simulate(emit(p, hw, 1, 1), hw).queue(hw::Queue::load).busy.count();
  };
  EXPECT_EQ(cycles(0), 256) << "1024 bytes at 4 bytes a cycle";
  EXPECT_EQ(cycles(1), 1024) << "one element a beat";
}

TEST(VectorTiling, RowsThatDoNotFitAreReadOncePerPass) {
  hw::HwConfig hw = test::small_machine();
  VectorOp softmax;
  softmax.inputs = {{0, 100'000, 0}};
  softmax.outputs = {{0, 100'000, 0}};
  softmax[VectorClass::reduce] = 200'000;
  softmax.passes = 3;
  OpRequest r;
  r.inputs = r.outputs = {{{"t"}, 1}};
  const auto read = [&](int64_t row) {
    softmax.row = row;
    r.item = softmax;
    Mapper mapper(hw, {});
    const auto m = mapper.map(r, "softmax");
    EXPECT_TRUE(m.ok());
    return (*m)->counts.read[0].count();
  };
  EXPECT_EQ(read(100), 100'000);
  EXPECT_EQ(read(100'000), 300'000);
}

TEST(LaneClasses, AreTheMachinesAndTheOperatorsAlike) {
  ASSERT_EQ(hw::kLaneClasses, kVectorClasses);
  for (size_t i = 0; i < kVectorClasses; ++i)
    EXPECT_EQ(hw::kLaneClassNames[i], name(static_cast<VectorClass>(i)));
}

}  // namespace
}  // namespace accsim::sim
