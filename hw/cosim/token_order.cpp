#include "hw/cosim/token_order.h"

#include <algorithm>

namespace accsim::hw {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

TokenOrder::TokenOrder(const Program& program, const HwConfig& hw) {
  for (size_t b = 0; b < kBuffers; ++b) slots_[b] = hw.buffers[b].slots;
  collect(program.body);
  if (matters(program.body)) walk(program.body);
}

void TokenOrder::collect(const std::vector<Item>& body) {
  for (const Item& item : body) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) collect(loop->body);
    if (const auto* s = std::get_if<Sync>(&item.node); s && s->region < 0)
      sequences_[static_cast<size_t>(s->kind)][static_cast<size_t>(s->buffer)].users.insert(
          s->queue);
  }
}

/// Primed slots need the order of claims too.
bool TokenOrder::written_out(SyncKind kind, Buffer b) const {
  if (at(kind, b).users.size() > 1) return true;
  const bool primes = !at(SyncKind::signal_primed, b).users.empty();
  return primes && (kind == SyncKind::wait_free || kind == SyncKind::signal_primed);
}

bool TokenOrder::matters(const std::vector<Item>& body) const {
  return std::any_of(body.begin(), body.end(), [this](const Item& item) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) return matters(loop->body);
    const auto* s = std::get_if<Sync>(&item.node);
    return s && s->region < 0 && written_out(s->kind, s->buffer);
  });
}

void TokenOrder::walk(const std::vector<Item>& body) {
  for (const Item& item : body) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) {
      if (!matters(loop->body)) continue;
      for (int64_t i = 0; i < loop->count; ++i) walk(loop->body);
    } else if (const auto* s = std::get_if<Sync>(&item.node)) {
      if (s->region < 0 && written_out(s->kind, s->buffer)) note(*s);
    }
  }
}

void TokenOrder::note(const Sync& s) {
  Sequence& to = sequences_[static_cast<size_t>(s.kind)][static_cast<size_t>(s.buffer)];
  to.ordinals[static_cast<size_t>(s.queue)].push_back(std::ssize(to.queues));
  if (s.kind == SyncKind::wait_free) last_claim_ = std::ssize(to.queues);
  if (s.kind == SyncKind::signal_primed) primed_claims_.push_back(last_claim_);
  to.queues.push_back(s.queue);
}

std::optional<Queue> TokenOrder::queue(SyncKind kind, Buffer b, int64_t n) const {
  const Sequence& s = at(kind, b);
  if (s.users.empty()) return std::nullopt;
  if (!written_out(kind, b)) return *s.users.begin();
  if (n >= std::ssize(s.queues)) return std::nullopt;
  return s.queues[index(n)];
}

int64_t TokenOrder::ordinal(SyncKind kind, Buffer b, Queue queue, int64_t n) const {
  const Sequence& s = at(kind, b);
  return written_out(kind, b) ? s.ordinals[static_cast<size_t>(queue)].at(index(n)) : n;
}

int64_t TokenOrder::slot(SyncKind kind, Buffer b, Queue queue, int64_t n) const {
  const int64_t claim =
      kind == SyncKind::wait_primed ? primed_claims_.at(index(n)) : ordinal(kind, b, queue, n);
  return claim % slots(b);
}

}  // namespace accsim::hw
