#include "hw/program/place_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/random/draw.h"
#include "tests/hw/program/refused.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

constexpr int kSource = 0, kTarget = 1, kFirst = 3;

/// Copies from tensor to tensor through output slots, in so many tiles, each behind what it reads;
/// `more` tensors of these bytes in the shared buffer, kFirst the first of them.
class Copies {
 public:
  explicit Copies(const std::vector<int64_t>& more, int64_t tiles = 2) : tiles_(tiles) {
    program_ = test::program({});
    program_.tensors[2].bytes = 0;
    for (const int64_t bytes : more)
      program_.tensors.push_back(
          {"t" + std::to_string(program_.tensors.size()), MemoryId::shared, bytes});
  }
  Copies& copy(int from, int to) {
    const auto bytes = [this](int t) { return program_.tensors[static_cast<size_t>(t)].bytes; };
    const std::vector<Item> tile = {
        sync(SyncKind::wait_free, Queue::load, Buffer::output),
        test::load(Buffer::output, std::min<int64_t>(bytes(from), 64), from),
        sync(SyncKind::signal_full, Queue::load, Buffer::output),
        sync(SyncKind::wait_full, Queue::store, Buffer::output),
        test::store(std::min<int64_t>(bytes(to), 64), to),
        sync(SyncKind::signal_free, Queue::store, Buffer::output)};
    program_.body.push_back({Mark{true, Queue::load, from}});
    if (tiles_ > 1)
      program_.body.push_back({Loop{program_.loops++, "tile", tiles_, tile}});
    else
      test::append(program_.body, tile);
    program_.body.push_back({Mark{false, Queue::store, to}});
    return *this;
  }
  const Program& program() const { return program_; }
  Program placed(const HwConfig& hw = test::shared_machine()) const {
    Program out = program_;
    const Status s = place_tensors(out, hw);
    EXPECT_TRUE(s.ok()) << (s ? "" : s.errors().front().text());
    return out;
  }

 private:
  const int64_t tiles_;
  Program program_;
};

int64_t address(const Program& p, int tensor) {
  return p.tensors[static_cast<size_t>(tensor)].address;
}

TEST(PlaceTensors, GivesBytesOfWhatIsDoneToWhatComes) {
  const Copies chain =
      std::move(Copies({500, 300, 500}).copy(kSource, 3).copy(3, 4).copy(4, 5).copy(5, kTarget));
  const Program p = chain.placed();
  EXPECT_EQ(address(p, 3), 0);
  EXPECT_EQ(address(p, 4), 500) << "alive beside both";
  EXPECT_EQ(address(p, 5), 0) << "the first one isn't used any more";
  EXPECT_EQ(address(p, kSource), -1);
  EXPECT_EQ(error(p), "");
  // A mark behind the load of the first one, and a wait for it before the store of the last.
  EXPECT_EQ(p.body.size(), chain.program().body.size() + 2);
  EXPECT_NE(program_text(p).find("tensor %4 shared 300 bytes 't4', at 500"), std::string::npos);
}

/// In one tile all of an operand is read before the result is written, even by the text.
TEST(PlaceTensors, MayPutAResultWhereItsOperandWas) {
  const Program p = Copies({500, 300}, 1).copy(kSource, 3).copy(3, 4).copy(4, kTarget).placed();
  EXPECT_EQ(address(p, 3), 0);
  EXPECT_EQ(address(p, 4), 0);
  EXPECT_EQ(error(p), "");
}

TEST(PlaceTensors, LeavesWhatIsReadFirstAlone) {
  const Copies copies = std::move(Copies({100, 200}).copy(3, 4).copy(4, kTarget));
  const Program p = copies.placed();
  EXPECT_EQ(address(p, 3), -1);
  EXPECT_EQ(address(p, 4), 0);
  EXPECT_EQ(error(p), "");
}

TEST(PlaceTensors, SaysWhatDoesNotFit) {
  HwConfig hw = test::shared_machine();
  Program p = Copies({9000, 9000}).copy(kSource, 3).copy(3, 4).program();
  const Status s = place_tensors(p, hw);
  ASSERT_FALSE(s.ok());
  EXPECT_TRUE(
      says(s.errors().front().text(), "9000 bytes of tensors in the shared buffer have no room"));
  EXPECT_TRUE(says(s.errors().front().text(), "there are 16384 bytes"));
  p = Copies({9000, 9000})
          .copy(kSource, 3)
          .copy(3, kTarget)
          .copy(kSource, 4)
          .copy(4, kTarget)
          .placed();
  EXPECT_EQ(error(p), "") << "one after the other they do";
}

