#include "hw/dram/controller.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::hw {

DramBatch dram_batch(double write_share) {
  const double reads = 1 - write_share;
  if (reads <= 0 || write_share <= 0) return {kDramLeastBatch, kDramLeastBatch};
  return {kDramLeastBatch * std::max(1.0, reads / write_share),
          kDramLeastBatch * std::max(1.0, write_share / reads)};
}

DramController::DramController(const DramDevice& device, int index, double write_share)
    : device_(device),
      channel_(device),
      index_(index),
      batch_(dram_batch(write_share)),
      left_(batch_.reads),
      refresh_due_(device.t.refi) {
  check(device.all_banks() <= 64, "banks are kept in a 64-bit mask");
  reads_.reserve(kDramReadQueue);
  writes_.reserve(kDramWriteQueue);
}

void DramController::add_request(const DramPlace& place, bool write, int64_t clock) {
  check(accepts(write), "a DRAM request needs a free place in the queue");
  (write ? writes_ : reads_).push_back({place.row, clock, place.bank});
  chosen_.reset();
}

void DramController::end_requests() {
  finishing_ = true;
  chosen_.reset();
}

std::optional<int64_t> DramController::next_clock() {
  if (!chosen_) chosen_ = choose_command();
  if (chosen_->clock == INT64_MAX) return std::nullopt;
  return chosen_->clock;
}

/// Whether the bus will soon be turned round: rows are opened for the other queue first.
bool DramController::is_turning() const {
  return left_ <= kDramAhead && !queue_of_direction(!writing_).empty();
}

/// Decides which queue is served.
void DramController::choose_direction() {
  const auto& served = queue_of_direction(writing_);
  const auto& other = queue_of_direction(!writing_);
  if (other.empty()) return;
  const bool idle = served.empty() && (finishing_ || other.size() >= kDramDrain);
  const bool over = is_turning() && (left_ <= -kDramAhead || hits_of(served) == 0);
  if (!idle && !over) return;
  if (idle) left_ = 0;
  writing_ = !writing_;
  std::swap(left_, left_other_);
  left_ += writing_ ? batch_.writes : batch_.reads;
}

DramController::Choice DramController::choose_column(const std::vector<Request>& requests,
                                                     uint64_t& hits) const {
  Choice best;
  const DramCommand command = writing_ ? DramCommand::write : DramCommand::read;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& r = requests[i];
    const uint64_t bit = uint64_t{1} << r.bank;
    if ((hits & bit) != 0 || channel_.open_row(r.bank) != r.row) continue;
    hits |= bit;
    const int64_t clock = std::max({channel_.earliest_column(writing_, r.bank), r.arrival, now_});
    if (clock < best.clock) best = {clock, command, r.bank, r.row, i};
  }
  return best;
}

/// Betters `best` by an activate or precharge for `requests`, in banks that aren't `taken`; `hits`:
/// banks whose open row one of them wants. Returns the banks that they want.
uint64_t DramController::choose_rows(const std::vector<Request>& requests, uint64_t hits,
                                     uint64_t taken, Rows& best) const {
  uint64_t seen = taken;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& r = requests[i];
    const uint64_t bit = uint64_t{1} << r.bank;
    if ((seen & bit) != 0) continue;
    seen |= bit;
    const int64_t open = channel_.open_row(r.bank);
    if (open == r.row) continue;
    const bool closed = open == DramChannel::kClosed;
    if (!closed && (hits & bit) != 0 && i > 0) continue;
    const DramCommand command = closed ? DramCommand::activate : DramCommand::precharge;
    const int64_t free =
        closed ? channel_.earliest_activate(r.bank) : channel_.earliest_precharge(r.bank);
    const int64_t clock = std::max({free, r.arrival, now_});
    Choice& least = closed ? best.activate : best.precharge;
    if (clock < least.clock) least = {clock, command, r.bank, r.row, i};
  }
  return seen;
}

/// The activate or precharge that comes first.
DramController::Choice DramController::choose_row(uint64_t hits) const {
  const auto& served = queue_of_direction(writing_);
  const auto& others = queue_of_direction(!writing_);
  Rows rows;
  if (is_turning()) {
    const uint64_t wanted = choose_rows(others, hits_of(others), hits, rows);
    choose_rows(served, hits, wanted, rows);
  } else {
    const uint64_t wanted = choose_rows(served, hits, 0, rows);
    if (!others.empty()) choose_rows(others, hits_of(others), wanted, rows);
  }
  const bool delays = rows.precharge.clock > rows.activate.clock - device_.t.act_slots;
  return rows.activate.clock != INT64_MAX && delays ? rows.activate : rows.precharge;
}

uint64_t DramController::hits_of(const std::vector<Request>& requests) const {
  uint64_t hits = 0;
  for (const Request& r : requests) hits |= uint64_t{channel_.open_row(r.bank) == r.row} << r.bank;
  return hits;
}

DramController::Choice DramController::choose_command() {
  choose_direction();
  uint64_t hits = 0;
  Choice best = choose_column(queue_of_direction(writing_), hits);
  if (best.clock > now_ + (device_.two_command_buses ? 0 : 1)) {  // else nothing can be earlier
    const Choice row = choose_row(hits);
    const int64_t slots = device_.two_command_buses ? 1 : device_.t.cas_slots;
    if (best.clock == INT64_MAX || row.clock <= best.clock - slots) best = row;
  }
  if (best.clock < refresh_due_ || best.clock == INT64_MAX) return best;
  const DramCommand command =
      channel_.all_closed() ? DramCommand::refresh : DramCommand::precharge_all;
  return {std::max({channel_.earliest_clock(command, 0), refresh_due_, now_}), command, 0, 0, 0};
}

void DramController::count_command(const Choice& choice) {
  const int64_t data = choice.clock + device_.burst_clocks;
  switch (choice.command) {
    case DramCommand::activate:
      ++counts_.activates;
      break;
    case DramCommand::precharge:
    case DramCommand::precharge_all:
      ++counts_.precharges;
      break;
    case DramCommand::refresh:
      ++counts_.refreshes;
      break;
    case DramCommand::read:
      ++counts_.reads;
      end_ = std::max(end_, data + device_.t.cl);
      break;
    case DramCommand::write:
      ++counts_.writes;
      end_ = std::max(end_, data + device_.t.cwl);
      break;
  }
}

bool DramController::issue_next(const DramObserver& observer) {
  check(next_clock().has_value(), "a DRAM controller with nothing to do can't step");
  const Choice choice = *chosen_;
  chosen_.reset();
  now_ = choice.clock;
  channel_.issue(choice.command, choice.bank, choice.row, choice.clock);
  count_command(choice);
  if (observer) observer({index_, choice.command, choice.bank, choice.row, choice.clock});
  if (choice.command == DramCommand::refresh) refresh_due_ += device_.t.refi;
  const bool write = choice.command == DramCommand::write;
  if (!write && choice.command != DramCommand::read) return false;
  auto& requests = write ? writes_ : reads_;
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(choice.request));
  left_ -= 1;
  return true;
}

}  // namespace accsim::hw
