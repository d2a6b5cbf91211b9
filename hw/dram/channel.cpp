#include "hw/dram/channel.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::hw {
namespace {

constexpr int64_t kLongAgo = INT64_MIN / 4;

void raise_limit(int64_t& limit, int64_t clock) { limit = std::max(limit, clock); }

}  // namespace

DramChannel::DramChannel(const DramDevice& device)
    : t_(device.t),
      burst_(device.burst_clocks),
      banks_a_group_(static_cast<int>(device.banks)),
      two_buses_(device.two_command_buses),
      banks_(static_cast<size_t>(device.all_banks())),
      groups_(static_cast<size_t>(device.bank_groups)) {
  for (size_t i = 0; i < banks_.size(); ++i) banks_[i].group = group_of(static_cast<int>(i));
  last_activates_.fill(kLongAgo);
}

int64_t DramChannel::earliest_clock(DramCommand command, int bank) const {
  switch (command) {
    case DramCommand::activate:
      return earliest_activate(bank);
    case DramCommand::precharge:
      return earliest_precharge(bank);
    case DramCommand::precharge_all: {
      int64_t clock = row_bus_ + t_.pre_slots - 1;
      for (const Bank& each : banks_) {
        if (each.row != kClosed) raise_limit(clock, each.precharge);
      }
      return clock;
    }
    case DramCommand::read:
      return earliest_column(false, bank);
    case DramCommand::write:
      return earliest_column(true, bank);
    case DramCommand::refresh:
      return std::max(refresh_, row_bus_ + t_.pre_slots - 1);
  }
  return 0;
}

bool DramChannel::right_state(DramCommand command, int bank) const {
  switch (command) {
    case DramCommand::activate:
      return open_row(bank) == kClosed;
    case DramCommand::refresh:
      return all_closed();
    case DramCommand::precharge_all:
      return true;
    default:
      return open_row(bank) != kClosed;
  }
}

bool DramChannel::can_issue(DramCommand command, int bank, int64_t clock) const {
  return right_state(command, bank) && clock >= earliest_clock(command, bank);
}

void DramChannel::issue(DramCommand command, int bank, int64_t row, int64_t clock) {
  check(can_issue(command, bank, clock), "a DRAM command breaks a timing rule");
  const bool column = command == DramCommand::read || command == DramCommand::write;
  if (column || !two_buses_) raise_limit(column_bus_, clock + 1);
  if (!column || !two_buses_) raise_limit(row_bus_, clock + 1);
  Bank& b = banks_[static_cast<size_t>(bank)];
  Group& group = groups_[banks_[static_cast<size_t>(bank)].group];
  const auto close = [&](Bank& closed, int64_t rp) {
    closed.row = kClosed;
    raise_limit(closed.activate, clock + rp);
    raise_limit(refresh_, clock + rp);
  };
  switch (command) {
    case DramCommand::activate:
      note_activate(b, group, row, clock);
      break;
    case DramCommand::precharge:
      close(b, t_.rp);
      --open_;
      break;
    case DramCommand::precharge_all:
      for (Bank& each : banks_) close(each, t_.rp_all);
      open_ = 0;
      break;
    case DramCommand::read:
      read_or_written(b, group, false, clock);
      break;
    case DramCommand::write:
      read_or_written(b, group, true, clock);
      break;
    case DramCommand::refresh:
      raise_limit(activate_, clock + t_.rfc);
      raise_limit(refresh_, clock + t_.rfc);
      break;
  }
}

void DramChannel::note_activate(Bank& bank, Group& group, int64_t row, int64_t clock) {
  bank.row = row;
  ++open_;
  raise_limit(bank.column, clock + t_.rcd);
  raise_limit(bank.precharge, clock + t_.ras);
  raise_limit(bank.activate, clock + t_.rc);
  raise_limit(group.activate, clock + t_.rrd_l);
  raise_limit(activate_, clock + t_.rrd_s);
  raise_limit(refresh_, clock + t_.rc);
  last_activates_[oldest_activate_] = clock;
  oldest_activate_ = (oldest_activate_ + 1) % last_activates_.size();
}

void DramChannel::read_or_written(Bank& bank, Group& group, bool write, int64_t clock) {
  const int64_t next = std::max(t_.ccd_s, burst_), next_in_group = std::max(t_.ccd_l, burst_);
  if (write) {
    const int64_t end = clock + t_.cwl + burst_;
    raise_limit(write_, clock + next);
    raise_limit(group.write, clock + next_in_group);
    raise_limit(read_, end + t_.wtr_s);
    raise_limit(group.read, end + t_.wtr_l);
    raise_limit(bank.precharge, end + t_.wr);
  } else {
    raise_limit(read_, clock + next);
    raise_limit(group.read, clock + next_in_group);
    raise_limit(write_, clock + t_.rtw);
    raise_limit(bank.precharge, clock + t_.rtp);
  }
}

}  // namespace accsim::hw
