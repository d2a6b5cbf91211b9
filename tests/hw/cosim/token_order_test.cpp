#include "hw/cosim/token_order.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "hw/random/random_program.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::sync;

HwConfig machine(int64_t slots) {
  HwConfig hw = test::small_machine();
  for (BufferConfig& b : hw.buffers) b.slots = slots;
  return hw;
}

Item wait_free(Queue q, Buffer b) { return sync(SyncKind::wait_free, q, b); }
Item signal_full(Queue q, Buffer b) { return sync(SyncKind::signal_full, q, b); }
Item wait_full(Queue q, Buffer b) { return sync(SyncKind::wait_full, q, b); }
Item signal_free(Queue q, Buffer b) { return sync(SyncKind::signal_free, q, b); }

/// A slot that goes from one queue to another and back.
std::vector<Item> round(Queue from, Queue to, Buffer b) {
  return {wait_free(from, b), signal_full(from, b), wait_full(to, b), signal_free(to, b)};
}

std::vector<Item> joined(std::vector<std::vector<Item>> parts) {
  std::vector<Item> out;
  for (auto& part : parts) test::append(out, std::move(part));
  return out;
}

TEST(TokenOrder, HasABufferOfTwoQueuesTheirNumbers) {
  constexpr Buffer b = Buffer::activation;
  constexpr Queue e = Queue::execute, v = Queue::vector;
  // Tiles for execute, vector, vector, three times over; two slots.
  Loop loop{0, "t", 3,
            joined({round(Queue::load, e, b), round(Queue::load, v, b), round(Queue::load, v, b)})};
  const Program p = test::program({{loop}}, 1);
  const TokenOrder order(p, machine(2));
  for (int64_t t = 0; t < 3; ++t) {
    for (const SyncKind kind : {SyncKind::wait_full, SyncKind::signal_free}) {
      EXPECT_EQ(order.queue_of_op(kind, b, 3 * t), e);
      EXPECT_EQ(order.queue_of_op(kind, b, 3 * t + 1), v);
      EXPECT_EQ(order.queue_of_op(kind, b, 3 * t + 2), v);
      EXPECT_EQ(order.ordinal_of_op(kind, b, e, t), 3 * t);
      EXPECT_EQ(order.ordinal_of_op(kind, b, v, 2 * t), 3 * t + 1);
      EXPECT_EQ(order.ordinal_of_op(kind, b, v, 2 * t + 1), 3 * t + 2);
    }
    EXPECT_EQ(order.slot_of_wait(SyncKind::wait_full, b, e, t), 3 * t % 2);
    EXPECT_EQ(order.slot_of_wait(SyncKind::wait_full, b, v, 2 * t), (3 * t + 1) % 2);
    EXPECT_EQ(order.slot_of_wait(SyncKind::wait_full, b, v, 2 * t + 1), (3 * t + 2) % 2);
  }
  EXPECT_EQ(order.queue_of_op(SyncKind::wait_full, b, 9), std::nullopt);
  // One queue alone fills them.
  EXPECT_EQ(order.queue_of_op(SyncKind::signal_full, b, 8), Queue::load);
  EXPECT_EQ(order.ordinal_of_op(SyncKind::wait_free, b, Queue::load, 7), 7);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::load, 7), 1);
}

TEST(TokenOrder, KnowsTheSlotsThatABufferBeginsWith) {
  HwConfig hw = machine(3);
  hw.buffers[static_cast<size_t>(Buffer::output)].slots = 1;
  const Program p = test::program({});
  const TokenOrder order(p, hw);
  EXPECT_EQ(order.slot_count(Buffer::weight), 3);
  EXPECT_TRUE(order.is_initial(Buffer::weight, 2));
  EXPECT_FALSE(order.is_initial(Buffer::weight, 3));
  EXPECT_TRUE(order.is_initial(Buffer::output, 0));
  EXPECT_FALSE(order.is_initial(Buffer::output, 1));
}

