#include "hw/cosim/token_order.h"

#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

TokenOrder::TokenOrder(const Program& program, const HwConfig& hw) {
  for (size_t b = 0; b < kBuffers; ++b) slots_[b] = hw.buffers[b].slots;
  const auto note_user = [this](const Sync& s) {
    if (s.region < 0) sequence_of(s).users.insert(s.queue);
  };
  visit_nest(program.body, note_user);
  write_out(program);
}

/// Primed slots need the order of claims too.
bool TokenOrder::written_out(SyncKind kind, Buffer b) const {
  if (sequence_at(kind, b).users.size() > 1) return true;
  const bool primes = !sequence_at(SyncKind::signal_primed, b).users.empty();
  return primes && (kind == SyncKind::wait_free || kind == SyncKind::signal_primed);
}

void TokenOrder::write_out(const Program& program) {
  const auto matters = [this](const Sync& s) {
    return s.region < 0 && written_out(s.kind, s.buffer);
  };
  visit_nest(program.body, Overloaded{[&](const Loop& loop, const auto& inner) {
                                        if (!any_in_nest(loop.body, matters)) return;
                                        for (int64_t i = 0; i < loop.count; ++i) inner();
                                      },
                                      [&](const Sync& s) {
                                        if (matters(s)) note_sync(s);
                                      }});
}

void TokenOrder::note_sync(const Sync& s) {
  Sequence& to = sequence_of(s);
  to.ordinals[s.queue].push_back(std::ssize(to.queues));
  if (s.kind == SyncKind::wait_free) last_claim_ = std::ssize(to.queues);
  if (s.kind == SyncKind::signal_primed) primed_claims_.push_back(last_claim_);
  to.queues.push_back(s.queue);
}

std::optional<Queue> TokenOrder::queue_of_op(SyncKind kind, Buffer b, int64_t n) const {
  const Sequence& s = sequence_at(kind, b);
  if (s.users.empty()) return std::nullopt;
  if (!written_out(kind, b)) return *s.users.begin();
  if (n >= std::ssize(s.queues)) return std::nullopt;
  return s.queues[index(n)];
}

int64_t TokenOrder::ordinal_of_op(SyncKind kind, Buffer b, Queue queue, int64_t n) const {
  const Sequence& s = sequence_at(kind, b);
  return written_out(kind, b) ? s.ordinals[queue].at(index(n)) : n;
}

int64_t TokenOrder::slot_of_wait(SyncKind kind, Buffer b, Queue queue, int64_t n) const {
  const int64_t claim = kind == SyncKind::wait_primed ? primed_claims_.at(index(n))
                                                      : ordinal_of_op(kind, b, queue, n);
  return claim % slot_count(b);
}

}  // namespace accsim::hw
