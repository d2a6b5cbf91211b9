#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace accsim::python {

/// Whether this is the thread to which Python delivers signals.
bool on_main_thread();

/// Threads that compute() has left behind. At Python's exit they are waited for, since what they
/// use goes then; a signal ends the wait and the process.
class LeftBehind {
 public:
  static void add();
  static void remove();  ///< may come before the thread's add()
  static void wait_at_exit();
};

/// A computation that runs beside the thread that asked for it.
template <class T>
class Job {
 public:
  const std::atomic<bool>& stop() const { return stop_; }
  void ask_to_stop() { stop_ = true; }

  template <class F>
  void run(F& work) {
    std::optional<T> value;
    std::exception_ptr failure;
    try {
      value.emplace(work(stop_));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
    failure_ = failure;
    done_ = true;
    changed_.notify_all();
  }

  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return done_; });
  }

  T take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stop_{false};
  bool done_ = false;
  std::optional<T> value_;
  std::exception_ptr failure_;
};

/// work(stop) without the GIL. On the main thread it can be interrupted: KeyboardInterrupt is
/// raised at once, and the work, which is told to stop, ends by itself. So `work` owns all that it
/// uses, and none of it is Python's.
template <class F>
auto compute(F work) {
  using T = std::invoke_result_t<F&, const std::atomic<bool>&>;
  if (!on_main_thread()) {
    const nanobind::gil_scoped_release released;
    const std::atomic<bool> never{false};
    return work(never);
  }
  const auto job = std::make_shared<Job<T>>();
  std::thread worker([job = job, work = std::optional<F>(std::move(work))]() mutable {
    job->run(*work);
    work.reset();
    job.reset();
    LeftBehind::remove();
  });
  LeftBehind::add();
  worker.detach();
  while (true) {
    {
      const nanobind::gil_scoped_release released;
      if (job->wait(std::chrono::milliseconds(20))) break;
    }
    if (PyErr_CheckSignals() != 0) {
      job->ask_to_stop();
      throw nanobind::python_error();
    }
  }
  return job->take();
}

}  // namespace accsim::python
