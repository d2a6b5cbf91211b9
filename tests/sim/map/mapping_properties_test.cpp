#include <gtest/gtest.h>

#include "hw/program/program.h"
#include "hw/timing/timing.h"
#include "sim/map/mapper.h"
#include "sim/work/random_gemm.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

const std::vector<hw::Dataflow> kAllDataflows = {hw::Dataflow::weight_stationary,
                                                 hw::Dataflow::input_stationary,
                                                 hw::Dataflow::output_stationary};

OpRequest request(const GemmOp& op, bool constant_weights = true) {
  OpRequest r;
  r.item = op;
  r.inputs = {{{"a", hw::MemoryId::dram, false}, 1},
              {{"b", hw::MemoryId::dram, constant_weights}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  return r;
}

GemmProblem problem(const GemmOp& op, const hw::HwConfig& hw, bool constant_weights) {
  GemmProblem p = make_problem(op, hw);
  p.a = {"a"};
  p.b = {"b", hw::MemoryId::dram, constant_weights};
  p.parameters = {"p"};
  p.out = {"y"};
  p.has_parameters = true;
  return p;
}

TEST(EveryCandidate, IsValidHasItsMacsItsBoundHoldsAndBothTimingsAgree) {
  std::mt19937 random(1);
  int programs = 0;
  for (int round = 0; round < 150; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    const GemmOp op = random_gemm(random);
    const bool constant = random() % 4 != 0;
    GemmProblem p = problem(op, hw, constant);
    p.epilogue.table = round % 3 == 0;
    p.same_parameters = !constant && !op.grouped && round % 2 == 0;
    MappingPin pin;
    pin.im2col = random() % 8 == 0 && !op.a_transposed;
    const auto all = tiling_candidates(p, hw, {.dataflows = kAllDataflows}, pin);
    for (size_t i = 0; i < all.size(); i += 1 + all.size() / 6) {
      const Candidate& c = all[i];
      const hw::Program program = emit(p, hw, c.tiling);
      const Status good = verify(program, hw);
      ASSERT_TRUE(good.ok()) << good.errors().front().text() << "\n"
                             << to_string(c.tiling) << "\n"
                             << program_text(program);
      const hw::Counts counts = count_program(program, hw);
      ASSERT_EQ(counts.macs.count(), op.macs()) << program_text(program);
      const hw::Timing step = hw::simulate(program, hw, hw::TimingMode::step);
      const hw::Timing fast = hw::simulate(program, hw, hw::TimingMode::periodic);
      ASSERT_EQ(step.total, fast.total) << program_text(program);
      for (const hw::Queue q : hw::Queue::all()) {
        ASSERT_EQ(step.queues[q].busy, fast.queues[q].busy);
        ASSERT_EQ(step.queues[q].waits, fast.queues[q].waits) << program_text(program);
        Cycles sum = step.queues[q].busy;
        for (Cycles w : step.queues[q].waits) sum += w;
        ASSERT_EQ(sum, step.queues[q].free_at);
      }
      ASSERT_LE(c.bound, step.total.count()) << to_string(c.tiling) << "\n"
                                             << program_text(program);
      const Cost cost = CostEvaluator(hw).cost(p, c.tiling);
      ASSERT_TRUE(test::equal(cost.timing, step)) << program_text(program);
      ASSERT_EQ(cost.counts, counts) << program_text(program);
      ++programs;
    }
  }
  EXPECT_GT(programs, 500);
}

/// How often the loops run commands that `is_one` says yes to.
template <class IsOne>
int64_t executions(const std::vector<hw::Item>& body, const IsOne& is_one) {
  int64_t sum = 0;
  for (const hw::Item& item : body) {
    if (const auto* loop = std::get_if<hw::Loop>(&item.node))
      sum += loop->count * executions(loop->body, is_one);
    if (const auto* command = std::get_if<hw::Command>(&item.node)) sum += is_one(*command) ? 1 : 0;
  }
  return sum;
}

TEST(Tables, AreLoadedAndSetOnceAndUsedByEveryPost) {
  std::mt19937 random(4);
  int programs = 0;
  for (int round = 0; round < 60; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    GemmProblem p = problem(random_gemm(random), hw, true);
    p.epilogue.table = true;
    const int64_t channels = p.pixel_outputs() * 12;
    const auto all = tiling_candidates(p, hw, {.dataflows = kAllDataflows}, {});
    for (size_t i = 0; i < all.size(); i += 1 + all.size() / 4) {
      const hw::Program program = emit(p, hw, all[i].tiling);
      ASSERT_TRUE(verify(program, hw).ok()) << program_text(program);
      EXPECT_EQ(program.tensors[3].bytes, channels + 256);
      EXPECT_EQ(executions(program.body,
                           [](const hw::Command& c) {
                             const auto* table = std::get_if<hw::SetTableCommand>(&c);
                             return table && table->unit == hw::Queue::post;
                           }),
                1);
      EXPECT_EQ(executions(program.body,
                           [&](const hw::Command& c) {
                             const auto* load = std::get_if<hw::LoadCommand>(&c);
                             return load && load->tensor == 3 && load->source.base >= channels;
                           }),
                1);
      EXPECT_EQ(executions(program.body,
                           [](const hw::Command& c) {
                             const auto* post = std::get_if<hw::PostCommand>(&c);
                             return post && !post->epilogue.table;
                           }),
                0);
      // What the same program moves without a table, and a table, a byte of it for each result.
      GemmProblem plain = p;
      plain.epilogue.table = false;
      const auto parameter = static_cast<size_t>(hw::Buffer::parameter);
      const hw::Counts with = count_program(program, hw);
      const hw::Counts without = count_program(emit(plain, hw, all[i].tiling), hw);
      EXPECT_EQ(with.read[hw::MemoryId::dram].count(),
                without.read[hw::MemoryId::dram].count() + 256);
      EXPECT_EQ(with.buffer_read[parameter].count(),
                without.buffer_read[parameter].count() + 256 + p.op.batch * p.op.m() * p.op.n());
      EXPECT_EQ(with.commands, without.commands + 2);
      ++programs;
    }
  }
  EXPECT_GT(programs, 100);
}

TEST(Tables, NeedASlotOfParametersThatHoldsOne) {
  hw::HwConfig hw = test::small_machine();
  OpRequest r = request(test::product(3, 4, 5));
  r.table = true;
  EXPECT_TRUE(Mapper(hw, {}).map(r, "fc").ok());
  hw.buffers[static_cast<size_t>(hw::Buffer::parameter)] = {1, 5, 16};  // 204 bytes each
  EXPECT_FALSE(Mapper(hw, {}).map(r, "fc").ok());
}

/// Cycles of the best mapping; -1 when no tile fits.
int64_t best(const GemmOp& op, const hw::HwConfig& hw) {
  Mapper mapper(hw, {.dataflows = kAllDataflows});
  const auto mapping = mapper.map(request(op), "layer");
  return mapping ? (*mapping)->timing.total.count() : -1;
}

TEST(Cycles, NeverBelowTheRoofline) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    const GemmOp op = random_gemm(random);
    Mapper mapper(hw, {});
    const auto mapping = mapper.map(request(op), "layer");
    if (!mapping) continue;
    const int64_t cycles = (*mapping)->timing.total.count();
    const hw::Counts& counts = (*mapping)->counts;
    EXPECT_GE(cycles * hw.array.rows * hw.array.cols, op.macs());
    EXPECT_GE(cycles, hw.dram.read.cycles(counts.read[hw::MemoryId::dram].count()));
    EXPECT_GE(cycles, hw.dram.write.cycles(counts.written[hw::MemoryId::dram].count()));
  }
}

