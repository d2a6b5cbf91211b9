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
  const int started = start_all(count, start);
  keep_first(started < count ? (started + 1) / 2 : started);
  for (int i = 0; i < gate_.kept; ++i) working_ += static_cast<int>(let_prepare(i));
  const std::lock_guard lock(mutex_);
  gate_.open = true;
  changed_.notify_all();
}

/// Starts as many threads as the system gives, and says how many.
int Threads::start_all(int count, const ThreadStarter& start) {
  threads_.reserve(static_cast<size_t>(count));
  int given = 0;
  try {
    for (; given < count; ++given)
      threads_.push_back(start([this, index = given] { serve_thread(index); }));
  } catch (const std::system_error&) {
    return given;
  } catch (const std::bad_alloc&) {
    return given;
  }
  return given;
}

/// Gives all others back.
void Threads::keep_first(int kept) {
  {
    const std::lock_guard lock(mutex_);
    gate_.kept = kept;
  }
  changed_.notify_all();
  for (size_t i = static_cast<size_t>(kept); i < threads_.size(); ++i) threads_[i].join();
  threads_.resize(static_cast<size_t>(kept));
}

/// Lets one thread prepare; gives it back, and says false, when it can't.
bool Threads::let_prepare(int index) {
  if (!prepare_) return true;
  {
    std::unique_lock lock(mutex_);
    gate_.preparing = index;
    changed_.notify_all();
    changed_.wait(lock, [this] { return gate_.preparing < 0; });
  }
  if (!ready_) threads_[static_cast<size_t>(index)].join();
  return ready_;
}

/// In a thread: prepares when it is its turn, and waits until all may begin; false when it is given
/// back.
bool Threads::wait_to_begin(int index) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return index >= gate_.kept || index == gate_.preparing || gate_.open; });
  if (index >= gate_.kept) return false;
  if (gate_.open) return true;
  try {
    ready_ = prepare_();
  } catch (...) {
    ready_ = false;  // others do the work
  }
  const bool ready = ready_;
  gate_.preparing = -1;
  changed_.notify_all();
  if (ready) changed_.wait(lock, [this] { return gate_.open; });
  return ready;
}

void Threads::serve_thread(int index) {
  if (!wait_to_begin(index)) return;
  try {
    work_(index);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Threads::wait_for_all() {
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

Threads::~Threads() { wait_for_all(); }

void Threads::join() {
  wait_for_all();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace accsim
