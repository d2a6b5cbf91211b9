#include "hw/cosim/waveform.h"

#include <algorithm>
#include <system_error>

namespace accsim::hw {

void WaveformWindow::expect_command(const CommandTime& t) {
  const Queue q = t.queue;
  const int64_t number = commands_++, ordinal = ordinals_[q]++;
  if (!options_.of || number < options_.of->first || number >= options_.of->end) return;
  begin_ = std::min(begin_, t.start);
  ranges_[q].first = std::min(ranges_[q].first, ordinal);
  ranges_[q].end = ordinal + 1;
  ++left_;
}

bool WaveformWindow::should_write(int64_t cycle) {
  if (options_.file.empty() || !written_.complete) return false;
  if (options_.of && (cycle < begin_ || left_ == 0)) return false;
  if (cycle % kSizeCycles != 0) return true;
  std::error_code error;  // without a file there is no size yet
  const auto size = std::filesystem::file_size(options_.file, error);
  written_.complete = error || static_cast<int64_t>(size) < options_.most_bytes;
  return written_.complete;
}

void WaveformWindow::note_written(int64_t cycle, uint64_t time) {
  if (cycle < 0) return;
  if (written_.first < 0) {
    written_.first = cycle;
    written_.time = time;
  }
  written_.last = cycle;
}

void WaveformWindow::note_retired(Queue queue, int64_t ordinal) {
  const Range& r = ranges_[queue];
  if (ordinal >= r.first && ordinal < r.end) --left_;
}

}  // namespace accsim::hw