TEST(Cycles, NeverGrowWithMoreBandwidthLessLatencyOrMoreSram) {
  std::mt19937 random(3);
  int compared = 0;
  for (int round = 0; round < 150; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    const GemmOp op = random_gemm(random);
    const int64_t base = best(op, hw);
    if (base < 0) continue;
    hw::HwConfig better = hw;
    switch (random() % 5) {
      case 0:
        better.dram.read.milli += 1 + static_cast<int64_t>(random() % 20000);
        break;
      case 1:
        better.dram.write.milli += 1 + static_cast<int64_t>(random() % 20000);
        break;
      case 2:
        better.dram.latency /= 2;
        break;
      case 3:
        better.buffers[random() % hw::kBuffers].width += 7;
        break;
      default: {
        hw::BufferConfig& b = better.buffers[random() % hw::kBuffers];
        b.kib += b.slots * static_cast<int64_t>(1 + random() % 8);
      }
    }
    ++compared;
    EXPECT_LE(best(op, better), base);
  }
  EXPECT_GT(compared, 80);
}

TEST(Mapper, SaysWhatDoesNotFit) {
  hw::HwConfig hw = test::small_machine();
  hw.buffers[static_cast<size_t>(hw::Buffer::activation)] = {1, 1, 16};
  // One output pixel of one channel needs 41 x 41 bytes of the 1024.
  GemmOp op =
      test::convolution({.channels = 8, .size = 300, .outputs = 8, .kernel = 41, .pad = 20});
  Mapper mapper(hw, {});
  const auto mapping = mapper.map(request(op), "conv1");
  ASSERT_FALSE(mapping.ok());
  EXPECT_EQ(mapping.errors().front().code, Errc::capacity);
  EXPECT_NE(mapping.errors().front().text().find("layer 'conv1'"), std::string::npos);
}

