#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

#include "sim/base/function_ref.h"
#include "sim/base/threads.h"

namespace accsim::sim::ref {

/// A loop's body for the indices from begin to end, without end.
using LoopPart = FunctionRef<void(int64_t begin, int64_t end)>;

/// Threads that share out the index range of one loop at a time. Results never depend on how many
/// there are, as long as the loop's parts write different elements.
class ThreadPool {
 public:
  /// `threads` with the caller's own; fewer when the system has no more to give.
  explicit ThreadPool(int threads = 1, const ThreadStarter& start = start_thread);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int thread_count() const { return workers_.count() + 1; }
  /// Calls work(begin, end) for parts of [0, count) that are at least `grain` long (but for the
  /// last) and returns when all are done. Called from inside a part, it runs everything in place.
  /// An exception of a part ends the loop, and is thrown when no part is running any more.
  void parallel_for(int64_t count, int64_t grain, LoopPart work);

 private:
  void serve_rounds();
  /// Takes parts until none is left.
  void take_parts(LoopPart work, int64_t count, int64_t step);

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  const LoopPart* work_ = nullptr;
  int64_t count_ = 0, step_ = 1, next_ = 0;
  uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false, inside_ = false;
  std::exception_ptr failure_;  ///< of this round
  Threads workers_;             ///< the last: they use all of the above
};

}  // namespace accsim::sim::ref
