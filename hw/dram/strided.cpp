#include "hw/dram/strided.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/controller.h"
#include "hw/dram/row_visits.h"

namespace accsim::hw {
namespace {

constexpr size_t kFew = 3;  ///< transfers, or runs, of which the times are taken, at least

/// What a bank of a channel was asked for.
struct BankUse {
  int64_t row = -1;  ///< the open one
  int64_t columns = 0;
  double activates = 0;
};

/// The visits of a bank's rows, the latest ones.
class BankVisits {
 public:
  /// Whether the burst opens a row that isn't open: it has no visit to which the burst belongs.
  /// `ahead`: bursts of the channel that the queue shows behind the oldest.
  bool opens_row(int64_t row, int64_t now, int64_t ahead) {
    bool again = false;
    for (size_t ago = 1; ago < kVisits && !again; ++ago) {
      const Visit& v = visits_[(last_ - ago) % kVisits];
      again = v.row == row;
      if (again && now - v.since < ahead) return false;
    }
    last_ = (last_ + 1) % kVisits;
    visits_[last_] = {row, now, again};
    return true;
  }

  /// Of visits of rows that are visited again and again: the part that would come behind `now`.
  double to_come(int64_t now, int64_t ahead) const {
    double out = 0;
    for (const Visit& v : visits_)
      if (v.again && now - v.since < ahead) out += 1 - real(now - v.since) / real(ahead);
    return out;
  }

 private:
  static constexpr size_t kVisits = 8;
  struct Visit {
    int64_t row = -1, since = 0;  ///< bursts of the channel before it
    bool again = false;
  };
  std::array<Visit, kVisits> visits_;
  size_t last_ = 0;
};

/// Clocks that a channel takes for what it was asked for.
struct Clocks {
  double alone;  ///< when nothing else is asked for
  double held;   ///< of its bus, when it takes turns with a stream of the other direction
};

int64_t queue_depth(bool write) {
  return static_cast<int64_t>(write ? kDramWriteQueue : kDramReadQueue);
}

class Counter {
 public:
  Counter(const DramSystem& system, const DramTransfer& transfer)
      : system_(system),
        transfer_(transfer),
        map_(system.device, system.channels, address_order(system.map)),
        all_banks_(static_cast<size_t>(system.device.all_banks())),
        banks_(static_cast<size_t>(system.channels) * all_banks_),
        visits_(banks_.size()),
        asked_(static_cast<size_t>(system.channels)),
        least_(counted_bursts(system, transfer.write)) {
    channels_.reserve(static_cast<size_t>(4 * least_));
  }

  void walk_transfers() {
    const DramTransfer::Level* outermost =
        transfer_.around.empty() ? &transfer_.levels.front() : &transfer_.around.front();
    for (int64_t pass = 0; !has_enough(); ++pass)
      walk_loops(0, pass * outermost->count * outermost->stride);
    for (size_t i = 0; i < banks_.size(); ++i)
      banks_[i].activates -=
          visits_[i].to_come(asked_[i / all_banks_], queue_depth(transfer_.write));
  }
  StridedRates measured_rates() const;

 private:
  /// In the middle of a transfer.
  bool is_cut() const { return std::ssize(channels_) >= 4 * least_; }
  bool has_enough() const {
    return is_cut() || (std::ssize(channels_) >= least_ && transfers_.size() >= kFew);
  }
  void walk_loops(size_t l, int64_t at) {
    if (l == transfer_.around.size()) {
      walk_levels(0, at);
      if (!is_cut()) transfers_.push_back(std::ssize(channels_));
      return;
    }
    for (int64_t i = 0; i < transfer_.around[l].count && !has_enough(); ++i)
      walk_loops(l + 1, at + i * transfer_.around[l].stride);
  }
  void walk_levels(size_t l, int64_t at) {
    if (l == transfer_.levels.size()) return walk_run(at);
    for (int64_t i = 0; i < transfer_.levels[l].count && !is_cut(); ++i)
      walk_levels(l + 1, at + i * transfer_.levels[l].stride);
  }
  void walk_run(int64_t at) {
    const int64_t size = system_.device.burst_bytes();
    const int64_t first = at / size,
                  last = first + std::min((at % size + transfer_.run - 1) / size, 4 * least_);
    DramPlace place;
    for (int64_t b = first; b <= last; ++b) {
      // Neighbouring bursts differ in the channel, the lowest field of all orders.
      if (b == first || ++place.channel == system_.channels) place = map_.place_of_burst(b);
      add_burst(place);
    }
    runs_.push_back(std::ssize(channels_));
  }
  void add_burst(const DramPlace& place) {
    const auto c = static_cast<size_t>(place.channel);
    const size_t i = c * all_banks_ + static_cast<size_t>(place.bank);
    BankUse& bank = banks_[i];
    const int64_t now = asked_[c]++;
    if (bank.row != place.row &&
        visits_[i].opens_row(place.row, now, queue_depth(transfer_.write))) {
      bank.row = place.row;
      bank.activates += 1;
    }
    ++bank.columns;
    channels_.push_back(place.channel);
  }
  struct Ahead {
    double turns;  ///< clocks of both turns, in which banks and rows go on
    double rows;   ///< that were opened, less those that the stream has to open again
  };
  Ahead opened_ahead() const;
  Clocks channel_clocks(std::span<const BankUse> banks, double recovery) const;
  std::vector<int64_t> end_marks() const;
  double feed_clocks(std::span<const double> service) const;

