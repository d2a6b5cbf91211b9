#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace accsim {

/// Starts one thread; throws std::system_error or std::bad_alloc when the system has none to give.
using ThreadStarter = std::function<std::thread(std::function<void()>)>;
/// The system's own starter: a std::thread that runs `work`.
std::thread start_thread(std::function<void()> work);

/// Threads that each call one function once. There may be fewer than were asked for, down to none:
/// a system short of threads or memory is no reason to stop, as long as any number of them can do
/// the work.
class Threads {
 public:
  /// Calls work(0), work(1), ... in up to `count` threads. None of them begins before it is known
  /// how many there are; when the system refuses one, half of those that it gave are given back, so
  /// that their stacks don't take the memory that the work needs.
  Threads(int count, std::function<void(int)> work, const ThreadStarter& start = start_thread);
  /// Waits for all of them.
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return static_cast<int>(threads_.size()); }
  /// Waits for all of them, and throws the first exception that left the work.
  void join();

 private:
  void serve(int index);
  void wait();

  std::function<void(int)> work_;
  std::mutex mutex_;
  std::condition_variable opened_;
  int begin_ = -1;  ///< threads below this begin; -1: not decided
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace accsim
