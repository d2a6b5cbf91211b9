#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/tiny_program.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::as_index;
using test::TinyProgram;

// What the definition below computes with holds a product of two int32 exactly.
static_assert(std::numeric_limits<long double>::digits >= 64);

/// A tiny program whose post has a table, a residual or both.
struct PostProgram {
  TinyProgram tiny;
  std::vector<int> a, w;
  struct Channel {
    int32_t bias = 0, multiplier = 1, shift = 0;
  };
  std::vector<Channel> channels;
  std::vector<int> table, residual;  ///< empty: not loaded; residual: of the output slot
  bool primed = true;                ///< else the post claims a free slot

  explicit PostProgram(const TinyProgram& t)
      : tiny(t), a(as_index(t.m), 1), w(as_index(t.n), 0), channels(as_index(t.n)) {
    set_pitch(t.n);
  }
  void set_pitch(int64_t pitch) {
    tiny.post.pitch = pitch;
    tiny.store.walk.run = out_bytes();
  }
  int64_t out_bytes() const { return (tiny.m - 1) * tiny.post.pitch + tiny.n; }

  Program program() const {
    Program p = tiny.program();
    p.tensors[2].bytes = out_bytes();
    p.tensors.push_back({"table", MemoryId::dram, std::ssize(table)});
    p.tensors.push_back({"residual", MemoryId::shared, std::ssize(residual)});
    std::vector<Item> body;
    if (!residual.empty() && primed) {
      const LoadCommand load{Buffer::output, 5, 0, 0, {{}, std::ssize(residual)}, std::nullopt};
      body = TinyProgram::filled(load);
      std::get<Sync>(body[2].node).kind = SyncKind::signal_primed;
    }
    for (Item& item : p.body) {
      if (auto* s = std::get_if<Sync>(&item.node);
          s && !residual.empty() && primed &&
          *s == Sync{SyncKind::wait_free, Queue::post, Buffer::output})
        s->kind = SyncKind::wait_primed;
      const auto* command = std::get_if<Command>(&item.node);
      if (command && !table.empty() && std::holds_alternative<PostCommand>(*command))
        body.push_back({Command{SetTableCommand{Queue::post, Affine(12 * tiny.n)}}});
      body.push_back(item);
      const auto* load = command ? std::get_if<LoadCommand>(command) : nullptr;
      if (load && load->buffer == Buffer::parameter && !table.empty())
        body.push_back({Command{
            LoadCommand{Buffer::parameter, 4, 0, Affine(12 * tiny.n), {{}, 256}, std::nullopt}}});
    }
    p.body = std::move(body);
    return p;
  }

  MemoryImage image() const {
    MemoryImage out = tiny.image(a, w);
    out[2].resize(as_index(out_bytes()));
    for (size_t c = 0; c < channels.size(); ++c)
      TinyProgram::parameter(out, static_cast<int64_t>(c), channels[c].bias, channels[c].multiplier,
                             channels[c].shift);
    for (const std::vector<int>* bytes : {&table, &residual}) {
      out.emplace_back();
      for (const int v : *bytes) out.back().push_back(static_cast<uint8_t>(v));
    }
    return out;
  }

  std::vector<int> outputs() const {
    MemoryImage memory = image();
    const Status s = run_golden(program(), test::small_machine(), memory);
    EXPECT_TRUE(s.ok()) << s.errors().front().text();
    return test::signed_values(memory[2]);
  }
};

// ---- the definition, section "Values" of rtl/README.md ------------------------------------------

long double clip(long double y, int32_t low, int32_t high) {
  return y < low ? low : y > high ? high : y;
}

int64_t wrapped(int64_t sum) {
  constexpr int64_t kRange = int64_t{1} << 32;
  const int64_t rest = ((sum + kRange / 2) % kRange + kRange) % kRange;
  return rest - kRange / 2;
}

/// One result of a tiny product with k = 1; r is what the output slot holds.
int define(const PostProgram& p, int64_t pixel, int64_t channel, int r) {
  const PostCommand& c = p.tiny.post;
  const PostProgram::Channel& s = p.channels[as_index(channel)];
  const int64_t sum = wrapped(p.a[as_index(pixel)] * p.w[as_index(channel)] + int64_t{s.bias});
  const long double product = static_cast<long double>(sum) * s.multiplier;
  const int32_t low = c.epilogue.relu ? std::max(c.epilogue.low, c.epilogue.zero) : c.epilogue.low;
  long double v =
      clip(std::round(std::ldexp(product, -s.shift)) + c.epilogue.zero, low, c.epilogue.high);
  if (c.epilogue.table) v = p.table[as_index(static_cast<int64_t>(v) + 128)];
  if (!c.epilogue.residual) return static_cast<int>(v);
  const Residual& o = *c.epilogue.residual;
  const long double scaled = static_cast<long double>(r - o.zero) * o.multiplier;
  return static_cast<int>(clip(v + std::round(std::ldexp(scaled, -o.shift)), o.low, o.high));
}