TEST(TokenOrder, IsNobodyThereWhereNobodyUsesIt) {
  const Program p = test::program(round(Queue::load, Queue::post, Buffer::parameter));
  const TokenOrder order(p, machine(2));
  EXPECT_EQ(order.queue_of_op(SyncKind::wait_full, Buffer::parameter, 0), Queue::post);
  EXPECT_EQ(order.queue_of_op(SyncKind::wait_full, Buffer::output, 0), std::nullopt);
  EXPECT_EQ(order.queue_of_op(SyncKind::signal_free, Buffer::activation, 0), std::nullopt);
}

TEST(TokenOrder, AreOutputsFilledByThreeQueues) {
  constexpr Buffer b = Buffer::output;
  const Program p = test::program(
      joined({round(Queue::post, Queue::store, b), round(Queue::load, Queue::store, b),
              round(Queue::vector, Queue::store, b), round(Queue::load, Queue::store, b)}));
  const TokenOrder order(p, machine(3));
  const std::array fillers = {Queue::post, Queue::load, Queue::vector, Queue::load};
  for (int64_t n = 0; n < 4; ++n)
    for (const SyncKind kind : {SyncKind::wait_free, SyncKind::signal_full})
      EXPECT_EQ(order.queue_of_op(kind, b, n), fillers[static_cast<size_t>(n)]);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::load, 1), 3 % 3);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::vector, 0), 2);
  EXPECT_EQ(order.ordinal_of_op(SyncKind::signal_full, b, Queue::load, 1), 3);
  EXPECT_EQ(order.queue_of_op(SyncKind::signal_free, b, 3), Queue::store);
}

TEST(TokenOrder, HasAPrimedSlotThePlaceOfItsClaim) {
  constexpr Buffer b = Buffer::output;
  const auto prime = [] {
    return std::vector<Item>{wait_free(Queue::load, b),
                             sync(SyncKind::signal_primed, Queue::load, b)};
  };
  const auto add = [] {
    return std::vector<Item>{sync(SyncKind::wait_primed, Queue::post, b),
                             signal_full(Queue::post, b), wait_full(Queue::store, b),
                             signal_free(Queue::store, b)};
  };
  // Claims: 0 a copy, 1 and 2 primed, 3 of the vector queue, 4 primed, 5 of the post queue.
  const Program p = test::program(joined({round(Queue::load, Queue::store, b), prime(), prime(),
                                          add(), add(), round(Queue::vector, Queue::store, b),
                                          prime(), add(), round(Queue::post, Queue::store, b)}));
  const HwConfig hw = machine(3);
  const TokenOrder order(p, hw);
  for (const auto& [n, slot] : {std::pair{0, 1}, std::pair{1, 2}, std::pair{2, 4 % 3}})
    EXPECT_EQ(order.slot_of_wait(SyncKind::wait_primed, b, Queue::post, n), slot) << n;
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::vector, 0), 3 % 3);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::load, 3), 4 % 3);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_free, b, Queue::post, 0), 5 % 3);
  EXPECT_EQ(order.queue_of_op(SyncKind::wait_free, b, 2), Queue::load);
  EXPECT_EQ(order.queue_of_op(SyncKind::signal_full, b, 1), Queue::post);
  EXPECT_EQ(order.ordinal_of_op(SyncKind::signal_full, b, Queue::post, 2), 4);
  EXPECT_EQ(order.slot_of_wait(SyncKind::wait_full, b, Queue::store, 4), 4 % 3);
}

// ---- against slots that go from hand to hand ----------------------------------------------------

/// Tokens as things: each is a slot with the queue that gave it, handed on in the text's order.
class Hands {
 public:
  Hands(const Program& p, const HwConfig& hw) : order_(p, hw) {
    for (size_t b = 0; b < kBuffers; ++b)
      for (int64_t s = 0; s < hw.buffers[b].slots; ++s)
        buffers_[b].waiting[Kind::free].push_back({s, std::nullopt});
    walk(p.body);
  }
  int64_t seen = 0, shared = 0;  ///< operations; tokens of queues that share a side

