#include "sim/map/stream/stream_problem.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/timing/timing.h"
#include "sim/map/mapper.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {
namespace {

StreamProblem random_problem(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  StreamProblem p;
  const int64_t elements = pick(1, 5000);
  for (int64_t i = pick(1, 3); i > 0; --i)
    p.inputs.push_back({{"in"}, pick(0, 1) ? elements : pick(1, 50), pick(1, 4), pick(0, 9)});
  p.outputs.push_back({{"out"}, pick(0, 3) == 0 ? pick(1, 9) : elements, pick(1, 4), pick(0, 9)});
  if (pick(0, 2) > 0) p.ops[static_cast<size_t>(pick(0, 6))] = elements * pick(1, 4);
  p.passes = pick(1, 3);
  return p;
}

TEST(Stream, ProgramsAreValidMoveEveryByteAndDoEveryOperation) {
  std::mt19937 random(4);
  int checked = 0;
  for (int i = 0; i < 600; ++i) {
    const hw::HwConfig hw = test::random_machine(random);
    const StreamProblem p = random_problem(random);
    // More chunks than elements, too: then only the last one loads or stores anything.
    const auto chunks = static_cast<int64_t>(1 + random() % (random() % 2 ? 40 : 400));
    const int64_t passes = random() % 2 ? 1 : p.passes;
    if (!fits(p, hw, chunks)) continue;
    const hw::Program program = emit(p, hw, StreamCut{chunks, passes});
    ASSERT_TRUE(verify(program, hw).ok())
        << verify(program, hw).errors().front().text() << program_text(program);
    const hw::Counts c = count_program(program, hw);
    int64_t in = 0, out = 0;
    for (const VectorOperand& o : p.inputs) in += o.bytes();
    for (const VectorOperand& o : p.outputs) out += o.bytes();
    const bool vector = p.is_vector();
    EXPECT_EQ(c.read[hw::MemoryId::dram], Bytes(in * (vector ? passes : 1)))
        << program_text(program);
    EXPECT_EQ(c.written[hw::MemoryId::dram], Bytes(out));
    EXPECT_EQ(c.vector_ops, p.ops);
    const Cycles cycles = hw::simulate(program, hw, hw::TimingMode::step).total;
    EXPECT_EQ(cycles, hw::simulate(program, hw, hw::TimingMode::periodic).total);
    EXPECT_LE(lower_bound(p, hw, {chunks, passes}), cycles.count()) << program_text(program);
    const Cost cost = CostEvaluator(hw).cost(p, StreamCut{chunks, passes});
    EXPECT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
    EXPECT_EQ(cost.counts, c);
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(Stream, OneOperationIsOne) {
  StreamProblem p{.inputs = {{{"in"}, 8}}, .outputs = {{{"out"}, 8}}};
  EXPECT_FALSE(p.is_vector());
  p.ops.back() = 1;
  EXPECT_TRUE(p.is_vector());
}

/// A move stores what it has loaded chunk by chunk; nothing at all is one chunk.
TEST(Stream, MovesHaveNoMoreChunksThanElements) {
  const hw::HwConfig hw = test::small_machine();
  const auto most = [&](int64_t elements) {
    const StreamProblem p{.inputs = {{{"in"}, elements}}, .outputs = {{{"out"}, elements}}};
    int64_t chunks = 0;
    while (fits(p, hw, chunks + 1)) ++chunks;
    return chunks;
  };
  EXPECT_EQ(most(0), 1);
  EXPECT_EQ(most(1), 1);
  EXPECT_EQ(most(7), 7);
}

/// What a program's loads and stores touch, iteration by iteration: by tensor the bytes in the
/// order in which they are moved, and by slot (from one full token to the next) those of the slot.
class Moved {
 public:
  explicit Moved(const hw::Program& p) : tensors(p.tensors.size()), indices_(at(p.loops)) {
    visit(p.body);
  }

  std::vector<std::vector<int64_t>> tensors;
  std::vector<std::vector<int64_t>> loaded, stored;  ///< slots

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  int64_t value(const hw::Affine& a) const {
    int64_t sum = a.base;
    for (const hw::Affine::Term& t : a.terms) sum += t.coeff * indices_[at(t.loop)];
    return sum;
  }

  void walk(int tensor, const hw::Affine& from, const hw::Affine& slot_offset, const hw::Walk& walk,
            std::vector<int64_t>& slot) {
    ASSERT_LE(walk.levels.size(), 1U);
    int64_t place = value(slot_offset);
    for (int64_t run = 0; run < walk.run_count(); ++run)
      for (int64_t i = 0; i < walk.run; ++i, ++place) {
        const int64_t stride = walk.levels.empty() ? 0 : walk.levels[0].stride;
        tensors[at(tensor)].push_back(value(from) + run * stride + i);
        slot.push_back(place);
      }
  }

  void visit(const std::vector<hw::Item>& body) {
    for (const hw::Item& item : body) {
      if (const auto* loop = std::get_if<hw::Loop>(&item.node)) {
        for (int64_t i = 0; i < loop->count; ++i) {
          indices_[at(loop->id)] = i;
          visit(loop->body);
        }
        continue;
      }
      if (const auto* sync = std::get_if<hw::Sync>(&item.node)) {
        if (sync->kind == hw::SyncKind::wait_free && sync->queue == hw::Queue::load)
          loaded.emplace_back();
        if (sync->kind == hw::SyncKind::wait_full && sync->queue == hw::Queue::store)
          stored.emplace_back();
        continue;
      }
      const auto& command = std::get<hw::Command>(item.node);
      if (const auto* c = std::get_if<hw::LoadCommand>(&command))
        walk(c->tensor, c->source, c->slot_offset, c->walk, loaded.back());
      if (const auto* c = std::get_if<hw::StoreCommand>(&command))
        walk(c->tensor, c->target, c->slot_offset, c->walk, stored.back());
    }
  }

  std::vector<int64_t> indices_;
};

/// Byte by byte: the operands in order, once a pass, and slots without gaps.
TEST(Stream, EveryChunkHasItsOwnBytesAndFillsItsSlot) {
  std::mt19937 random(7);
  int checked = 0, chunked = 0, passed = 0;
  for (int i = 0; i < 400; ++i) {
    const hw::HwConfig hw = test::random_machine(random);
    const StreamProblem p = random_problem(random);
    const auto chunks = static_cast<int64_t>(1 + random() % 30);
    const int64_t passes = p.is_vector() && random() % 3 == 0 ? p.passes : 1;
    if (!fits(p, hw, chunks)) continue;
    const hw::Program program = emit(p, hw, StreamCut{chunks, passes});
    Moved moved(program);
    ASSERT_EQ(moved.tensors.size(), p.inputs.size() + p.outputs.size());
    for (size_t t = 0; t < moved.tensors.size(); ++t) {
      const bool in = t < p.inputs.size();
      const VectorOperand& o = in ? p.inputs[t] : p.outputs[t - p.inputs.size()];
      const int64_t times = in ? passes : 1;
      std::vector<int64_t>& bytes = moved.tensors[t];
      // Of several passes each has its chunk again: then order says nothing, only how often.
      if (times > 1) std::sort(bytes.begin(), bytes.end());
      ASSERT_EQ(std::ssize(bytes), o.bytes() * times) << program_text(program);
      for (size_t b = 0; b < bytes.size(); ++b)
        ASSERT_EQ(bytes[b], static_cast<int64_t>(b) / times) << program_text(program);
    }
    for (const auto* slots : {&moved.loaded, &moved.stored})
      for (const std::vector<int64_t>& slot : *slots)
        for (size_t b = 0; b < slot.size(); ++b)
          ASSERT_EQ(slot[b], static_cast<int64_t>(b)) << program_text(program);
    ++checked;
    chunked += moved.stored.size() > 2;
    passed += passes > 1;
  }
  EXPECT_GT(checked, 200);
  EXPECT_GT(chunked, 100);
  EXPECT_GT(passed, 20);
}

/// What a move puts together, or takes apart: shares are rounded one by one, and all the same every
/// slot is stored as it was loaded.
TEST(Stream, MovesStoreWhatTheyHaveLoaded) {
  std::mt19937 random(3);
  int chunked = 0;
  for (int i = 0; i < 300; ++i) {
    const hw::HwConfig hw = test::random_machine(random);
    StreamProblem p;
    int64_t all = 0;
    for (size_t part = 2 + random() % 3; part > 0; --part) {
      const auto elements = static_cast<int64_t>(1 + random() % 5000);
      p.inputs.push_back({{"part"}, elements, 1, 0});
      all += elements;
    }
    p.outputs = {{{"whole"}, all, 1, 0}};
    if (random() % 2 == 0) std::swap(p.inputs, p.outputs);
    const auto chunks = static_cast<int64_t>(1 + random() % 30);
    if (!fits(p, hw, chunks)) continue;
    const hw::Program program = emit(p, hw, StreamCut{chunks, 1});
    const Moved moved(program);
    ASSERT_EQ(moved.loaded.size(), moved.stored.size());
    for (size_t slot = 0; slot < moved.loaded.size(); ++slot)
      ASSERT_EQ(moved.loaded[slot].size(), moved.stored[slot].size()) << program_text(program);
    ASSERT_LE(lower_bound(p, hw, {chunks, 1}), hw::simulate(program, hw).total.count());
    chunked += chunks > 1 ? 1 : 0;
  }
  EXPECT_GT(chunked, 100);
}

TEST(Stream, StridedRunsCostPortBeats) {
  const hw::HwConfig hw = test::small_machine();
  const auto cycles = [&](int64_t run) {
    StreamProblem p;
    p.inputs = {{{"in"}, 1024, 1, run}};
    p.outputs = {{{"out"}, 1024, 1, 0}};
    return hw::simulate(emit(p, hw, StreamCut{1, 1}), hw).queue(hw::Queue::load).busy.count();
  };
  EXPECT_EQ(cycles(0), 256) << "1024 bytes at 4 bytes a cycle";
  EXPECT_EQ(cycles(1), 1024) << "one element a beat";
}

TEST(Stream, RowsThatDoNotFitAreReadOncePerPass) {
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
    return (*m)->counts.read[hw::MemoryId::dram].count();
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
