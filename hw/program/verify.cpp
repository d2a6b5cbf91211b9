#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "hw/program/engines.h"
#include "hw/program/verifier.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

/// Iterations of a nest of loops, at most: they are counted in 64 bits.
constexpr int64_t kMostIterations = int64_t{1} << 62;

}  // namespace

Verifier::Verifier(const Program& program, const HwConfig& hw)
    : program_(program), hw_(hw), dataflow_(program.dataflow), regions_(region_numbers(program)) {
  counts_.assign(static_cast<size_t>(std::max(0, program.loops)), 0);
  uses_.resize(program.tensors.size());
  for (size_t b = 0; b < kBuffers; ++b) slots_[b] = hw.buffers[b].slots;
}

Status Verifier::verify_program() {
  check_tensors();
  free_ = slots_;
  if (errors_.empty()) check_body();
  for (size_t p = 0; p < kPlaces && errors_.empty(); ++p)
    if (free_[p] != slots_[p])
      fail(fmt::format("{} of {} {} slots are free at the end", free_[p], slots_[p], place(p)));
  for (const Queue q : Queue::all())
    if (errors_.empty() && !awaited_[q].empty())
      fail(fmt::format("the {} queue waits for '{}' and does nothing with it", name(q),
                       region_name(*awaited_[q].begin())));
  if (errors_.empty()) return ok();
  return errors_;
}

std::string Verifier::place(size_t p) const {
  if (p < kBuffers) return std::string(name(static_cast<Buffer>(p)));
  const auto at = std::ranges::find(regions_, static_cast<int>(p - kBuffers));
  return fmt::format("region '{}'", region_name(static_cast<int>(at - regions_.begin())));
}

void Verifier::check_tensors() {
  int64_t shared = 0, placed = 0;
  std::map<std::string_view, int64_t> known;  // one that two ports read takes its room once
  const auto regions = std::ranges::count_if(regions_, [](int r) { return r >= 0; });
  if (regions > static_cast<int64_t>(kMostRegions))
    return fail(fmt::format("{} regions; at most {}", regions, kMostRegions));
  for (size_t i = 0; i < regions_.size(); ++i) {
    const ProgramTensor& t = program_.tensors[i];
    if (t.bytes < 0 || t.bytes > kMostTensorBytes)
      return fail(fmt::format("tensor '{}' has {} bytes", t.name, t.bytes));
    if (t.memory == MemoryId::shared && !t.is_placed()) {
      int64_t& bytes = known[t.name];
      shared = add_far(shared, std::max<int64_t>(0, t.bytes - bytes));
      bytes = std::max(bytes, t.bytes);
    }
    if (t.is_placed()) placed = std::max(placed, add_far(t.address, t.bytes));
    if (t.is_placed() && (t.memory != MemoryId::shared || t.slots > 0))
      return fail(fmt::format("tensor '{}' has an address and is {}", t.name,
                              t.slots > 0 ? "a region" : "in DRAM"));
    if (t.given && !t.is_placed())
      return fail(fmt::format("tensor '{}' is given and has no address", t.name));
    if (t.slots < 0 || t.slots > kMostRegionSlots || (t.slots > 0 && t.bytes % t.slots != 0))
      return fail(fmt::format("region '{}' has {} bytes in {} slots", t.name, t.bytes, t.slots));
    if (t.slots > 0) slots_[place_of_region(static_cast<int>(i))] = t.slots;
  }
  shared = add_far(shared, placed);
  check_places();
  if (shared > hw_.memory(MemoryId::shared).bytes)
    fail(fmt::format("tensors of {} bytes in a shared buffer of {} KiB", shared, hw_.shared.kib));
}

void Verifier::fail(std::string message) {
  if (!errors_.empty()) return;  // the first is the cause, the rest mostly follow from it
  std::string where = "program " + program_.name;
  for (const Loop* l : nest_) where += fmt::format(" / {}<{}", l->name, l->count);
  errors_.push_back({Errc::invalid, std::move(message), where + fmt::format(" #{}", at_)});
}

