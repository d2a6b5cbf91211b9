#include "hw/program/byte_places.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "hw/program/reach.h"

namespace accsim::hw {
namespace {

constexpr size_t kMostInOrders = 2048;  ///< lives that several orders are tried of
constexpr int kMostRepairs = 8;         ///< orders that begin with what the one before left out

/// Blocks of bytes from 0 on that nobody has; the last of them has no end.
class FreeBytes {
 public:
  /// The smallest block that is large enough, the endless one if no other is; -1 where that would
  /// end behind `room`.
  int64_t take_block(int64_t bytes, int64_t room) {
    if (bytes == 0) return 0;
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      if (bytes > room - top_) return -1;
      return std::exchange(top_, top_ + bytes);
    }
    const auto [size, address] = *fit;
    erase_block(address);
    if (size > bytes) insert_block(address + bytes, size - bytes);
    return address;
  }

  void give_back(int64_t address, int64_t bytes) {
    if (bytes == 0) return;
    const auto behind = by_address_.lower_bound(address);
    if (behind != by_address_.end() && behind->first == address + bytes) {
      bytes += behind->second;
      erase_block(behind->first);
    }
    const auto next = by_address_.lower_bound(address);
    if (next != by_address_.begin()) {
      const auto before = *std::prev(next);
      if (before.first + before.second == address) {
        address = before.first;
        bytes += before.second;
        erase_block(before.first);
      }
    }
    if (address + bytes == top_)
      top_ = address;
    else
      insert_block(address, bytes);
  }

 private:
  void insert_block(int64_t address, int64_t bytes) {
    by_address_.emplace(address, bytes);
    by_size_.emplace(bytes, address);
  }
  void erase_block(int64_t address) {
    const auto at = by_address_.find(address);
    by_size_.erase({at->second, address});
    by_address_.erase(at);
  }

  std::map<int64_t, int64_t> by_address_;          ///< bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  ///< bytes, address
  int64_t top_ = 0;                                ///< where the endless one begins
};

class BytePlacer {
 public:
  BytePlacer(std::span<const ByteLife> lives, int64_t room) : lives_(lives), room_(room) {}

  BytePlaces place_lives() {
    best_ = by_birth();
    if (lives_.size() > kMostInOrders) return best_;
    const int64_t least = most_alive();
    const auto is_best = [&] { return best_.left_out == 0 && best_.end == least; };
    for (const auto key : {&BytePlacer::size_key, &BytePlacer::small_in_time,
                           &BytePlacer::short_life, &BytePlacer::birth_key})
      if (!is_best()) try_order(order_by_key(key));
    for (int i = 0; i < kMostRepairs && best_.left_out > 0; ++i)
      if (!try_order(left_out_first())) break;
    return best_;
  }

 private:
  const ByteLife& life(size_t i) const { return lives_[i]; }
  int64_t life_length(size_t i) const { return life(i).last - life(i).first + 1; }
  // What orders go by, the least first.
  int64_t size_key(size_t i) const { return -life(i).bytes; }
  int64_t small_in_time(size_t i) const { return -multiply_far(life(i).bytes, life_length(i)); }
  int64_t short_life(size_t i) const { return -life_length(i); }
  int64_t birth_key(size_t i) const { return life(i).first; }

  std::vector<size_t> order_by_key(int64_t (BytePlacer::*key)(size_t) const) {
    std::vector<size_t> out(lives_.size());
    std::iota(out.begin(), out.end(), size_t{0});
    std::ranges::stable_sort(out, {}, [&](size_t i) { return (this->*key)(i); });
    return out;
  }
  /// The best order with what had no room in front of it.
  std::vector<size_t> left_out_first() {
    std::vector<size_t> out =
        best_order_.empty() ? order_by_key(&BytePlacer::size_key) : best_order_;
    std::stable_partition(out.begin(), out.end(), [&](size_t i) { return best_.addresses[i] < 0; });
    return out;
  }

  /// Is it better than what there was?
  bool try_order(const std::vector<size_t>& order) {
    BytePlaces found = in_order(order);
    if (std::pair(found.left_out, found.end) >= std::pair(best_.left_out, best_.end)) return false;
    best_ = std::move(found);
    best_order_ = order;
    return true;
  }

  /// As the steps go by: each takes the smallest free block that is large enough.
  BytePlaces by_birth() {
    BytePlaces out{std::vector<int64_t>(lives_.size(), -1)};
    std::vector<size_t> order(lives_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {},
                             [this](size_t i) { return std::pair(life(i).first, -life(i).bytes); });
    FreeBytes free;
    using Death = std::pair<int64_t, size_t>;
    std::priority_queue<Death, std::vector<Death>, std::greater<>> alive;
    for (const size_t i : order) {
      for (; !alive.empty() && alive.top().first < life(i).first; alive.pop())
        free.give_back(out.addresses[alive.top().second], life(alive.top().second).bytes);
      const int64_t address = free.take_block(life(i).bytes, room_);
      set_address(i, address, out);
      if (address >= 0) alive.emplace(life(i).last, i);
    }
    return out;
  }

  /// Each at the lowest address that is free while it lives.
  BytePlaces in_order(const std::vector<size_t>& order) const {
    BytePlaces out{std::vector<int64_t>(lives_.size(), -1)};
    std::vector<size_t> placed;  // by address
    for (const size_t i : order) {
      int64_t address = 0;
      for (const size_t other : placed) {
        const int64_t at = out.addresses[other];
        if (!live_together(i, other) || at + life(other).bytes <= address) continue;
        if (at >= add_far(address, life(i).bytes)) break;
        address = at + life(other).bytes;
      }
      if (life(i).bytes > room_ - address) address = -1;
      set_address(i, address, out);
      if (address >= 0)
        placed.insert(std::ranges::upper_bound(placed, address, {},
                                               [&](size_t k) { return out.addresses[k]; }),
                      i);
    }
    return out;
  }
  bool live_together(size_t a, size_t b) const {
    return life(a).first <= life(b).last && life(b).first <= life(a).last;
  }
  void set_address(size_t i, int64_t address, BytePlaces& to) const {
    to.addresses[i] = address;
    if (address < 0)
      to.left_out = add_far(to.left_out, life(i).bytes);
    else
      to.end = std::max(to.end, address + life(i).bytes);
  }

  /// No end is lower than what lives at one step.
  int64_t most_alive() const {
    // Sums beyond 64 bits wrap: something has been left out then.
    std::map<int64_t, uint64_t> change;
    for (const ByteLife& l : lives_) {
      change[l.first] += static_cast<uint64_t>(l.bytes);
      change[l.last + 1] -= static_cast<uint64_t>(l.bytes);
    }
    uint64_t sum = 0, most = 0;
    for (const auto& [step, bytes] : change) most = std::max(most, sum += bytes);
    return static_cast<int64_t>(most);
  }

  std::span<const ByteLife> lives_;
  const int64_t room_;
  BytePlaces best_;
  std::vector<size_t> best_order_;  ///< that gave it; none: by_birth()
};

}  // namespace

BytePlaces place_bytes(std::span<const ByteLife> lives, int64_t room) {
  return BytePlacer(lives, room).place_lives();
}

}  // namespace accsim::hw
