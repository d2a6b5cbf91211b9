#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace accsim {

/// Starts one thread; throws std::system_error or std::bad_alloc when the system has none to give.
using ThreadStarter = std::function<std::thread(std::function<void()>)>;
/// The system's own starter: a std::thread that runs `work`.
std::thread start_thread(std::function<void()> work);

/// Threads that each call one function once. There may be fewer than were asked for, down to none.
/// A system short of threads or memory is no reason to stop, as any number of them can do the
/// work.
class Threads {
 public:
  /// Calls work(0), work(1), ... in up to `count` threads. None begins before their number is
  /// known. If the system refuses a thread, half of those that it gave are given back, so that
  /// their stacks don't take the memory that the work needs. `prepare`, if there is one, is called
  /// by each thread before any begins, one thread at a time. A thread in which it says false, or
  /// throws, is given back, too. A thread that is given back has ended before the next one
  /// prepares: its end may take memory (the C library's arena of a thread).
  Threads(int count, std::function<void(int)> work, const ThreadStarter& start = start_thread,
          std::function<bool()> prepare = nullptr);
  /// Waits for all of them.
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return working_; }
  /// Waits for all of them, and throws the first exception that left the work.
  void join();

 private:
  /// What a thread may do so far.
  struct Gate {
    int kept = std::numeric_limits<int>::max();  ///< threads from this on are given back
    int preparing = -1;                          ///< whose turn it is
    bool open = false;                           ///< all may begin
  };
  int start_all(int count, const ThreadStarter& start);
  void keep_first(int kept);
  bool let_prepare(int index);
  void serve_thread(int index);
  bool wait_to_begin(int index);
  void wait_for_all();

  std::function<void(int)> work_;
  std::function<bool()> prepare_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Gate gate_;
  bool ready_ = false;  ///< the thread that has prepared last may work
  int working_ = 0;     ///< threads that work
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace accsim