void Verifier::check_body() {
  const auto item = [this](const auto& check_item) {
    ++at_;
    check_item();
    return errors_.empty();
  };
  const auto loop = [&](const Loop& l, const auto& inner) {
    return item([&] { visit_loop(l, inner); });
  };
  const auto sync = [&](const Sync& s) { return item([&] { visit_sync(s); }); };
  const auto mark = [&](const Mark& m) { return item([&] { visit_mark(m); }); };
  const auto head = [&](const LayerHead& h) { return item([&] { begin_layer(h); }); };
  const auto command = [&](const Command& c) {
    return item([&] { std::visit([this](const auto& kind) { this->check_fields(kind); }, c); });
  };
  visit_nest(program_.body, Overloaded{loop, sync, mark, head, command});
}

template <class Inner>
void Verifier::visit_loop(const Loop& loop, const Inner& inner) {
  if (loop.id < 0 || loop.id >= program_.loops || loop.count < 1)
    return fail(fmt::format("loop '{}' has id {} and count {}", loop.name, loop.id, loop.count));
  if (counts_[static_cast<size_t>(loop.id)] != 0)
    return fail(fmt::format("loop id {} is used twice on one path", loop.id));
  if (multiply_far(iterations_, loop.count) > kMostIterations)
    return fail(
        fmt::format("loop '{}' runs {} times, {} times", loop.name, loop.count, iterations_));
  nest_.push_back(&loop);
  iterations_ *= loop.count;
  counts_[static_cast<size_t>(loop.id)] = loop.count;
  inner();
  if (loop.count > 1 && errors_.empty()) {
    const Tokens full = full_, free = free_, held = held_, filled = filling_;
    const int64_t primed = primed_;
    inner();
    if (errors_.empty() && (primed != primed_ || full != full_ || free != free_ || held != held_ ||
                            filled != filling_))
      fail(fmt::format("loop '{}' doesn't keep its tokens balanced", loop.name));
  }
  counts_[static_cast<size_t>(loop.id)] = 0;
  iterations_ /= loop.count;
  nest_.pop_back();
}

/// An array is built for sums that stay, or for operands that do; which one a gemm holds is known
/// when it is waited for and given back.
void Verifier::begin_layer(const LayerHead& head) {
  ++layer_;
  if (!nest_.empty()) return fail(fmt::format("layer '{}' begins in a loop", head.name));
  if (sums_stay(head.dataflow) != sums_stay(program_.dataflow))
    return fail(fmt::format("layer '{}' is {}, the program {}", head.name, name(head.dataflow),
                            name(program_.dataflow)));
  for (const Buffer b : {Buffer::activation, Buffer::weight})
    if (held_[static_cast<size_t>(b)] > 0 && holder_[static_cast<size_t>(b)] == Queue::execute)
      return fail(fmt::format("layer '{}' begins while the execute queue holds a slot of {}",
                              head.name, name(b)));
  dataflow_ = head.dataflow;
}

void Verifier::visit_mark(const Mark& m) {
  const auto says = [&] { return m.waits ? "wait for marks" : "mark"; };
  const ProgramTensor* t = find_tensor(m.tensor);
  if (!t) return;
  if (!engine_of(m.queue).moves)
    return fail(fmt::format("{} of the {} queue", says(), name(m.queue)));
  if (t->slots > 0) return fail(fmt::format("{} on '{}', which is a region", says(), t->name));
  TensorUses& uses = uses_[static_cast<size_t>(m.tensor)];
  const Queue q = m.queue;
  if (m.waits) {
    uses.seen[q] = uses.marked;
    return;
  }
  if (!nest_.empty()) return fail(fmt::format("mark on '{}' in a loop", t->name));
  const std::set<int>& used = used_[q];
  if (used.empty())
    return fail(
        fmt::format("mark on '{}' before any command of the {} queue", t->name, name(m.queue)));
  // The command before the mark is the last to be done, unless its memory is the faster one.
  const auto latency = [this](MemoryId at) { return hw_.memory(at).channel.latency; };
  const ProgramTensor& last = program_.tensors[static_cast<size_t>(*used.begin())];
  if (m.queue == Queue::store && latency(last.memory) < latency(t->memory))
    return fail(fmt::format("mark on '{}' in {}: the command before it may be done earlier in {}",
                            t->name, name(t->memory), name(last.memory)));
  uses.marked[q] = at_;
}

