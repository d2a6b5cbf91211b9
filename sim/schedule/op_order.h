#pragma once
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/schedule/schedule.h"

namespace accsim::sim {

/// A group cut into pieces: what stands in the text.
struct CutGroup {
  std::vector<ScheduledOp> order;
  int64_t shared = 0;            ///< bytes in the shared buffer
  std::vector<OpRequest> moved;  ///< by op, where something doesn't lie where it did
};

/// A network's text as it is put together, op by op or in pieces, with what it takes so far.
class OpOrder {
 public:
  explicit OpOrder(const ScheduleInput& in);

  const ScheduleInput& input() const { return in_; }
  /// An op as a whole.
  ScheduledOp whole_op(size_t op) const;
  /// offset_in_chain() of an op's operand.
  int64_t offset_in_whole(size_t op, const OperandPort& port, int64_t offset) const;
  /// Bytes of the shared buffer, beside what programs stage in.
  int64_t shared_capacity() const { return in_.hw.shared.free_bytes() - staged_; }
  /// May nothing be cut of these ops: has the user pinned one, or is one left whole?
  bool stays_whole(const std::vector<size_t>& ops) const;

  void add_op(ScheduledOp s);
  bool has_op(size_t op) const { return done_[op]; }
  /// Those from one op to another that aren't there yet, but for those of `except`.
  void add_whole(size_t first, size_t last, const std::vector<size_t>& except = {});
  /// Adds a group's scheduled as `find` finds them, if it does. What stands between the ops depends
  /// on none of them: it goes before.
  template <class Find>
  auto add_cut(const std::vector<size_t>& ops, const Find& find) {
    const State before = current_state();
    add_whole(ops.front(), ops.back(), ops);
    auto cut = find();
    if (!cut) {
      go_back(before);
      return cut;
    }
    for (ScheduledOp& s : cut->order) add_op(std::move(s));
    for (const size_t op : ops) done_[op] = true;
    out_.shared.push_back({in_.ops[ops.front()].layer, in_.ops[ops.back()].layer, cut->shared});
    return cut;
  }
  /// An op that was cut, with the memories in which its pieces find what they read.
  void note_cut(size_t op, OpRequest as) { out_.cut.emplace(op, std::move(as)); }

  /// Cycles of all that has been added.
  int64_t total_cycles() const { return chain_.total_cycles(); }
  /// What it takes until `group` has been added, which isn't added: that adds steps to the chain,
  /// and may stop where the total is more than is of use.
  template <class Group>
  int64_t cycles_with(const Group& group) {
    const hw::Chain::Place begin = chain_.current_place();
    group(chain_);
    const int64_t total = chain_.total_cycles();
    chain_.go_back(begin);
    tell_limit();
    return total;
  }
  /// Of scheduled; once it is more than `most`, only that it is.
  int64_t cycles_of_ops(const std::vector<ScheduledOp>& scheduled, int64_t most);

  /// What has been added so far.
  struct State {
    hw::Chain::Place place;
    size_t order, shared;
    std::vector<bool> done;
  };
  State current_state() const;
  void go_back(const State& to);
  /// The text; it begins anew.
  Schedule take_schedule();

  /// Has the costing come to its limit? Then nothing more is tried.
  bool is_over() const { return in_.mapper.is_over(); }

  /// The number of the first of so many tensors between pieces, which nobody else has.
  int32_t own_tensors() const { return own_; }
  void take_own(int64_t tensors) { own_ += static_cast<int32_t>(tensors); }

  /// From now on groups stay whole that are cut while something without a place is in use; all of
  /// them where none is: residency has places for a network of whole ops. Is that any more?
  bool leave_whole(const Schedule& cut, const SharedPlaces& places);

 private:
  /// What the chain has done since it was told.
  void tell_limit();

  const ScheduleInput& in_;
  hw::Chain chain_;
  const hw::Chain::Place begin_;
  std::vector<bool> done_;  ///< by op: stands in the text
  std::set<size_t> whole_;  ///< ops that nothing is cut of
  int64_t staged_;          ///< bytes that programs stage in
  int32_t own_ = 0;         ///< number of the next tensor between pieces
  hw::Chain::Done told_;    ///< what the limit knows of
  Schedule out_;
};

}  // namespace accsim::sim
