#include "sim/schedule/schedule.h"

#include <utility>

#include "sim/schedule/line_scheduler.h"
#include "sim/schedule/op_order.h"
#include "sim/schedule/row_scheduler.h"

namespace accsim::sim {
namespace {

/// The group that begins with an op; null: none. `at`: the first that may be it.
template <class Group>
const Group* group_at(std::span<const Group> groups, size_t& at, size_t op) {
  while (at < groups.size() && groups[at].first_op() < op) ++at;
  return at < groups.size() && groups[at].first_op() == op ? &groups[at] : nullptr;
}

/// All ops, those of groups in pieces where that is better.
Schedule in_turns(OpOrder& order, RowScheduler& rows, LineScheduler& lines) {
  const ScheduleInput& in = order.input();
  size_t row = 0, line = 0;
  for (size_t i = 0; i < in.ops.size(); ++i) {
    if (order.has_op(i)) continue;
    const RowGroup* const of_rows = group_at(in.runs, row, i);
    if (of_rows && rows.schedule_run(*of_rows)) continue;
    const LineGroup* const of_lines = group_at(in.line_groups, line, i);
    if (of_lines && lines.schedule_run(*of_lines)) continue;
    order.add_op(order.whole_op(i));
  }
  return order.take_schedule();
}

}  // namespace

Schedule schedule(const ScheduleInput& input) {
  OpOrder order(input);
  for (size_t i = 0; i < input.ops.size(); ++i) order.add_op(order.whole_op(i));
  Schedule plain = order.take_schedule();
  if (input.runs.empty() && input.line_groups.empty()) return plain;
  RowScheduler rows(order);
  LineScheduler lines(order);
  for (;;) {
    Schedule cut = in_turns(order, rows, lines);
    if (cut.total >= plain.total) {
      plain.row_choices = rows.take_choices();
      return plain;
    }
    SharedPlaces places = place_shared(cut.order, order.shared_capacity());
    if (places.left_out.empty()) {
      cut.row_choices = rows.take_choices();
      cut.addresses = std::move(places.addresses);
      return cut;
    }
    if (!order.leave_whole(cut, places)) return plain;
  }
}

}  // namespace accsim::sim