/// Where golden says something else, and where a post writes what it shouldn't.
std::string difference(const PostProgram& p) {
  if (const Status s = verify(p.program(), test::small_machine()); !s)
    return s.errors().front().text();
  const std::vector<int> y = p.outputs();
  for (int64_t pixel = 0; pixel < p.tiny.m; ++pixel)
    for (int64_t i = 0; i < (pixel + 1 == p.tiny.m ? p.tiny.n : p.tiny.post.pitch); ++i) {
      const int64_t at = pixel * p.tiny.post.pitch + i;
      const int held = p.residual.empty() ? 0 : p.residual[as_index(at)];
      if (i >= p.tiny.n && p.residual.empty()) continue;
      const int expected = i < p.tiny.n ? define(p, pixel, i, held) : held;
      if (y[as_index(at)] != expected)
        return "pixel " + std::to_string(pixel) + " channel " + std::to_string(i) + " is " +
               std::to_string(y[as_index(at)]) + ", should be " + std::to_string(expected) + "\n" +
               program_text(p.program());
    }
  return "";
}

// ---- random posts -------------------------------------------------------------------------------

class RandomPosts : public test::Draws {
 public:
  using Draws::Draws;

  PostProgram draw() {
    const bool turned = one_in(2);
    PostProgram p(TinyProgram(pick(1, 8), 1, pick(1, 8),
                              turned ? Dataflow::input_stationary : Dataflow::weight_stationary));
    if (one_in(2)) p.set_pitch(p.tiny.n + pick(0, 6));
    PostCommand& c = p.tiny.post;
    p.a = bytes(p.tiny.m);
    p.w = bytes(p.tiny.n);
    c.epilogue.table = one_in(2);
    if (c.epilogue.table || one_in(4)) p.table = bytes(256);
    if (one_in(2)) {
      c.epilogue.residual = residual();
      p.residual = bytes(p.out_bytes());
    }
    const bool wide = c.epilogue.residual && !c.epilogue.table;
    for (PostProgram::Channel& s : p.channels) s = channel(wide);
    c.epilogue.zero = number(-128, 127);
    const int32_t most = wide ? 32767 : 127;
    c.epilogue.low = -most - 1;
    c.epilogue.high = most;
    if (one_in(3)) {
      c.epilogue.low = number(-most - 1, most);
      c.epilogue.high = static_cast<int32_t>(pick(c.epilogue.low, most));
    }
    c.epilogue.relu = one_in(4) && c.epilogue.zero <= c.epilogue.high;
    return p;
  }

 private:
  /// Scales that spread the sums over the limits, now and then any.
  PostProgram::Channel channel(bool wide) {
    constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (one_in(4)) return {number(kMin, kMax), number(kMin, kMax), number(0, 62)};
    return {static_cast<int32_t>(pick(-9000, 9000)),
            static_cast<int32_t>(pick(1 << 28, 1 << 30) * (one_in(4) ? -1 : 1)),
            static_cast<int32_t>(pick(34, 37) - (wide ? 6 : 0))};
  }

  Residual residual() {
    Residual r;
    r.zero = number(-128, 127);
    r.multiplier = number(-32768, 32767);
    r.shift = one_in(4) ? number(0, 31) : static_cast<int32_t>(pick(12, 17));
    if (one_in(3)) {
      r.low = number(-128, 127);
      r.high = static_cast<int32_t>(pick(r.low, 127));
    }
    return r;
  }
};

TEST(Posts, AreRandomTablesAndResidualsWhatTheContractSays) {
  RandomPosts random(7);
  for (int n = 0; n < 4000; ++n) ASSERT_EQ(difference(random.draw()), "") << n;
}

// ---- extremes -----------------------------------------------------------------------------------

/// 8 x 8 zero sums whose residuals are the int8 from `first` on.
PostProgram residuals_from(int first) {
  PostProgram p(TinyProgram(8, 1, 8));
  for (int i = 0; i < 64; ++i) p.residual.push_back(first + i);
  p.tiny.post.epilogue.residual.emplace();
  return p;
}

