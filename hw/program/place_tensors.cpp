#include "hw/program/place_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "hw/program/byte_places.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

/// Where the text uses a tensor: items of the program's body, counted from 1 on.
struct Life {
  int first = -1, last = -1;
  bool written_first = false;
  PerQueue<int> reads{}, writes{};  ///< the last one; 0: none
  PerQueue<int> first_write{};      ///< 0: none
};

class Lives {
 public:
  explicit Lives(const Program& p) : lives_(p.tensors.size()) {
    const auto load = [this](const LoadCommand& c) { note_use(c.tensor, Queue::load, false); };
    const auto store = [this](const StoreCommand& c) { note_use(c.tensor, Queue::store, true); };
    const auto stage = [this](const StageCommand& c) {
      note_use(c.from, Queue::stage, false);
      note_use(c.to, Queue::stage, true);
    };
    for (size_t i = 0; i < p.body.size(); ++i) {
      now_ = static_cast<int>(i) + 1;
      visit_nest(std::span(&p.body[i], 1), Overloaded{load, store, stage});
    }
  }
  std::vector<Life> take_lives() { return std::move(lives_); }

 private:
  void note_use(int tensor, Queue q, bool writes) {
    Life& l = lives_[static_cast<size_t>(tensor)];
    if (l.last < 0) {
      l.first = now_;
      l.written_first = writes;
    }
    l.last = now_;
    (writes ? l.writes : l.reads)[q] = now_;
    if (writes && l.first_write[q] == 0) l.first_write[q] = now_;
  }

  std::vector<Life> lives_;
  int now_ = 0;
};

class Placer {
 public:
  Placer(Program& p, int64_t room, const std::set<int>& own)
      : p_(p), room_(room), lives_(Lives(p).take_lives()) {
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      ProgramTensor& t = p.tensors[i];
      if (t.memory != MemoryId::shared) continue;
      if (t.slots == 0 && lives_[i].written_first && !own.contains(static_cast<int>(i))) {
        all_.push_back(i);
      } else {
        t.address = -1;
        room_ -= t.bytes;
      }
    }
  }

  /// Places them all, but for a program in which every one has a place. Bytes without a place.
  int64_t place_all() {
    if (std::ranges::all_of(all_, [this](size_t i) { return p_.tensors[i].is_placed(); })) return 0;
    std::vector<ByteLife> lives;
    for (const size_t i : all_)
      lives.push_back({lives_[i].first, lives_[i].last, p_.tensors[i].bytes});
    const BytePlaces found = place_bytes(lives, room_);
    for (size_t i = 0; i < all_.size(); ++i) p_.tensors[all_[i]].address = found.addresses[i];
    return found.left_out;
  }

  /// Adds marks and waits for them.
  void order_reuse();
  int64_t room_left() const { return room_; }  ///< beside what has bytes of its own

 private:
  bool share_bytes(size_t a, size_t b) const {
    const ProgramTensor &x = p_.tensors[a], &y = p_.tensors[b];
    return x.address < y.address + y.bytes && y.address < x.address + x.bytes;
  }
  void order_reuse(size_t before, size_t after);

  Program& p_;
  int64_t room_;
  const std::vector<Life> lives_;
  std::vector<size_t> all_;
  /// By item of the body: marks behind it, waits before it.
  std::vector<std::vector<Item>> behind_, before_;
  std::set<std::pair<Queue, size_t>> marked_;  ///< queue, tensor
  /// By queue and tensor: the first item that waits for it.
  std::map<std::pair<Queue, size_t>, size_t> waits_;
};

/// Writes of `after` wait until other queues have done with `before`.
void Placer::order_reuse(size_t before, size_t after) {
  const Life &old = lives_[before], &young = lives_[after];
  for (const Queue writer : Queue::all()) {
    if (young.first_write[writer] == 0) continue;
    bool waits = false;
    for (const Queue q : Queue::all()) {
      const int last = std::max(old.reads[q], old.writes[q]);
      if (q == writer || last == 0) continue;
      waits = true;
      if (marked_.insert({q, before}).second)
        behind_[static_cast<size_t>(last)].push_back({Mark{false, q, static_cast<int>(before)}});
    }
    if (!waits) continue;
    // Of several that have its bytes, the one that this queue writes first needn't begin first.
    const auto write = static_cast<size_t>(young.first_write[writer]);
    const auto known = waits_.try_emplace({writer, before}, write).first;
    known->second = std::min(known->second, write);
  }
}

void Placer::order_reuse() {
  behind_.resize(p_.body.size() + 1);
  before_.resize(p_.body.size() + 1);
  std::vector<size_t> by_begin = all_;
  std::ranges::stable_sort(by_begin, {}, [this](size_t i) { return lives_[i].first; });
  for (const size_t after : by_begin)
    for (const size_t before : by_begin)
      if (lives_[before].last < lives_[after].first && share_bytes(before, after))
        order_reuse(before, after);
  for (const auto& [wait, item] : waits_)
    before_[item].push_back({Mark{true, wait.first, static_cast<int>(wait.second)}});
  std::vector<Item> body;
  for (size_t i = 1; i < behind_.size(); ++i) {
    std::ranges::move(before_[i], std::back_inserter(body));
    body.push_back(std::move(p_.body[i - 1]));
    std::ranges::move(behind_[i], std::back_inserter(body));
  }
  p_.body = std::move(body);
}

}  // namespace

Status place_tensors(Program& program, const HwConfig& hw, const std::set<int>& own) {
  Placer placer(program, hw.memory(MemoryId::shared).bytes, own);
  if (const int64_t left_out = placer.place_all(); left_out > 0)
    return Error{Errc::capacity,
                 fmt::format("{} bytes of tensors in the shared buffer have no room beside those "
                             "that are in use at the same time; there are {} bytes",
                             left_out, placer.room_left()),
                 "program " + program.name};
  placer.order_reuse();
  return ok();
}

}  // namespace accsim::hw