/// The rules of a region's tokens that a buffer's don't have.
void Verifier::region_sync(const Sync& s) {
  const auto i = static_cast<size_t>(s.region);
  if (i >= regions_.size() || regions_[i] < 0)
    return fail(fmt::format("{} on tensor {}, which isn't a region", name(s.kind), s.region));
  if (s.kind == SyncKind::signal_primed || s.kind == SyncKind::wait_primed)
    return fail(fmt::format("{} on region '{}'", name(s.kind), region_name(s.region)));
  const bool fills = s.kind == SyncKind::wait_free || s.kind == SyncKind::signal_full;
  if (s.queue != Queue::stage && s.queue != (fills ? Queue::store : Queue::load))
    return fail(fmt::format("{} on region '{}' by the {} queue", name(s.kind),
                            region_name(s.region), name(s.queue)));
  std::optional<Queue>& user =
      (fills ? region_fillers_ : region_readers_)[static_cast<size_t>(regions_[i])];
  if (user.value_or(s.queue) != s.queue)
    return fail(fmt::format("region '{}' is {} by the {} and the {} queue", region_name(s.region),
                            fills ? "filled" : "read", name(*user), name(s.queue)));
  user = s.queue;
  const Queue q = s.queue;
  if (is_wait(s.kind))
    awaited_[q].insert(s.region);
  else if (!used_[q].contains(s.region))
    fail(fmt::format("{} on region '{}': the {} queue's last command doesn't use it", name(s.kind),
                     region_name(s.region), name(s.queue)));
}

void Verifier::note_uses(Queue q, std::initializer_list<int> used) {
  used_[q] = used;
  for (const int r : awaited_[q])
    if (!used_[q].contains(r))
      fail(fmt::format("the {} queue waits for region '{}', its next command doesn't use it",
                       name(q), region_name(r)));
  awaited_[q].clear();
}

/// The rules of a buffer's tokens that a region's don't have.
void Verifier::buffer_sync(const Sync& s) {
  const bool output = s.buffer == Buffer::output;
  const bool primes = s.kind == SyncKind::signal_primed || s.kind == SyncKind::wait_primed;
  if (primes && !output)
    return fail(
        fmt::format("{} on {}: only output slots are primed", name(s.kind), name(s.buffer)));
  if (s.kind == SyncKind::wait_free && primed_ > 0 && output && s.queue != Queue::load)
    return fail(fmt::format("{} on {}: the slots before it are primed and have no results yet",
                            name(s.kind), name(s.buffer)));
  if (s.kind == SyncKind::signal_full && primed_ > 0 && s.queue == Queue::load && output)
    return fail("signal_full on output: the slots before it are primed and have no results yet");
  if ((s.kind == SyncKind::signal_primed && s.queue != Queue::load) ||
      (s.kind == SyncKind::wait_primed && s.queue != Queue::post))
    return fail(fmt::format("{} of the {} queue", name(s.kind), name(s.queue)));
  const bool fills = s.kind != SyncKind::wait_full && s.kind != SyncKind::signal_free;
  if (!fills && s.queue == Queue::load && s.buffer != Buffer::parameter)
    return fail(fmt::format("{} on {} by the load queue: it reads parameter slots only",
                            name(s.kind), name(s.buffer)));
  const Engine& engine = engine_of(s.queue);
  if (!(fills ? engine.fills : engine.reads).contains(s.buffer))
    fail(fmt::format("{} on {} by the {} queue", name(s.kind), name(s.buffer), name(s.queue)));
}

void Verifier::visit_sync(const Sync& s) {
  if (s.region >= 0)
    region_sync(s);
  else
    buffer_sync(s);
  if (!errors_.empty()) return;
  const size_t p = place(s);
  const bool fills = s.kind != SyncKind::wait_full && s.kind != SyncKind::signal_free;
  Queue& user = (fills ? filler_ : holder_)[p];
  if (is_wait(s.kind))
    user = s.queue;
  else if ((fills ? filling_ : held_)[p] > 0 && user != s.queue)
    return fail(fmt::format("{} on {} by the {} queue: the slot is the {} queue's", name(s.kind),
                            place(p), name(s.queue), name(user)));
  move_token(s, p);
  if (filling_[p] > 1 || held_[p] > 1)
    fail(fmt::format("{} on {}: a queue can use one slot at a time", name(s.kind), place(p)));
}

