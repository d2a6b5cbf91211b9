#include "hw/dram/controller.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim {

DramController::DramController(const DramDevice& device, int index)
    : device_(device), channel_(device), index_(index), refresh_due_(device.t.refi) {
  check(device.all_banks() <= 64, "banks are kept in a 64-bit mask");
  reads_.reserve(kDramReadQueue);
  writes_.reserve(kDramWriteQueue);
}

void DramController::add(const DramPlace& place, bool write, int64_t clock) {
  check(accepts(write), "a DRAM request needs a free place in the queue");
  (write ? writes_ : reads_).push_back({place.row, clock, place.bank});
  chosen_.reset();
}

void DramController::finish() {
  finishing_ = true;
  chosen_.reset();
}

std::optional<int64_t> DramController::next() {
  if (!chosen_) chosen_ = choose();
  if (chosen_->clock == INT64_MAX) return std::nullopt;
  return chosen_->clock;
}

/// Whether the bus will soon be turned round: rows are opened for the other queue first.
bool DramController::turning() const {
  if (draining_ > 0) return draining_ <= kDramAhead && !reads_.empty();
  return writes_.size() + kDramAhead >= kDramWriteQueue;
}

/// Decides which queue is served.
void DramController::turn() {
  const bool stuck = turning() && hits_of(queue(draining_ > 0)) == 0;
  if (draining_ > 0) {
    if (stuck) draining_ = 0;
    return;
  }
  const bool full = writes_.size() == kDramWriteQueue;
  const bool idle = reads_.empty() && (finishing_ || writes_.size() >= kDramDrain);
  if (full || idle || stuck) draining_ = std::min(writes_.size(), kDramBatch);
}

DramController::Choice DramController::choose_column(const std::vector<Request>& requests,
                                                     uint64_t& hits) const {
  Choice best;
  const DramCommand command = draining_ > 0 ? DramCommand::write : DramCommand::read;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& r = requests[i];
    const uint64_t bit = uint64_t{1} << r.bank;
    if ((hits & bit) != 0 || channel_.open_row(r.bank) != r.row) continue;
    hits |= bit;
    const int64_t clock =
        std::max({channel_.earliest_column(draining_ > 0, r.bank), r.arrival, now_});
    if (clock < best.clock) best = {clock, command, r.bank, r.row, i};
  }
  return best;
}

/// Betters `best` by an activate or precharge for `requests`, in banks that aren't `taken`; `hits`:
/// banks whose open row one of them wants. Returns the banks that they want.
uint64_t DramController::choose_row(const std::vector<Request>& requests, uint64_t hits,
                                    uint64_t taken, Choice& best) const {
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
    const bool tie = clock == best.clock && command == DramCommand::activate &&
                     best.command == DramCommand::precharge;
    if (clock < best.clock || tie) best = {clock, command, r.bank, r.row, i};
  }
  return seen;
}

uint64_t DramController::hits_of(const std::vector<Request>& requests) const {
  uint64_t hits = 0;
  for (const Request& r : requests)
    hits |= uint64_t{channel_.open_row(r.bank) == r.row} << r.bank;
  return hits;
}

DramController::Choice DramController::choose() {
  turn();
  const auto& requests = queue(draining_ > 0);
  uint64_t hits = 0;
  Choice best = choose_column(requests, hits);
  if (best.clock > now_ + (device_.two_command_buses ? 0 : 1)) {  // else nothing can be earlier
    const auto& others = queue(draining_ == 0);
    if (turning()) {
      const uint64_t wanted = choose_row(others, hits_of(others), hits, best);
      choose_row(requests, hits, wanted, best);
    } else {
      const uint64_t wanted = choose_row(requests, hits, 0, best);
      if (!others.empty()) choose_row(others, hits_of(others), wanted, best);
    }
  }
  if (best.clock < refresh_due_ || best.clock == INT64_MAX) return best;
  const DramCommand command =
      channel_.all_closed() ? DramCommand::refresh : DramCommand::precharge_all;
  return {std::max({channel_.earliest(command, 0), refresh_due_, now_}), command, 0, 0, 0};
}

void DramController::count(const Choice& choice) {
  const int64_t data = choice.clock + device_.burst_clocks;
  switch (choice.command) {
    case DramCommand::activate: ++counts_.activates; break;
    case DramCommand::precharge:
    case DramCommand::precharge_all: ++counts_.precharges; break;
    case DramCommand::refresh: ++counts_.refreshes; break;
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

bool DramController::step(const DramObserver& observer) {
  check(next().has_value(), "a DRAM controller with nothing to do can't step");
  const Choice choice = *chosen_;
  chosen_.reset();
  now_ = choice.clock;
  channel_.issue(choice.command, choice.bank, choice.row, choice.clock);
  count(choice);
  if (observer) observer({index_, choice.command, choice.bank, choice.row, choice.clock});
  if (choice.command == DramCommand::refresh) refresh_due_ += device_.t.refi;
  const bool write = choice.command == DramCommand::write;
  if (!write && choice.command != DramCommand::read) return false;
  auto& requests = write ? writes_ : reads_;
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(choice.request));
  if (write) --draining_;
  return true;
}

}  // namespace accsim
