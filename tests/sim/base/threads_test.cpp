#include "sim/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace accsim {
namespace {

/// Gives `most` threads, then throws as the system would.
template <class Exception>
ThreadStarter short_of_threads(int most, const Exception& exception) {
  return [given = 0, most, exception](std::function<void()> work) mutable {
    if (given++ == most) throw exception;
    return std::thread(std::move(work));
  };
}

const std::system_error kTryAgain(std::make_error_code(std::errc::resource_unavailable_try_again));

TEST(Threads, IsEveryNumberCalledOnce) {
  for (const int count : {-1, 0, 1, 7}) {
    std::mutex mutex;
    std::multiset<int> called;
    Threads threads(count, [&](int i) {
      const std::lock_guard lock(mutex);
      called.insert(i);
    });
    threads.join();
    std::multiset<int> wanted;
    for (int i = 0; i < count; ++i) wanted.insert(i);
    EXPECT_EQ(called, wanted);
    EXPECT_EQ(threads.count(), static_cast<int>(wanted.size()));
  }
}

TEST(Threads, DoFewerDoTheWorkWhenTheSystemHasNoMore) {
  for (int given = 0; given < 6; ++given)
    for (const bool memory : {false, true}) {
      std::atomic<int> calls{0};
      const auto work = [&](int) { ++calls; };
      const ThreadStarter start =
          memory ? short_of_threads(given, std::bad_alloc()) : short_of_threads(given, kTryAgain);
      Threads threads(6, work, start);
      // Half of them gave their stacks back.
      EXPECT_EQ(threads.count(), (given + 1) / 2);
      threads.join();
      EXPECT_EQ(calls, (given + 1) / 2);
    }
}

TEST(Threads, DoAllPrepareOneByOneBeforeAnyBegins) {
  std::atomic<int> preparing{0}, prepared{0}, calls{0};
  std::atomic<bool> alone{true}, before{true};
  const auto prepare = [&] {
    if (++preparing != 1) alone = false;
    if (calls > 0) before = false;
    std::this_thread::yield();
    --preparing;
    ++prepared;
    return true;
  };
  const auto work = [&](int) {
    if (prepared != 6) before = false;
    ++calls;
  };
  Threads threads(6, work, start_thread, prepare);
  EXPECT_EQ(prepared, 6);  // so that who started them may go on, too
  EXPECT_EQ(threads.count(), 6);
  threads.join();
  EXPECT_EQ(calls, 6);
  EXPECT_TRUE(alone);
  EXPECT_TRUE(before);
}

TEST(Threads, DoThoseThatCannotPrepareNotBegin) {
  for (const bool throws : {false, true}) {
    std::atomic<int> calls{0};
    const auto prepare = [&, n = 0]() mutable {
      if (++n % 3 != 0) return true;
      if (throws) throw std::bad_alloc();
      return false;
    };
    Threads threads(
        7, [&](int) { ++calls; }, start_thread, prepare);
    EXPECT_EQ(threads.count(), 5);  // without the third and the sixth
    threads.join();
    EXPECT_EQ(calls, 5);
  }
}

/// What ends may take memory, which who prepares counts on.
TEST(Threads, HaveThoseGivenBackEndedBeforeTheNextPrepares) {
  std::atomic<int> ended{0};
  const auto start = [&, given = 0](std::function<void()> work) mutable {
    if (given++ == 6) throw std::system_error(std::make_error_code(std::errc::not_enough_memory));
    return std::thread([&ended, work = std::move(work)] {
      work();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++ended;
    });
  };
  std::vector<int> ended_before;
  const auto prepare = [&] {
    ended_before.push_back(ended);
    return ended_before.size() != 2;
  };
  Threads threads(
      8, [](int) {}, start, prepare);
  EXPECT_EQ(threads.count(), 2);
  EXPECT_EQ(ended_before, (std::vector<int>{3, 3, 4}));  // of six three are kept, of them two
}

TEST(Threads, IsAnExceptionOfTheWorkThrownByJoin) {
  std::atomic<int> calls{0};
  Threads threads(4, [&](int i) {
    ++calls;
    if (i == 2) throw std::runtime_error("two");
  });
  EXPECT_THROW(threads.join(), std::runtime_error);
  EXPECT_EQ(calls, 4);
  threads.join();  // thrown once
}

}  // namespace
}  // namespace accsim
