#include "sim/schedule/schedule.h"

#include <utility>

#include "sim/schedule/chain_text.h"
#include "sim/schedule/line_scheduler.h"
#include "sim/schedule/row_scheduler.h"

namespace accsim::sim {
namespace {

/// The group that begins with an op; null: none. `at`: the first that may be it.
template <class Group>
const Group* group_at(std::span<const Group> groups, size_t& at, size_t op) {
  while (at < groups.size() && groups[at].first() < op) ++at;
  return at < groups.size() && groups[at].first() == op ? &groups[at] : nullptr;
}

/// All ops, those of groups in pieces where that is better.
Schedule in_turns(ChainText& text, RowScheduler& rows, LineScheduler& lines) {
  const ScheduleInput& in = text.input();
  size_t row = 0, line = 0;
  for (size_t i = 0; i < in.ops.size(); ++i) {
    if (text.has(i)) continue;
    const RowRun* const of_rows = group_at(in.runs, row, i);
    if (of_rows && rows.add(*of_rows)) continue;
    const LineRun* const of_lines = group_at(in.line_runs, line, i);
    if (of_lines && lines.add(*of_lines)) continue;
    text.add(text.whole(i));
  }
  return text.take();
}

}  // namespace

Schedule schedule(const ScheduleInput& input) {
  ChainText text(input);
  for (size_t i = 0; i < input.ops.size(); ++i) text.add(text.whole(i));
  Schedule plain = text.take();
  if (input.runs.empty() && input.line_runs.empty()) return plain;
  RowScheduler rows(text);
  LineScheduler lines(text);
  for (;;) {
    Schedule cut = in_turns(text, rows, lines);
    if (cut.total >= plain.total) {
      plain.row_choices = rows.take_choices();
      return plain;
    }
    SharedPlaces places = place_shared(cut.stretches, text.capacity());
    if (places.left_out.empty()) {
      cut.row_choices = rows.take_choices();
      cut.addresses = std::move(places.addresses);
      return cut;
    }
    if (!text.leave_whole(cut, places)) return plain;
  }
}

}  // namespace accsim::sim
