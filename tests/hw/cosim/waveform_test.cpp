#include "hw/cosim/waveform.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/rtl_variants.h"

namespace accsim::hw {
namespace {

/// Cycles that a window writes of the first `cycles`; each of these commands retires when it
/// finishes.
std::vector<int64_t> cycles_of(WaveformWindow& window, const std::vector<CommandTime>& commands,
                               int64_t cycles) {
  PerQueue<int64_t> next{};
  for (const CommandTime& c : commands) window.expect_command(c);
  std::vector<int64_t> out;
  for (int64_t cycle = 0; cycle < cycles; ++cycle) {
    if (window.should_write(cycle)) {
      out.push_back(cycle);
      window.note_written(cycle, static_cast<uint64_t>(2 * cycle + 10));
    }
    for (const CommandTime& c : commands)
      if (c.finish == cycle) window.note_retired(c.queue, next[c.queue]++);
  }
  return out;
}

/// In the text's order; the third and the fourth are the layer's.
const std::vector<CommandTime> kCommands = {{Queue::load, 0, 4},
                                            {Queue::execute, 5, 9},
                                            {Queue::load, 3, 7},
                                            {Queue::execute, 9, 12},
                                            {Queue::load, 6, 20}};

TEST(Waveform, HasTheCyclesOfTheCommands) {
  const WaveformOptions options{.file = "x.fst", .of = WaveformOptions::Commands{2, 4}};
  WaveformWindow window(options);
  EXPECT_FALSE(window.from_reset());
  EXPECT_EQ(cycles_of(window, kCommands, 30),
            (std::vector<int64_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(window.written().first, 3);
  EXPECT_EQ(window.written().last, 12);
  EXPECT_EQ(window.written().time, 16U);
  EXPECT_TRUE(window.written().complete);
}

TEST(Waveform, HasAllCyclesWhenNoneAreNamed) {
  const WaveformOptions options{.file = "x.fst"};
  WaveformWindow window(options);
  EXPECT_TRUE(window.from_reset());
  EXPECT_EQ(cycles_of(window, kCommands, 30).size(), 30U);
  const WaveformOptions none;
  WaveformWindow without(none);
  EXPECT_TRUE(cycles_of(without, kCommands, 30).empty());
}

TEST(Waveform, EndsWhenTheFileIsLargeEnough) {
  const std::filesystem::path file = test::beside_program("waveform_limit");
  const WaveformOptions options{.file = file, .most_bytes = 1000};
  std::ofstream(file) << std::string(999, 'x');
  WaveformWindow below(options);
  EXPECT_EQ(cycles_of(below, kCommands, 2000).size(), 2000U);
  std::ofstream(file) << std::string(1000, 'x');
  WaveformWindow at(options);
  EXPECT_TRUE(cycles_of(at, kCommands, 2000).empty());
  EXPECT_FALSE(at.written().complete);
}

}  // namespace
}  // namespace accsim::hw