 private:
  enum class Kind { free, full, primed };
  struct Given {
    int64_t slot;
    std::optional<Queue> by;
  };
  struct OfBuffer {
    std::map<Kind, std::deque<Given>> waiting;
    int64_t filling = 0, held = 0;  ///< slots in use
  };

  static Kind kind(SyncKind k) {
    if (k == SyncKind::wait_free || k == SyncKind::signal_free) return Kind::free;
    return k == SyncKind::wait_full || k == SyncKind::signal_full ? Kind::full : Kind::primed;
  }

  void walk(const std::vector<Item>& body) {
    for (const Item& item : body) {
      if (const auto* loop = std::get_if<Loop>(&item.node))
        for (int64_t i = 0; i < loop->count; ++i) walk(loop->body);
      if (const auto* s = std::get_if<Sync>(&item.node); s && s->region < 0) note(*s);
      if (testing::Test::HasFailure()) return;
    }
  }

  void note(const Sync& s) {
    OfBuffer& b = buffers_[static_cast<size_t>(s.buffer)];
    const int64_t n = all_[{s.kind, s.buffer}]++, mine = own_[{s.kind, s.buffer, s.queue}]++;
    ++seen;
    ASSERT_EQ(order_.queue_of_op(s.kind, s.buffer, n), s.queue);
    shared += n != mine ? 1 : 0;
    int64_t& used =
        s.kind == SyncKind::wait_full || s.kind == SyncKind::signal_free ? b.held : b.filling;
    const bool primed = kind(s.kind) == Kind::primed;
    if (!primed) {
      ASSERT_EQ(order_.ordinal_of_op(s.kind, s.buffer, s.queue, mine), n);
    }
    if (!is_wait(s.kind)) {
      b.waiting[kind(s.kind)].push_back({used, s.queue});
      return;
    }
    ASSERT_FALSE(b.waiting[kind(s.kind)].empty());
    const Given token = b.waiting[kind(s.kind)].front();
    b.waiting[kind(s.kind)].pop_front();
    used = token.slot;
    ASSERT_EQ(order_.slot_of_wait(s.kind, s.buffer, s.queue, mine), token.slot);
    if (s.kind == SyncKind::wait_free) {
      ASSERT_EQ(order_.is_initial(s.buffer, n), !token.by);
      if (token.by) {
        ASSERT_EQ(
            order_.queue_of_op(SyncKind::signal_free, s.buffer, n - order_.slot_count(s.buffer)),
            token.by);
      }
    } else if (s.kind == SyncKind::wait_full) {
      ASSERT_EQ(order_.queue_of_op(SyncKind::signal_full, s.buffer, n), token.by);
    }
  }

  TokenOrder order_;
  std::array<OfBuffer, kBuffers> buffers_;
  std::map<std::pair<SyncKind, Buffer>, int64_t> all_;
  std::map<std::tuple<SyncKind, Buffer, Queue>, int64_t> own_;
};

TEST(TokenOrder, IsItTheOrderOfSlotsThatGoFromHandToHand) {
  std::mt19937 random(12);
  int64_t seen = 0, shared = 0;
  for (int programs = 0; programs < 300;) {
    const HwConfig hw = test::random_machine(random);
    const Program p = test::random_program(random);
    if (!verify(p, hw).ok() || count_program(p, hw).commands > 5000) continue;
    ++programs;
    const Hands hands(p, hw);
    ASSERT_FALSE(HasFailure()) << program_text(p);
    seen += hands.seen;
    shared += hands.shared;
  }
  for (int64_t slots = 1; slots < 4; ++slots)
    for (int i = 0; i < 100; ++i) {
      const HwConfig hw = machine(slots);
      const auto drawn = random_program(hw, Dataflow::weight_stationary, random);
      ASSERT_TRUE(drawn);
      const Hands hands(drawn->program, hw);
      ASSERT_FALSE(HasFailure()) << program_text(drawn->program);
      seen += hands.seen;
      shared += hands.shared;
    }
  EXPECT_GT(seen, 10000);
  EXPECT_GT(shared, 1000);
}

}  // namespace
}  // namespace accsim::hw