TEST(Residuals, DoHalvesGoAwayFromZeroOnBothSides) {
  for (int shift = 0; shift <= 9; ++shift)
    for (const int sign : {1, -1})
      for (int first = -128; first < 128; first += 64) {
        PostProgram p = residuals_from(first);
        p.tiny.post.epilogue.residual->multiplier = sign;
        p.tiny.post.epilogue.residual->shift = shift;
        const std::vector<int> y = p.outputs();
        for (int i = 0; i < 64; ++i) {
          const int s = sign * (first + i), step = 1 << shift, whole = std::abs(s) / step;
          const int magnitude = whole + (2 * (std::abs(s) % step) >= step ? 1 : 0);
          ASSERT_EQ(y[as_index(i)], std::min(s < 0 ? -magnitude : magnitude, 127))
              << first + i << " / 2^" << shift;
        }
      }
}

TEST(Residuals, AreScaledWithoutLossAndClippedOnce) {
  // What the post makes has 16 bits, what is added more than 8: only their sum is clipped.
  struct Case {
    int32_t bias, r, zero, multiplier, shift, expected;
  };
  for (const Case& c : {Case{32767, -128, 127, 128, 0, 32767 - 255 * 128},
                        Case{100000, -128, 127, 128, 0, 32767 - 255 * 128},
                        Case{-32768, 127, -128, 128, 0, -32768 + 255 * 128},
                        Case{-100000, 127, -128, 128, 0, -32768 + 255 * 128},
                        Case{0, 127, -128, 32767, 0, 127}, Case{0, 127, -128, -32768, 0, -128},
                        Case{5, -128, 127, -32768, 31, 5}, Case{5, 0, -128, 32767, 22, 6},
                        Case{5, 0, -128, 32767, 23, 5}, Case{5, 0, -128, -32768, 23, 4}}) {
    PostProgram p(TinyProgram(1, 1, 1));
    p.channels[0].bias = c.bias;
    p.residual = {c.r};
    p.tiny.post.epilogue.low = -32768;
    p.tiny.post.epilogue.high = 32767;
    p.tiny.post.epilogue.residual = Residual{c.zero, c.multiplier, c.shift, -128, 127};
    EXPECT_EQ(p.outputs(), std::vector<int>{c.expected}) << c.bias << " " << c.r << " " << c.shift;
    EXPECT_EQ(difference(p), "");
  }
}

TEST(Residuals, AreAllLimitsKept) {
  for (int low = -128; low < 128; ++low)
    for (const int high : {low, (low + 127) / 2, 127})
      for (const int first : {-128, 64}) {
        PostProgram p = residuals_from(first);
        p.tiny.post.epilogue.residual->low = low;
        p.tiny.post.epilogue.residual->high = std::max(low, high);
        const std::vector<int> y = p.outputs();
        for (int i = 0; i < 64; ++i)
          ASSERT_EQ(y[as_index(i)], std::max(low, std::min(std::max(low, high), first + i)));
      }
}

/// Two slots are primed before either is taken, and one is claimed as usual behind them.
TEST(Residuals, DoPrimedSlotsRunAhead) {
  PostProgram tile = residuals_from(-100);
  const Program once = tile.program();
  Program p = once;
  p.tensors[2].bytes = 3 * 64;
  p.tensors[5].bytes = 2 * 64;
  p.body.clear();
  for (int64_t i = 0; i < 2; ++i)
    for (Item item : std::vector<Item>(once.body.begin(), once.body.begin() + 3)) {
      if (auto* c = std::get_if<Command>(&item.node)) std::get<LoadCommand>(*c).source = 64 * i;
      p.body.push_back(std::move(item));
    }
  for (int64_t i = 0; i < 3; ++i)
    for (Item item : std::vector<Item>(once.body.begin() + 3, once.body.end())) {
      auto* command = std::get_if<Command>(&item.node);
      auto* sync = std::get_if<Sync>(&item.node);
      if (auto* c = command ? std::get_if<StoreCommand>(command) : nullptr) c->target = 64 * i;
      if (auto* c = command ? std::get_if<PostCommand>(command) : nullptr; c && i == 2)
        c->epilogue.residual.reset();
      if (sync && sync->kind == SyncKind::wait_primed && i == 2) sync->kind = SyncKind::wait_free;
      p.body.push_back(std::move(item));
    }
  MemoryImage image = tile.image();
  image[2].resize(3 * 64);
  for (int i = 0; i < 64; ++i) image[5].push_back(static_cast<uint8_t>(50 - i));
  const Status verified = verify(p, test::small_machine());
  ASSERT_TRUE(verified.ok()) << verified.errors().front().text();
  const Status s = run_golden(p, test::small_machine(), image);
  ASSERT_TRUE(s.ok()) << s.errors().front().text();
  std::vector<int> expected = tile.residual;
  for (int i = 0; i < 64; ++i) expected.push_back(50 - i);
  expected.resize(3 * 64);
  EXPECT_EQ(test::signed_values(image[2]), expected);
}

