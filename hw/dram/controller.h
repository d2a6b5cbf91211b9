#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/channel.h"

namespace accsim::hw {

/// Requests that a controller holds. DRAMsim3's files have 32 transactions in each direction and
/// eight commands in front of each bank, so that a stream of reads sees 40 requests ahead. Writes,
/// which nobody waits for, have a deeper queue.
inline constexpr size_t kDramReadQueue = 40, kDramWriteQueue = 64;
/// Requests of one direction served in a row, at least.
inline constexpr double kDramLeastBatch = 32;
/// Requests before the end of a batch from which on rows are opened for the other direction first,
/// and requests beyond it that may be served to use up open rows.
inline constexpr double kDramAhead = 6;
/// Requests that are worth turning the bus round for when there are none in the other direction.
inline constexpr size_t kDramDrain = 8;

/// Requests served in a row, by direction: in the ratio of the traffic, the fewer of them
/// kDramLeastBatch.
struct DramBatch {
  double reads, writes;
};
/// The batches of a traffic of which `write_share` (0 .. 1) are writes.
DramBatch dram_batch(double write_share);

/// A command as it was issued.
struct DramEvent {
  int channel = 0;
  DramCommand command = DramCommand::activate;
  int bank = 0;
  int64_t row = 0;
  int64_t clock = 0;
};
/// Told of every command when it is issued.
using DramObserver = std::function<void(const DramEvent&)>;

/// Commands issued so far; a precharge of all banks counts as one.
struct DramCounts {
  int64_t reads = 0, writes = 0, activates = 0, precharges = 0, refreshes = 0;
};

/// The memory controller of one channel: first ready, first come first served (FR-FCFS), open page.
///
/// - Reads and writes wait in queues of their own and are served in batches (dram_batch). When
///   nothing waits in one direction the other one goes on, and kDramDrain requests are worth
///   turning the bus round for.
/// - The bus is about to turn when kDramAhead requests are left of a batch: then rows are opened
///   for the other queue first, except in banks whose open row the served queue wants. It turns as
///   soon as the served queue has no open row left, so that rows aren't given up half used, at the
///   latest when kDramAhead requests more have been served; the next batch is so much shorter or
///   longer.
/// - Of the queue that is served, the command that can be issued first is. On one command bus a
///   column command goes before an activate, and an activate before a precharge, that would delay
///   it. Then the older request goes first. A bank works for its oldest request, but requests to
///   its open row pass others.
/// - A row is closed when a request wants another one and no request of the queue wants the open
///   one, or when the request that wants the other one is the oldest of the queue.
/// - Otherwise rows are opened ahead for the queue that isn't served in banks that the served one
///   doesn't want.
/// - A refresh is due every tREFI: from then on nothing else is begun, all banks are precharged and
///   refreshed. Refreshes are never postponed.
class DramController {
 public:
  /// `write_share`: of the requests to come, what batches are divided by.
  DramController(const DramDevice& device, int index, double write_share);

  bool accepts(bool write) const {
    return queue_of_direction(write).size() < (write ? kDramWriteQueue : kDramReadQueue);
  }
  /// `clock`: when the request arrives; never decreases. accepts() must be true.
  void add_request(const DramPlace& place, bool write, int64_t clock);
  /// No more requests will come: writes needn't wait for others.
  void end_requests();

  /// The clock of the next command; empty when there is nothing to do.
  std::optional<int64_t> next_clock();
  /// Issues that command. True when it was a read or write, so that a place in a queue is free.
  bool issue_next(const DramObserver& observer);

  /// The clock after the last data.
  int64_t end_clock() const { return end_; }
  const DramCounts& counts() const { return counts_; }

 private:
  struct Request {
    int64_t row, arrival;
    int bank;
  };
  struct Choice {
    int64_t clock = INT64_MAX;
    DramCommand command = DramCommand::refresh;
    int bank = 0;
    int64_t row = 0;
    size_t request = 0;
  };
  struct Rows {
    Choice activate, precharge;
  };
  const std::vector<Request>& queue_of_direction(bool write) const {
    return write ? writes_ : reads_;
  }
  void choose_direction();
  bool is_turning() const;
  Choice choose_column(const std::vector<Request>& requests, uint64_t& hits) const;
  uint64_t choose_rows(const std::vector<Request>& requests, uint64_t hits, uint64_t taken,
                       Rows& best) const;
  Choice choose_row(uint64_t hits) const;
  uint64_t hits_of(const std::vector<Request>& requests) const;
  Choice choose_command();
  void count_command(const Choice& choice);

  DramDevice device_;
  DramChannel channel_;
  int index_;
  std::vector<Request> reads_, writes_;
  bool finishing_ = false;
  bool writing_ = false;  ///< the direction that is served
  DramBatch batch_;
  double left_ = 0,
         left_other_ = 0;  ///< requests until the bus is turned; owed to the other direction
  int64_t refresh_due_, end_ = 0;
  int64_t now_ = 0;  ///< of the last command: with two command buses the other one may lag behind
  std::optional<Choice> chosen_;
  DramCounts counts_;
};

}  // namespace accsim::hw
