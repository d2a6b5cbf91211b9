#include "sim/ref/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace accsim::sim::ref {
namespace {

/// Gives `most` threads, then none.
ThreadStarter at_most(int most) {
  return [given = 0, most](std::function<void()> work) mutable {
    if (given++ == most)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(work));
  };
}

/// Squares of [0, count), each written by the part that has it.
std::vector<int64_t> squares(ThreadPool& pool, int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count), -1);
  pool.parallel_for(count, 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[static_cast<size_t>(i)] = i * i;
  });
  return out;
}

TEST(ThreadPool, IsEveryIndexDoneOnceWithHoweverManyThreadsThereAre) {
  std::vector<int64_t> wanted(1000);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<int64_t>(i * i);
  for (int given = 0; given <= 8; ++given) {
    ThreadPool pool(9, at_most(given));
    EXPECT_EQ(pool.thread_count(), 1 + (given == 8 ? 8 : (given + 1) / 2));
    for (int round = 0; round < 20; ++round) ASSERT_EQ(squares(pool, 1000), wanted) << given;
  }
}

TEST(ThreadPool, IsAnExceptionOfAPartThrownWhenNoPartRuns) {
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> running{0};
    const auto failing = [&](int64_t begin, int64_t) {
      ++running;
      if (begin == 0) {
        --running;
        throw std::runtime_error("first part");
      }
      std::this_thread::yield();
      --running;
    };
    EXPECT_THROW(pool.parallel_for(1000, 1, failing), std::runtime_error);
    EXPECT_EQ(running, 0);
    EXPECT_EQ(squares(pool, 100).back(), 99 * 99);  // and the pool is as good as before
  }
}

}  // namespace
}  // namespace accsim::sim::ref
