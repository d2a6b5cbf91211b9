#include "sim/base/threads.h"

#include <new>
#include <system_error>
#include <utility>

namespace accsim {

std::thread start_thread(std::function<void()> work) { return std::thread(std::move(work)); }

Threads::Threads(int count, std::function<void(int)> work, const ThreadStarter& start,
                 std::function<bool()> prepare)
    : work_(std::move(work)), prepare_(std::move(prepare)) {
  if (count <= 0) return;
  threads_.reserve(static_cast<size_t>(count));
  bool refused = false;
  try {
    for (int i = 0; i < count; ++i) threads_.push_back(start([this, i] { serve(i); }));
  } catch (const std::system_error&) {
    refused = true;
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  const size_t kept = refused ? (threads_.size() + 1) / 2 : threads_.size();
  {
    const std::lock_guard lock(mutex_);
    begin_ = static_cast<int>(kept);
  }
  opened_.notify_all();
  for (size_t i = kept; i < threads_.size(); ++i) threads_[i].join();
  threads_.resize(kept);
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [this] { return prepared_ == begin_; });
}

/// Prepares a thread, and waits for the others to have done so.
bool Threads::begins(int index) {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [this] { return begin_ >= 0; });
  if (index >= begin_) return false;
  bool ready = false;
  try {
    ready = !prepare_ || prepare_();
  } catch (...) {
    ready = false;  // it is given back: others do the work
  }
  working_ += static_cast<int>(ready);
  ++prepared_;
  opened_.notify_all();
  if (ready) opened_.wait(lock, [this] { return prepared_ == begin_; });
  return ready;
}

void Threads::serve(int index) {
  if (!begins(index)) return;
  try {
    work_(index);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Threads::wait() {
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

Threads::~Threads() { wait(); }

void Threads::join() {
  wait();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace accsim
