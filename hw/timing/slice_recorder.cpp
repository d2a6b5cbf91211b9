#include "hw/timing/slice_recorder.h"

#include <algorithm>

#include "sim/base/check.h"

namespace accsim::hw {

// ---- LoopCounter --------------------------------------------------------------------------------

void LoopCounter::on_command(const TimedStep&) { ++levels_[depth_].commands; }

void LoopCounter::begin_loop(const Step&) {
  if (++depth_ == levels_.size()) levels_.emplace_back();
  ++levels_[depth_].executions;
}

void LoopCounter::end_iteration(const Step&) { ++levels_[depth_].iterations; }
void LoopCounter::on_skip(const Step&, int64_t, int64_t, int64_t) { ++levels_[depth_].skips; }
void LoopCounter::end_loop(const Step&) { --depth_; }

Detail LoopCounter::detail_within(int64_t limit) const {
  constexpr auto kEach = static_cast<int64_t>(Queue::kCount);  // slices of a group, at most
  std::vector<int64_t> outside = {
      0};  // by depth: slices if all loops of less depth are written out
  for (const Level& l : levels_) outside.push_back(outside.back() + l.commands + kEach * l.skips);
  if (outside.back() <= limit) return {};
  for (size_t depth = levels_.size() - 1; depth > 0; --depth) {
    const Level& l = levels_[depth];
    // Where a loop ends and where it is skipped ahead, fewer iterations than wanted may be pending.
    const int64_t ends = kEach * (l.executions + 2 * l.skips);
    const int64_t spare = (limit - outside[depth] - ends) / kEach;
    if (spare > 0)
      return {static_cast<int64_t>(depth), std::max<int64_t>(1, ceil_div(l.iterations, spare))};
    if (outside[depth] + kEach * l.executions <= limit)
      return {static_cast<int64_t>(depth), Detail::kAll};
  }
  return {0, Detail::kAll};
}

// ---- SliceRecorder ------------------------------------------------------------------------------

SliceRecorder::SliceRecorder(std::span<const Step> steps, std::span<const CommandInfo> commands,
                             Detail detail)
    : steps_(steps), commands_(commands), detail_(detail), frames_(1) {}

PerQueue<std::vector<Slice>> SliceRecorder::take_slices() {
  check(depth_ == 0, "a loop has not ended");
  if (at_detail()) emit_slices(top_frame().now);
  return std::move(out_);
}

void SliceRecorder::on_token(const Step& wait, int64_t time) {
  Token& t = tokens_[static_cast<size_t>(wait.moment)];
  if (time >= t.time) t = {time, wait.ring};
}

/// The token without which the command would have started earlier; none if it was something else.
int SliceRecorder::waited_for(const TimedStep& c) {
  Token& token = tokens_[static_cast<size_t>(kQueueMoments[c.queue].pending)];
  int out = Slice::kNoToken;
  if (c.start > c.free && token.time == c.start) out = token.ring;
  token = {};
  if (c.step.kind == Step::Kind::gemm) {
    Token& held = tokens_[static_cast<size_t>(Moment::pending_preload)];
    const bool late = held.time >= 0 && held.time + time_of(c.step.fill) == c.start;
    if (c.start > c.free && late && out == Slice::kNoToken) out = held.ring;
    held = {};
  }
  return out;
}

void SliceRecorder::on_command(const TimedStep& c) {
  const CommandInfo& info = commands_[static_cast<size_t>(&c.step - steps_.data())];
  Slice s{.start = c.start,
          .end = c.end,
          .visible = c.finish,
          .busy = c.end - c.start,
          .count = 1,
          .commands = info.kind,
          .token = waited_for(c),
          .read = info.read,
          .written = info.written};
  s.waits[static_cast<size_t>(c.why)] = c.start - c.free;
  top_frame().now[c.queue].append(s);
  if (static_cast<int64_t>(depth_) < detail_.depth) out_[c.queue].push_back(s);
}

void SliceRecorder::begin_loop(const Step&) {
  if (++depth_ == frames_.size()) frames_.emplace_back();
  Frame& f = top_frame();
  f.now = f.all = f.pending = Groups{};
  f.iterations = f.waiting = 0;
}

void SliceRecorder::end_iteration(const Step&) {
  Frame& f = top_frame();
  f.last[static_cast<size_t>(f.iterations++) % kRemembered] = f.now;
  append_groups(f.all, f.now);
  if (at_detail()) {
    append_groups(f.pending, f.now);
    if (++f.waiting == detail_.iterations) flush_pending(f);
  }
  f.now = Groups{};
}

void SliceRecorder::on_skip(const Step&, int64_t period, int64_t periods, int64_t growth) {
  Frame& f = top_frame();
  check(period <= static_cast<int64_t>(kRemembered) && period <= f.iterations,
        "a period longer than what is remembered of it");
  Groups ahead{};
  for (int64_t i = f.iterations - period; i < f.iterations; ++i)
    append_groups(ahead, f.last[static_cast<size_t>(i) % kRemembered]);
  for (Slice& s : ahead) {
    if (s.count == 0) continue;
    s.start += growth;
    s.end += growth * periods;
    s.visible += growth * periods;
    s.busy *= periods;
    s.count *= periods;
    for (int64_t& w : s.waits) w *= periods;
    for (int64_t& b : s.read) b *= periods;
    for (int64_t& b : s.written) b *= periods;
    if (s.count > 1) s.token = Slice::kNoToken;
  }
  append_groups(f.all, ahead);
  if (at_detail() && detail_.iterations == Detail::kAll)
    append_groups(f.pending, ahead);
  else if (static_cast<int64_t>(depth_) <= detail_.depth) {
    flush_pending(f);
    emit_slices(ahead);
  }
}

void SliceRecorder::end_loop(const Step&) {
  Frame& f = top_frame();
  flush_pending(f);
  --depth_;
  append_groups(top_frame().now, f.all);
}

void SliceRecorder::append_groups(Groups& to, const Groups& next) {
  for (const Queue q : Queue::all()) to[q].append(next[q]);
}

void SliceRecorder::flush_pending(Frame& f) {
  emit_slices(f.pending);
  f.pending = Groups{};
  f.waiting = 0;
}

void SliceRecorder::emit_slices(const Groups& groups) {
  for (const Queue q : Queue::all())
    if (groups[q].count > 0) out_[q].push_back(groups[q]);
}

}  // namespace accsim::hw