/// Of two tensors that get bytes of an earlier one, the one that begins first is the last that the
/// store queue writes: the queue waits before it writes the other one.
TEST(PlaceTensors, WaitsBeforeAQueuesFirstWriteIntoTheBytes) {
  Copies copies({1000, 500, 500}, 1);
  const auto stage = [](int to) {
    return Item{Command{StageCommand{kSource, to, 0, 0, test::walk(64)}}};
  };
  Program p = copies.program();
  test::append(p.body, {stage(3), stage(4), {Mark{false, Queue::stage, 4}}});
  const Program rest = copies.copy(kSource, 5).copy(kSource, 4).program();
  test::append(p.body, {rest.body.begin(), rest.body.end()});
  const auto last = std::ranges::find_if(p.body, [](const Item& item) {
    const auto* c = std::get_if<Command>(&item.node);
    const auto* store = c ? std::get_if<StoreCommand>(c) : nullptr;
    return store && store->tensor == 4;
  });
  p.body.insert(last, {Mark{true, Queue::store, 4}});
  ASSERT_TRUE(place_tensors(p, test::shared_machine()));
  EXPECT_EQ(address(p, 3), 0);
  EXPECT_EQ(address(p, 4), 0);
  EXPECT_EQ(address(p, 5), 500);
  EXPECT_EQ(error(p), "");
}

/// The first and last item of a body that uses a tensor.
std::pair<int, int> life(const Program& p, int tensor) {
  std::pair<int, int> out{-1, -1};
  const auto uses = [&](const auto& self, const Item& item) -> bool {
    if (const auto* loop = std::get_if<Loop>(&item.node))
      return std::ranges::any_of(loop->body, [&](const Item& i) { return self(self, i); });
    const auto* c = std::get_if<Command>(&item.node);
    const auto* load = c ? std::get_if<LoadCommand>(c) : nullptr;
    const auto* store = c ? std::get_if<StoreCommand>(c) : nullptr;
    return (load && load->tensor == tensor) || (store && store->tensor == tensor);
  };
  for (size_t i = 0; i < p.body.size(); ++i) {
    if (!uses(uses, p.body[i])) continue;
    if (out.first < 0) out.first = static_cast<int>(i);
    out.second = static_cast<int>(i);
  }
  return out;
}

TEST(PlaceTensors, RandomChainsAreInOrderAndEveryAddedWaitIsNeeded) {
  int reused = 0, refused = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<int64_t> sizes;
    for (int64_t n = draw_number(random, 3, 9); n > 0; --n)
      sizes.push_back(draw_number(random, 1, 1500));
    Copies copies(sizes, draw_number(random, 1, 2));
    const int end = kFirst + static_cast<int>(sizes.size());
    copies.copy(kSource, kFirst);
    for (int t = kFirst + 1; t < end; ++t)
      copies.copy(static_cast<int>(draw_number(random, std::max(kFirst, t - 3), t - 1)), t);
    copies.copy(end - 1, kTarget);
    const Program p = copies.placed();
    ASSERT_EQ(error(p), "");
    for (int a = kFirst; a < end; ++a)
      for (int b = kFirst; b < a; ++b) {
        const auto [a0, a1] = life(p, a);
        const auto [b0, b1] = life(p, b);
        const bool share = address(p, a) < address(p, b) + sizes[static_cast<size_t>(b - kFirst)] &&
                           address(p, b) < address(p, a) + sizes[static_cast<size_t>(a - kFirst)];
        EXPECT_FALSE(share && a0 <= b1 && b0 <= a1) << a << " and " << b;
        reused += share ? 1 : 0;
      }
    for (size_t i = 0; i < p.body.size(); ++i) {
      const auto* mark = std::get_if<Mark>(&p.body[i].node);
      if (!mark || !mark->waits || mark->queue != Queue::store) continue;
      Program without = p;
      without.body.erase(without.body.begin() + static_cast<ptrdiff_t>(i));
      EXPECT_TRUE(says(error(without), "nor marks order the two"));
      ++refused;
    }
  }
  EXPECT_GT(reused, 100);
  EXPECT_GT(refused, 50);
}

// ---- what the verifier says of addresses --------------------------------------------------------

TEST(Places, MayNotBeOfRegionsOrInDram) {
  Program p = Copies({100}).copy(kSource, 3).program();
  p.tensors[kTarget].address = 0;
  EXPECT_TRUE(says(error(p), "tensor 'out' has an address and is in DRAM"));
  p.tensors[kTarget].address = -1;
  p.tensors.push_back({"ring", MemoryId::shared, 64, 2, 0});
  EXPECT_TRUE(says(error(p), "tensor 'ring' has an address and is a region"));
}

TEST(Places, AreWithinTheBufferBesideWhatHasBytesOfItsOwn) {
  Program p = Copies({100, 200}).copy(kSource, 3).program();
  p.tensors[4].address = -1;
  p.tensors[3].address = 16 * 1024 - 200 - 100;
  EXPECT_EQ(error(p), "");
  ++p.tensors[3].address;
  EXPECT_TRUE(says(error(p), "tensors of 16385 bytes in a shared buffer of 16 KiB"));
}

TEST(Places, AreWrittenFirstAndGoneWhenAnotherIsThere) {
  Program p = Copies({100}).copy(3, kTarget).program();
  EXPECT_EQ(error(p), "");
  p.tensors[3].address = 0;
  EXPECT_TRUE(says(error(p), "'t3', which has an address, is read before it is written"));
  p = Copies({100, 100}).copy(kSource, 3).copy(kSource, 4).copy(3, kTarget).program();
  p.tensors[3].address = 0;
  p.tensors[4].address = 99;
  EXPECT_TRUE(says(error(p), "'t3' is read when 't4' has its bytes"));
  p.tensors[4].address = 100;
  EXPECT_EQ(error(p), "");
}

}  // namespace
}  // namespace accsim::hw