  const DramSystem& system_;
  const DramTransfer& transfer_;
  AddressMap map_;
  const size_t all_banks_;  ///< of a channel
  std::vector<BankUse> banks_;
  std::vector<BankVisits> visits_;
  std::vector<int64_t> asked_;             ///< by channel
  std::vector<int32_t> channels_;          ///< by burst
  std::vector<int64_t> runs_, transfers_;  ///< bursts at their ends
  const int64_t least_;
};

Clocks Counter::channel_clocks(std::span<const BankUse> banks, double recovery) const {
  const DramTimings& t = system_.device.t;
  const double burst = real(std::max(system_.device.burst_clocks, t.ccd_s));
  const double column = real(std::max(system_.device.burst_clocks, t.ccd_l));
  double columns = 0, activates = 0, most = 0;
  for (int64_t g = 0; g < system_.device.bank_groups; ++g) {
    double group = 0;
    for (int64_t b = 0; b < system_.device.banks; ++b) {
      const BankUse& use = banks[static_cast<size_t>(g * system_.device.banks + b)];
      group += real(use.columns);
      activates += use.activates;
      if (use.columns == 0) continue;
      const double visit = real(use.columns) / use.activates;
      const double held = real(t.rcd) + (visit - 1) * column + recovery + real(t.rp);
      // A row that stays open takes no more than its columns.
      if (use.activates > 1) most = std::max(most, use.activates * std::max(real(t.rc), held));
    }
    columns += group;
    most = std::max(most, group * column);
  }
  const double spacing = std::max(real(t.rrd_s), real(t.faw) / 4);
  const double bus = columns * burst, batches = columns / kDramLeastBatch;
  const Ahead ahead = opened_ahead();
  return {std::max({most, bus, activates * spacing}),
          std::max({bus, most - batches * ahead.turns,
                    activates * spacing - batches * (ahead.turns + ahead.rows * spacing)})};
}

/// What a batch finds done that the other direction's stream had the bus for.
Counter::Ahead Counter::opened_ahead() const {
  const DramDevice& d = system_.device;
  const double columns = real(d.columns()), others = real(queue_depth(!transfer_.write)) - 1;
  const double groups = system_.map == DramMap::bank_group_high ? 1 : real(d.bank_groups);
  const double all = real(d.all_banks());
  const double wanted = std::min(all, groups + others / columns);
  const double turns = real(d.t.cwl + d.burst_clocks + d.t.wtr_s + d.t.rtw) -
                       2 * real(std::max(d.burst_clocks, d.t.ccd_s));
  return {turns, std::max(0.0, all - 2 * wanted)};
}

/// Bursts where something ends: transfers, or where those are few runs, or any burst.
std::vector<int64_t> Counter::end_marks() const {
  if (transfers_.size() >= kFew) return transfers_;
  if (runs_.size() >= kFew) return runs_;
  return {std::ssize(channels_) / 2, std::ssize(channels_)};
}

/// Clocks a burst, when bursts go in order into the queues of channels that take so long for one.
double Counter::feed_clocks(std::span<const double> service) const {
  const double ahead = real(queue_depth(transfer_.write));
  const std::vector<int64_t> marks = end_marks();
  // Behind the first, and an even number of them: they often go to and fro.
  const size_t counted = std::max<size_t>(1, (marks.size() - 1) / 2 * 2);
  const int64_t begin = marks[marks.size() - 1 - counted], all = marks.back();
  // When each channel will have served all that it has; all have begun with a full queue.
  std::vector<double> served;
  for (const double s : service) served.push_back(ahead * s);
  double now = 0, before = 0;
  for (int64_t b = 0; b < all; ++b) {
    const auto c = static_cast<size_t>(channels_[static_cast<size_t>(b)]);
    now = std::max(now, served[c] - (ahead - 1) * service[c]);
    served[c] = std::max(served[c], now) + service[c];
    if (b + 1 == begin) before = now;
  }
  return (now - before) / real(all - begin);
}

StridedRates Counter::measured_rates() const {
  const DramDevice& d = system_.device;
  const double burst = real(std::max(d.burst_clocks, d.t.ccd_s));
  const double recovery = transfer_.write ? real(d.t.cwl + d.burst_clocks + d.t.wr) : real(d.t.rtp);
  const double refresh = recovery + real(d.t.rp_all + d.t.rfc + d.t.rcd) - burst;
  const bool cut = transfer_.run / d.burst_bytes() >= 4 * least_;
  StridedRates out;
  out.counted = std::ssize(channels_);
  out.run_bursts = cut ? real(transfer_.run) / real(d.burst_bytes())
                       : real(std::ssize(channels_)) / real(std::ssize(runs_));
  double activates = 0;
  std::vector<double> alone, held;
  for (int64_t c = 0; c < system_.channels; ++c) {
    const std::span<const BankUse> banks(&banks_[static_cast<size_t>(c * d.all_banks())],
                                         static_cast<size_t>(d.all_banks()));
    const double asked = real(asked_[static_cast<size_t>(c)]);
    const Clocks clocks = asked == 0 ? Clocks{burst, burst} : channel_clocks(banks, recovery);
    alone.push_back(clocks.alone / std::max(1.0, asked));
    held.push_back(clocks.held / std::max(1.0, asked));
    for (const BankUse& b : banks) activates += b.activates;
  }
  out.activates = activates / real(std::ssize(channels_));
  out.refresh = 1 - refresh / real(d.t.refi);
  out.bus = feed_clocks(held);
  const bool bus_bound = std::ranges::all_of(alone, [&](double s) { return s <= burst; });
  out.clocks = bus_bound ? out.bus : feed_clocks(alone);
  return out;
}

/// Levels or loops, as far as a walk sees them that ends after `most` of what one inner iteration
/// has `each` of, at least: behind that neither count nor stride matters.
void add_seen(std::span<const DramTransfer::Level> levels, double each, double most,
              std::vector<int64_t>& key) {
  const size_t first = key.size();
  for (size_t i = levels.size(); i-- > 0 && each < most;) {
    const DramTransfer::Level& l = levels[i];
    const double needed = std::ceil(most / each);
    key.push_back(real(l.count) < needed ? l.count : static_cast<int64_t>(needed));
    key.push_back(l.stride);
    each *= real(l.count);
  }
  key.push_back(static_cast<int64_t>(key.size() - first));
}

}  // namespace

int64_t counted_bursts(const DramSystem& system, bool write) {
  return 4 * std::max<int64_t>(1024, queue_depth(write) * system.channels);
}

StridedRates strided_rates(const DramSystem& system, const DramTransfer& transfer) {
  Counter counter(system, transfer);
  counter.walk_transfers();
  return counter.measured_rates();
}

StridedCounts scaled_counts(const StridedRates& rates, const DramTransfer& transfer) {
  double bursts = rates.run_bursts;
  for (const DramTransfer::Level& l : transfer.levels) bursts *= real(l.count);
  const double scale = bursts / rates.refresh;
  return {bursts, rates.activates * bursts, rates.bus * scale, rates.clocks * scale};
}

StridedCounts count_strided(const DramSystem& system, const DramTransfer& transfer) {
  return scaled_counts(strided_rates(system, transfer), transfer);
}

std::vector<int64_t> count_key(const DramSystem& system, const DramTransfer& transfer) {
  // The walk ends in the middle of a transfer of `most` bursts, and behind kFew smaller ones.
  const double least = real(counted_bursts(system, transfer.write)), most = 4 * least;
  double bursts = real(ceil_div(transfer.run, system.device.burst_bytes()));
  std::vector<int64_t> key = {transfer.run, transfer.write};
  add_seen(transfer.levels, bursts, most, key);
  for (const DramTransfer::Level& l : transfer.levels) bursts *= real(l.count);
  const double transfers = std::max(real(static_cast<int64_t>(kFew)), std::ceil(least / bursts));
  if (bursts < most) add_seen(transfer.around, 1, transfers, key);
  return key;
}

}  // namespace accsim::hw