/// A product of many scales: one pixel of one output needs a row of sums for each, and its
/// parameters. Where these fit exactly a mapping is found, with one scale more the error says which
/// field and which buffer.
class Scales : public testing::Test {
 protected:
  Scales() {
    hw_.types.weight = DType::int4;
    hw_.types.weight_group = 1;
  }
  Result<std::shared_ptr<const Mapping>> map(int64_t channels) {
    Mapper mapper(hw_, {});
    return mapper.map(request(test::product(3, channels, 5)), "fc");
  }
  void expect_refused(int64_t channels, const std::vector<std::string>& parts) {
    const auto refused = map(channels);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.errors().front().code, Errc::capacity);
    const std::string text = refused.errors().front().text();
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  hw::BufferConfig& buffer(hw::Buffer b) { return hw_.buffers[static_cast<size_t>(b)]; }

  hw::HwConfig hw_ = test::small_machine(8, 8);
};

TEST_F(Scales, FillTheAccumulatorOrAreRefusedByName) {
  buffer(hw::Buffer::accumulator) = {2, 2, 0};  // 32 rows of 8 x 4 bytes a slot
  for (const hw::Dataflow d : kAllDataflows) {
    hw_.array.dataflows = {d};
    EXPECT_TRUE(map(32).ok());
    expect_refused(33, {"layer 'fc'", "types.weight_group of 'test' is 1", "33 groups",
                        "an accumulator slot has 32", "weight_group of 2 or more",
                        "3 KiB of the accumulator buffer (now 2 in 2 slots)"});
  }
  buffer(hw::Buffer::accumulator).kib = 3;
  EXPECT_FALSE(map(49).ok());
  EXPECT_TRUE(map(33).ok());
  hw_.types.weight_group = 2;
  EXPECT_TRUE(map(96).ok());
  expect_refused(97, {"49 groups", "has 48", "weight_group of 3 or more"});
}

TEST_F(Scales, FillTheParametersOrAreRefusedByName) {
  buffer(hw::Buffer::parameter) = {1, 8, 16};  // 128 bytes: 12 + 2 x 58
  buffer(hw::Buffer::accumulator).kib = 64;
  EXPECT_TRUE(map(59).ok());
  expect_refused(60, {"types.weight_group of 'test' is 1", "60 groups", "130 bytes",
                      "a parameter slot has 128", "weight_group of 2 or more",
                      "2 KiB of the parameter buffer (now 1 in 8 slots)"});
}

TEST_F(Scales, AreAtMostWhatAPostPutsTogether) {
  hw_ = test::small_machine(1, 1);
  hw_.types.weight = DType::int4;
  hw_.types.weight_group = 1;
  buffer(hw::Buffer::accumulator).kib = 1024;
  buffer(hw::Buffer::parameter).kib = 1024;
  expect_refused(hw::PostCommand::kMostGroups + 1,
                 {"32769 groups", "a post puts 32768 together", "weight_group of 2 or more"});
}

TEST_F(Scales, SayWhenAGroupIsLargerThanASlot) {
  hw_.types.weight_group = 100;
  buffer(hw::Buffer::activation) = {1, 2, 16};
  GemmOp op = test::convolution({.channels = 200, .size = 4, .outputs = 4, .kernel = 3, .pad = 1});
  Mapper mapper(hw_, {});
  const auto refused = mapper.map(request(op), "conv");
  ASSERT_FALSE(refused.ok());
  const std::string text = refused.errors().front().text();
  for (const char* part : {"types.weight_group of 'test' is 100", "never cut", "900 bytes",
                           "activation buffer, whose slot has 512", "2 KiB"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// A product of two computed tensors has one scale. Parameters are loaded once, those of a block of
/// columns, as a post asks for so many. Input stationary has a tile's outputs as rows.
TEST(ComputedWeights, HaveTheParametersOfOnePost) {
  hw::HwConfig hw = test::small_machine(16, 16);
  const int64_t keys = 400, size = 32;
  const GemmOp op = test::product(1, size, keys);
  for (const hw::Dataflow dataflow :
       {hw::Dataflow::weight_stationary, hw::Dataflow::output_stationary,
        hw::Dataflow::input_stationary}) {
    MapOptions options;
    options.dataflows = {dataflow};
    const auto loaded = [&](bool constant) {
      const auto found = Mapper(hw, options).choose_mapping(request(op, constant), "product");
      EXPECT_TRUE(found.ok());
      return found->counts.read[hw::MemoryId::dram].count() - size - keys * size;
    };
    const bool rows = dataflow == hw::Dataflow::input_stationary;
    EXPECT_EQ(loaded(true), keys * hw.parameter_bytes());
    EXPECT_EQ(loaded(false), (rows ? keys : hw.array.cols) * hw.parameter_bytes());
  }
}

}  // namespace
}  // namespace accsim::sim