void Verifier::move_token(const Sync& s, size_t p) {
  const auto take = [&](int64_t& from, int64_t& to) {
    if (from <= 0)
      return fail(fmt::format("{} on {}: no token can be there", name(s.kind), place(p)));
    --from;
    ++to;
  };
  switch (s.kind) {
    case SyncKind::wait_free:
      return take(free_[p], filling_[p]);
    case SyncKind::signal_full:
      if (p == static_cast<size_t>(Buffer::output)) adds_ = false;
      return take(filling_[p], full_[p]);
    case SyncKind::wait_full:
      return take(full_[p], held_[p]);
    case SyncKind::signal_free:
      return take(held_[p], free_[p]);
    case SyncKind::signal_primed:
      return take(filling_[p], primed_);
    case SyncKind::wait_primed:
      adds_ = true;
      return take(primed_, filling_[p]);
  }
}

// ---- what commands have in common ---------------------------------------------------------------

bool Verifier::is_around(int loop) const {
  return loop >= 0 && loop < program_.loops && counts_[static_cast<size_t>(loop)] != 0;
}

void Verifier::first_of(const std::vector<int>& loops, std::string_view what) {
  for (const int loop : loops)
    if (!is_around(loop))
      fail(fmt::format("{} is the first of loop {}, which isn't around it", what, loop));
}

Verifier::Range Verifier::range_of(const Affine& a) const {
  Range r{a.base, a.base};
  for (const Affine::Term& t : a.terms) {
    const Reach of = Reach{}.add_index(counts_[static_cast<size_t>(t.loop)], t.coeff);
    r.low = add_far(r.low, of.low);
    r.high = add_far(r.high, of.high);
  }
  return r;
}

void Verifier::check_between(const Affine& a, int64_t low, int64_t high, std::string_view what) {
  for (const Affine::Term& t : a.terms)
    if (!is_around(t.loop))
      return fail(fmt::format("{} depends on loop {}, which isn't around it", what, t.loop));
  const Range r = range_of(a);
  if (r.low < low || r.high > high)
    fail(fmt::format("{} reaches [{}, {}], outside [{}, {}]", what, r.low, r.high, low, high));
}

void Verifier::check_within(const Affine& a, const Reach& reach, int64_t bytes, int64_t limit,
                            std::string_view what) {
  constexpr auto kEnds = std::numeric_limits<int64_t>();
  check_between(a, kEnds.min(), kEnds.max(), what);
  if (!errors_.empty()) return;
  const Range r = range_of(a);
  const int64_t low = add_far(r.low, reach.low);
  const int64_t high = add_far(add_far(r.high, reach.high), bytes);
  if (bytes < 0 || low < 0 || high > limit)
    fail(fmt::format("{} reaches [{}, {}) of {}", what, low, high, limit));
}

void Verifier::check_held(Buffer b, Queue q, std::string_view what) {
  if (held_[static_cast<size_t>(b)] != 1 || holder_[static_cast<size_t>(b)] != q)
    fail(fmt::format("{} reads {} without a full slot", what, name(b)));
}
void Verifier::check_filling(Buffer b, Queue q, std::string_view what) {
  if (filling_[static_cast<size_t>(b)] != 1 || filler_[static_cast<size_t>(b)] != q)
    fail(fmt::format("{} writes {} without a free slot", what, name(b)));
}

void Verifier::check_limit(int64_t value, int64_t limit, std::string_view what) {
  if (value < 1 || value > limit) fail(fmt::format("{} is {} of {}", what, value, limit));
}

void Verifier::check_between(int64_t value, int64_t low, int64_t high, std::string_view what) {
  if (value < low || value > high)
    fail(fmt::format("{} is {}, outside [{}, {}]", what, value, low, high));
}

void Verifier::check_clip(int32_t low, int32_t high, int32_t most, std::string_view what) {
  if (low > high || low < -most - 1 || high > most)
    fail(fmt::format("{} clips to [{}, {}]", what, low, high));
}

Status verify(const Program& program, const HwConfig& hw) {
  return Verifier(program, hw).verify_program();
}

}  // namespace accsim::hw
