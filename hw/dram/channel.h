#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hw/config/dram_device.h"

namespace accsim::hw {

/// What a controller can tell a channel; reads and writes move one burst.
enum class DramCommand : uint8_t { activate, precharge, precharge_all, read, write, refresh };

/// The state of one DRAM channel and when it takes which command. Time is in clocks of the DRAM; a
/// command's time is its last clock on the command bus.
class DramChannel {
 public:
  explicit DramChannel(const DramDevice& device);

  /// The first clock at which `command` may be issued, given all that were issued so far. `bank`
  /// counts over all groups and is ignored by precharge_all and refresh. The bank must be in the
  /// right state: closed for activate, open for read, write and precharge; all closed for refresh.
  int64_t earliest_clock(DramCommand command, int bank) const;
  int64_t earliest_activate(int bank) const {
    const Bank& b = banks_[static_cast<size_t>(bank)];
    const int64_t a = std::max(b.activate, groups_[b.group].activate);
    const int64_t c = std::max(activate_, last_activates_[oldest_activate_] + t_.faw);
    return std::max({a, c, row_bus_ + t_.act_slots - 1});
  }
  int64_t earliest_precharge(int bank) const {
    return std::max(banks_[static_cast<size_t>(bank)].precharge, row_bus_ + t_.pre_slots - 1);
  }
  int64_t earliest_column(bool write, int bank) const {
    const Bank& b = banks_[static_cast<size_t>(bank)];
    const Group& g = groups_[b.group];
    const int64_t a = write ? std::max(g.write, write_) : std::max(g.read, read_);
    return std::max({b.column, a, column_bus_ + t_.cas_slots - 1});
  }
  /// False when the bank is in the wrong state or `clock` is too early.
  bool can_issue(DramCommand command, int bank, int64_t clock) const;
  /// Issues a legal command; `row` matters for activate only.
  void issue(DramCommand command, int bank, int64_t row, int64_t clock);

  static constexpr int64_t kClosed = -1;
  int64_t open_row(int bank) const { return banks_[static_cast<size_t>(bank)].row; }
  bool all_closed() const { return open_ == 0; }

 private:
  struct Bank {
    int64_t row = kClosed;
    size_t group = 0;
    int64_t activate = 0, precharge = 0, column = 0;  ///< first legal clock by what the bank did
  };
  struct Group {
    int64_t activate = 0, read = 0, write = 0;
  };
  size_t group_of(int bank) const { return static_cast<size_t>(bank / banks_a_group_); }
  bool right_state(DramCommand command, int bank) const;
  void note_activate(Bank& bank, Group& group, int64_t row, int64_t clock);
  void read_or_written(Bank& bank, Group& group, bool write, int64_t clock);

  DramTimings t_;
  int64_t burst_;
  int banks_a_group_;
  bool two_buses_;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  int open_ = 0;
  int64_t activate_ = 0, read_ = 0, write_ = 0;  ///< limits over the whole channel
  int64_t refresh_ = 0;                          ///< first clock at which every bank has precharged
  int64_t row_bus_ = 0, column_bus_ = 0;         ///< first free clock of the command buses
  std::array<int64_t, 4> last_activates_;        ///< ring of the last four
  size_t oldest_activate_ = 0;
};

}  // namespace accsim::hw
