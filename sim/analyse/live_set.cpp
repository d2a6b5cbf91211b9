#include "sim/analyse/live_set.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hw/program/byte_places.h"

namespace accsim::sim {

StepOrder given_order(const Storage& storage) {
  StepOrder out(storage.steps.size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<Life> lives_of_buffers(const Storage& storage, const StepOrder& order) {
  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[static_cast<size_t>(order[i])] = static_cast<int>(i);
  const int end = std::max(static_cast<int>(order.size()) - 1, 0);
  std::vector<Life> out;
  out.reserve(storage.buffers.size());
  for (const Storage::Buffer& b : storage.buffers) {
    Life life;
    life.first = b.writer < 0 ? 0 : place[static_cast<size_t>(b.writer)];
    life.last = b.kept ? end : life.first;
    for (int user : b.users) life.last = std::max(life.last, place[static_cast<size_t>(user)]);
    out.push_back(life);
  }
  return out;
}

LivePeak live_peak(const Storage& storage, const StepOrder& order) {
  const std::vector<Life> when = lives_of_buffers(storage, order);
  std::vector<int64_t> change(order.size() + 2, 0);
  for (size_t b = 0; b < when.size(); ++b) {
    change[static_cast<size_t>(when[b].first)] += storage.buffers[b].bytes;
    change[static_cast<size_t>(when[b].last) + 1] -= storage.buffers[b].bytes;
  }
  LivePeak out;
  int64_t live = 0;
  int best = 0;
  for (size_t i = 0; i < std::max(order.size(), size_t{1}); ++i) {
    live += change[i];
    if (live > out.bytes) {
      out.bytes = live;
      best = static_cast<int>(i);
    }
  }
  for (size_t b = 0; b < when.size(); ++b)
    if (when[b].first <= best && best <= when[b].last && storage.buffers[b].bytes > 0)
      out.buffers.push_back(static_cast<int>(b));
  std::stable_sort(out.buffers.begin(), out.buffers.end(), [&](int a, int b) {
    return storage.buffers[static_cast<size_t>(a)].bytes >
           storage.buffers[static_cast<size_t>(b)].bytes;
  });
  if (!order.empty()) out.place = best;
  return out;
}

namespace {

struct Placed {
  int64_t offset, end;
  Life life;
};

bool live_together(Life a, Life b) { return a.first <= b.last && b.first <= a.last; }

/// Placed buffers, sorted by offset: in blocks, so that adding one moves few, and that those are
/// passed over whose buffers all live at another time.
class PlacedBuffers {
 public:
  /// Offset of the smallest gap that holds `bytes` between the buffers that are live at the same
  /// time; behind them all when none does.
  int64_t best_gap(Life life, int64_t bytes) const {
    int64_t best = -1, best_gap = 0, top = 0;
    for (const Block& block : blocks_) {
      if (!live_together(block.life, life)) continue;
      for (const Placed& p : block.placed) {
        if (!live_together(p.life, life)) continue;
        const int64_t gap = p.offset - top;
        if (gap >= bytes && (best < 0 || gap < best_gap)) {
          best = top;
          best_gap = gap;
        }
        top = std::max(top, p.end);
      }
    }
    return best >= 0 ? best : top;
  }

  void add(const Placed& p) {
    if (blocks_.empty()) return blocks_.push_back({{p}, p.life});
    const auto below = [](int64_t offset, const auto& other) { return offset < other.offset; };
    const auto behind = std::upper_bound(
        blocks_.begin(), blocks_.end(), p.offset,
        [](int64_t offset, const Block& b) { return offset < b.placed.front().offset; });
    auto block = behind == blocks_.begin() ? blocks_.begin() : behind - 1;
    auto& placed = block->placed;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), p.offset, below), p);
    block->life = {std::min(block->life.first, p.life.first),
                   std::max(block->life.last, p.life.last)};
    if (placed.size() >= kMostInBlock) split_block(block);
  }

 private:
  static constexpr size_t kMostInBlock = 256;
  struct Block {
    std::vector<Placed> placed;  ///< not empty
    Life life;                   ///< from the first's beginning to the last's end
  };

  void split_block(std::vector<Block>::iterator block) {
    const auto middle = block->placed.begin() + kMostInBlock / 2;
    Block second{{middle, block->placed.end()}, middle->life};
    block->placed.erase(middle, block->placed.end());
    block->life = block->placed.front().life;
    for (Block* b : {&*block, &second})
      for (const Placed& p : b->placed)
        b->life = {std::min(b->life.first, p.life.first), std::max(b->life.last, p.life.last)};
    blocks_.insert(block + 1, std::move(second));
  }

  std::vector<Block> blocks_;
};

Arena place_buffers(const Storage& storage, const std::vector<Life>& lives,
                    const std::vector<size_t>& queue) {
  Arena out;
  out.offsets.assign(storage.buffers.size(), 0);
  PlacedBuffers placed;
  for (size_t b : queue) {
    const int64_t bytes = storage.buffers[b].bytes;
    if (bytes == 0) continue;
    const int64_t offset = placed.best_gap(lives[b], bytes);
    out.offsets[b] = offset;
    out.bytes = std::max(out.bytes, offset + bytes);
    placed.add({offset, offset + bytes, lives[b]});
  }
  return out;
}

/// Pairs of buffers that live at the same time, and each with itself.
int64_t count_meetings(const std::vector<Life>& lives) {
  std::vector<int> ends;
  for (const Life& l : lives) ends.push_back(l.last);
  std::vector<int> starts;
  for (const Life& l : lives) starts.push_back(l.first);
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  int64_t out = 0;
  for (const Life& l : lives)
    out += (std::ranges::upper_bound(starts, l.last) - starts.begin()) -
           (std::ranges::lower_bound(ends, l.first) - ends.begin());
  return (out + std::ssize(lives)) / 2;
}

/// Bytes of the largest live set.
int64_t most_live(const Storage& storage, const std::vector<Life>& lives) {
  std::vector<std::pair<int, int64_t>> changes;  // by place in the order
  for (size_t b = 0; b < lives.size(); ++b) {
    changes.emplace_back(lives[b].first, storage.buffers[b].bytes);
    changes.emplace_back(lives[b].last + 1, -storage.buffers[b].bytes);
  }
  std::ranges::sort(changes);  // what ends comes before what begins
  int64_t live = 0, out = 0;
  for (const auto& [place, bytes] : changes) out = std::max(out, live += bytes);
  return out;
}

/// In the order of their births.
Arena place_by_birth(const Storage& storage, const std::vector<Life>& lives) {
  std::vector<hw::ByteLife> all;
  for (size_t b = 0; b < lives.size(); ++b)
    all.push_back({lives[b].first, lives[b].last, storage.buffers[b].bytes});
  hw::BytePlaces places = hw::place_bytes(all, std::numeric_limits<int64_t>::max());
  return {places.end, std::move(places.addresses)};
}

}  // namespace

Arena plan_arena(const Storage& storage, const std::vector<Life>& lives) {
  Arena by_birth = place_by_birth(storage, lives);
  // Then every buffer is held against those that are placed and live at the same time: of so many
  // that takes half a second.
  constexpr int64_t kMostMeetings = 50'000'000;
  if (by_birth.bytes == most_live(storage, lives) || count_meetings(lives) > kMostMeetings)
    return by_birth;
  std::vector<size_t> queue(storage.buffers.size());
  std::iota(queue.begin(), queue.end(), size_t{0});
  std::stable_sort(queue.begin(), queue.end(), [&](size_t a, size_t b) {
    return storage.buffers[a].bytes > storage.buffers[b].bytes;
  });
  Arena by_size = place_buffers(storage, lives, queue);
  std::stable_sort(queue.begin(), queue.end(), [&](size_t a, size_t b) {
    return lives[a].last - lives[a].first > lives[b].last - lives[b].first;
  });
  Arena by_life = place_buffers(storage, lives, queue);
  return by_life.bytes < by_size.bytes ? by_life : by_size;
}

}  // namespace accsim::sim
