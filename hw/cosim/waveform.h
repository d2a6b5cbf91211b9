#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hw/timing/timing.h"

namespace accsim::hw {

/// What waveforms a co-simulation writes.
struct WaveformOptions {
  std::filesystem::path file;  ///< FST; empty: none
  /// Of these commands only, counted in the text's order. Waveforms go from the cycle in which the
  /// first command starts, by the timing model, to the cycle in which the last has retired.
  /// Nothing: of all cycles, reset included.
  struct Commands {
    int64_t first = 0, end = 0;
  };
  std::optional<Commands> of = std::nullopt;
  int64_t most_bytes = INT64_MAX;  ///< no more cycles are written once the file has about so many
  /// Takes the signals that the file has, with scopes and ranges, of a run that fails, too.
  std::vector<std::string>* signals = nullptr;
};

/// What of them has been written.
struct Waveform {
  int64_t first = -1, last = -1;  ///< cycles of the program; -1: none
  uint64_t time = 0;              ///< in the file, of the first; a cycle has two steps
  bool complete = true;           ///< false: the file has reached its limit
};

/// Decides cycle by cycle whether it is written.
class WaveformWindow {
 public:
  explicit WaveformWindow(const WaveformOptions& options) : options_(options) {}

  /// Is the reset written?
  bool from_reset() const { return !options_.of; }
  /// The model's next command, in the text's order.
  void expect_command(const CommandTime& t);
  /// Before a cycle, the reset's cycles being negative: is it written?
  bool should_write(int64_t cycle);
  /// Behind a cycle that was written, which began at a time of the file.
  void note_written(int64_t cycle, uint64_t time);
  /// A queue's n-th command has retired.
  void note_retired(Queue queue, int64_t ordinal);
  const Waveform& written() const { return written_; }

 private:
  static constexpr int64_t kSizeCycles = 256;  ///< from one look at the file's size to the next

  const WaveformOptions& options_;
  Waveform written_;
  int64_t commands_ = 0;  ///< of the text so far
  int64_t begin_ = INT64_MAX;
  int64_t left_ = 0;  ///< commands that haven't retired
  struct Range {
    int64_t first = INT64_MAX, end = 0;
  };
  PerQueue<int64_t> ordinals_{};  ///< commands so far
  PerQueue<Range> ranges_{};      ///< of the commands' ordinals
};

}  // namespace accsim::hw