// ---- what must not be got away with -------------------------------------------------------------

TEST(BadPosts, IsATableThatWasNeverSetGarbage) {
  PostProgram p(TinyProgram(8, 1, 8));
  for (int i = 0; i < 64; ++i) p.a[as_index(i / 8)] = i / 8, p.w[as_index(i % 8)] = 8;
  const std::vector<int> identity = p.outputs();
  p.tiny.post.epilogue.table = true;
  EXPECT_NE(p.outputs(), identity);
  EXPECT_NE(p.outputs(), std::vector<int>(64, 0));
  for (int v = -128; v < 128; ++v) p.table.push_back(v);
  EXPECT_EQ(p.outputs(), identity);
  Program other = p.program();  // the vector unit's table is another one
  for (Item& item : other.body)
    if (auto* c = std::get_if<Command>(&item.node);
        c && std::holds_alternative<SetTableCommand>(*c))
      std::get<SetTableCommand>(*c).unit = Queue::vector;
  MemoryImage image = p.image();
  ASSERT_TRUE(run_golden(other, test::small_machine(), image).ok());
  EXPECT_NE(test::signed_values(image[2]), identity);
}

TEST(BadPosts, IsASlotThatWasNotPrimedGarbage) {
  PostProgram p = residuals_from(-20);
  EXPECT_EQ(p.outputs(), p.residual);
  p.primed = false;
  EXPECT_NE(p.outputs(), p.residual);
  EXPECT_NE(p.outputs(), std::vector<int>(64, 0));
}

TEST(BadPosts, AreTokensOfPrimedSlotsThatCannotComeErrors) {
  const PostProgram good = residuals_from(0);
  const HwConfig hw = test::small_machine();
  const auto refused = [&](const Program& p) {
    MemoryImage image = good.image();
    const Status s = run_golden(p, hw, image);
    return !s.ok() && s.errors().front().code == Errc::invalid;
  };
  EXPECT_FALSE(refused(good.program()));
  Program full = good.program();  // a full slot isn't primed
  std::get<Sync>(full.body[2].node).kind = SyncKind::signal_full;
  EXPECT_TRUE(refused(full));
  Program none = good.program();
  none.body.erase(none.body.begin(), none.body.begin() + 3);
  EXPECT_TRUE(refused(none));
  Program stored = good.program();  // a slot behind the primed one would be full before it
  const auto prefix = TinyProgram::filled({Buffer::output, 5, 0, 0, {{}, 1}, std::nullopt});
  stored.body.insert(stored.body.begin() + 3, prefix.begin(), prefix.end());
  EXPECT_TRUE(refused(stored));
}

TEST(BadPosts, IsWhatTheVerifierRefusesAnError) {
  const HwConfig hw = test::small_machine();
  using Bend = void (*)(PostCommand&);
  const std::vector<std::pair<bool, Bend>> bends = {
      {true, [](PostCommand&) {}},
      {true, [](PostCommand& c) { c.epilogue.low = -32768, c.epilogue.high = 32767; }},
      {false, [](PostCommand& c) { c.epilogue.low = -32769; }},
      {false, [](PostCommand& c) { c.epilogue.high = 32768; }},
      {false, [](PostCommand& c) { c.epilogue.low = 5, c.epilogue.high = 4; }},
      {false, [](PostCommand& c) { c.epilogue.relu = true, c.epilogue.zero = 128; }},
      {false, [](PostCommand& c) { c.epilogue.table = true, c.epilogue.high = 128; }},
      {false, [](PostCommand& c) { c.epilogue.table = true, c.epilogue.low = -129; }},
      {true, [](PostCommand& c) { c.epilogue.residual->shift = 31; }},
      {false, [](PostCommand& c) { c.epilogue.residual->shift = 32; }},
      {false, [](PostCommand& c) { c.epilogue.residual->shift = -1; }},
      {false, [](PostCommand& c) { c.epilogue.residual->low = -129; }},
      {false, [](PostCommand& c) { c.epilogue.residual->high = 128; }},
      {false, [](PostCommand& c) { c.epilogue.residual->low = 9, c.epilogue.residual->high = 8; }},
  };
  for (size_t i = 0; i < bends.size(); ++i) {
    PostProgram p = residuals_from(0);
    bends[i].second(p.tiny.post);
    EXPECT_EQ(verify(p.program(), hw).ok(), bends[i].first) << i;
    MemoryImage image = p.image();
    const Status s = run_golden(p.program(), hw, image);
    ASSERT_EQ(s.ok(), bends[i].first) << i;
    if (!s) {
      EXPECT_EQ(s.errors().front().code, Errc::invalid) << i;
    }
  }
}

}  // namespace
}  // namespace accsim::hw
