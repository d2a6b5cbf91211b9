#include "sim/ref/thread_pool.h"

#include <algorithm>
#include <utility>

namespace accsim::sim::ref {

ThreadPool::ThreadPool(int threads, const ThreadStarter& start)
    : workers_(
          threads - 1, [this](int) { serve_rounds(); }, start) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::take_parts(LoopPart work, int64_t count, int64_t step) {
  try {
    while (true) {
      int64_t begin = 0;
      {
        const std::lock_guard lock(mutex_);
        if (next_ >= count) return;
        begin = next_;
        next_ += step;
      }
      work(begin, std::min(begin + step, count));
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = count;
  }
}

void ThreadPool::serve_rounds() {
  uint64_t seen = 0;
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    if (work_ == nullptr) continue;  // woken after the round was over
    const auto* work = work_;
    const int64_t count = count_, step = step_;
    ++busy_;
    lock.unlock();
    take_parts(*work, count, step);
    lock.lock();
    if (--busy_ == 0) idle_.notify_all();
  }
}

void ThreadPool::parallel_for(int64_t count, int64_t grain, LoopPart work) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  bool alone = workers_.count() == 0 || count <= grain;
  if (!alone) {
    const std::lock_guard lock(mutex_);
    alone = inside_;
    if (!alone) {
      // A few parts a thread even out unequal speeds.
      const int64_t wanted = int64_t{4} * thread_count();
      work_ = &work;
      count_ = count;
      step_ = std::max(grain, (count + wanted - 1) / wanted);
      next_ = 0;
      inside_ = true;
      ++round_;
    }
  }
  if (alone) return work(0, count);
  wake_.notify_all();
  take_parts(work, count_, step_);
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  idle_.wait(lock, [&] { return busy_ == 0; });
  inside_ = false;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace accsim::sim::ref
