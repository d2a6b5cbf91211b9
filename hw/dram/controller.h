#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/dram/address.h"
#include "hw/dram/channel.h"

namespace accsim {

/// Requests that a controller holds. DRAMsim3's files have 32 transactions in each direction and
/// eight commands in front of each bank, so that a stream of reads sees 40 requests ahead. Writes
/// are served 32 at a time, of a queue twice as deep: the batch's last ones then don't wait for a
/// single bank.
inline constexpr size_t kDramReadQueue = 40, kDramWriteQueue = 64, kDramBatch = 32;
/// So many writes before the bus is turned round, rows are opened for the other direction first.
inline constexpr size_t kDramAhead = 8;
/// Writes that are worth turning the bus round for when there are no reads.
inline constexpr size_t kDramDrain = 8;

/// A command as it was issued.
struct DramEvent {
  int channel = 0;
  DramCommand command = DramCommand::activate;
  int bank = 0;
  int64_t row = 0;
  int64_t clock = 0;
};
using DramObserver = std::function<void(const DramEvent&)>;

struct DramCounts {
  int64_t reads = 0, writes = 0, activates = 0, precharges = 0, refreshes = 0;
};

/// The memory controller of one channel: first ready, first come first served (FR-FCFS), open page.
///
/// - Reads and writes wait in queues of their own. Reads are served until the write queue is full
///   (or there are no reads and kDramDrain writes, or nothing else is coming); then a batch of
///   kDramBatch writes is.
/// - The bus is about to turn when the write queue lacks kDramAhead of being full or the batch has
///   as many writes left: then rows are opened for the other queue first, except in banks whose
///   open row the served queue wants, and the bus is turned as soon as the served queue has no open
///   row left. So activates flow on from one direction to the other.
/// - Of the queue that is served, the command that can be issued first is; at the same clock reads
///   and writes before activates before precharges, then the older request. A bank works for its
///   oldest request, but requests to its open row pass others.
/// - A row is closed when a request wants another one and no request of the queue wants the open
///   one, or when the request that wants the other one is the oldest of the queue.
/// - Otherwise rows are opened ahead for the queue that isn't served in banks that the served one
///   doesn't want.
/// - A refresh is due every tREFI: from then on nothing else is begun, all banks are precharged and
///   refreshed. Refreshes are never postponed.
class DramController {
 public:
  DramController(const DramDevice& device, int index);

  bool accepts(bool write) const {
    return queue(write).size() < (write ? kDramWriteQueue : kDramReadQueue);
  }
  /// `clock`: when the request arrives; never decreases. accepts() must be true.
  void add(const DramPlace& place, bool write, int64_t clock);
  /// No more requests will come: writes needn't wait for others.
  void finish();

  /// The clock of the next command; empty when there is nothing to do.
  std::optional<int64_t> next();
  /// Issues that command. True when it was a read or write, so that a place in a queue is free.
  bool step(const DramObserver& observer);

  /// The clock after the last data.
  int64_t end() const { return end_; }
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
  const std::vector<Request>& queue(bool write) const { return write ? writes_ : reads_; }
  void turn();
  bool turning() const;
  Choice choose_column(const std::vector<Request>& requests, uint64_t& hits) const;
  uint64_t choose_row(const std::vector<Request>& requests, uint64_t hits, uint64_t taken,
                      Choice& best) const;
  uint64_t hits_of(const std::vector<Request>& requests) const;
  Choice choose();
  void count(const Choice& choice);

  DramDevice device_;
  DramChannel channel_;
  int index_;
  std::vector<Request> reads_, writes_;
  bool finishing_ = false;
  size_t draining_ = 0;  ///< writes left of the batch; 0: reads are served
  int64_t refresh_due_, end_ = 0;
  int64_t now_ = 0;  ///< of the last command: with two command buses the other one may lag behind
  std::optional<Choice> chosen_;
  DramCounts counts_;
};

}  // namespace accsim
