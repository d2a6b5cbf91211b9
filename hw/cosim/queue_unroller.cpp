#include "hw/cosim/queue_unroller.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/visit.h"

namespace accsim::hw {

QueueUnroller::QueueUnroller(const Program& program, const HwConfig& hw, const TokenOrder& order,
                             const ChannelOrder& channels, Queue queue)
    : program_(program),
      hw_(hw),
      order_(order),
      queue_(queue),
      port_(port_of(queue)),
      indices_(static_cast<size_t>(program.loops), -1),
      dataflow_(program.dataflow),
      regions_(program, channels, queue) {
  MarkOrder marks(program);
  append_ops(marks);
}

/// Appends what concerns this queue; loops without any of it are left out.
void QueueUnroller::append_ops(MarkOrder& marks) {
  const auto loop = [&](const Loop& l, const auto& inner) {
    const size_t begin = ops_.size();
    ops_.push_back({.kind = Op::Kind::loop, .loop = &l});
    if (l.count > 0) inner();
    if (ops_.size() > begin + 1)
      ops_.push_back({.kind = Op::Kind::end, .loop = &l, .jump = begin + 1});
    else
      ops_.resize(begin);
  };
  const auto sync = [&](const Sync& s) {
    if (s.queue == queue_) ops_.push_back({.kind = Op::Kind::sync, .sync = &s});
  };
  const auto head = [&](const LayerHead& h) {
    ops_.push_back({.kind = Op::Kind::layer, .dataflow = h.dataflow});
  };
  const auto command = [&](const Command& c) {
    marks.note_command(c);
    if (queue_of(c) == queue_) ops_.push_back({.kind = Op::Kind::command, .command = &c});
  };
  const auto mark = [&](const Mark& m) { append_ops(m, marks); };
  visit_nest(program_.body, Overloaded{loop, sync, mark, head, command});
}

void QueueUnroller::append_ops(const Mark& mark, MarkOrder& marks) {
  if (!mark.waits) marks.note_mark(mark);
  if (mark.queue != queue_) return;
  ops_.push_back({.kind = mark.waits ? Op::Kind::wait_marks : Op::Kind::mark,
                  .mark = &mark,
                  .marks = marks.counts_wanted(mark.tensor)});
}

Result<std::optional<QueueUnroller::Entry>> QueueUnroller::next() {
  while (at_ < ops_.size()) {
    const Result<bool> complete = run_op(ops_[at_]);
    if (!complete) return complete.errors();
    if (*complete) return std::exchange(done_, std::nullopt);
  }
  return std::exchange(open_, std::nullopt);
}

Result<bool> QueueUnroller::run_op(const Op& op) {
  ++at_;
  int64_t* index = op.loop ? &indices_[static_cast<size_t>(op.loop->id)] : nullptr;
  switch (op.kind) {
    case Op::Kind::loop:
      *index = 0;
      return false;
    case Op::Kind::end:
      if (++*index < op.loop->count)
        at_ = op.jump;
      else
        *index = -1;
      return false;
    case Op::Kind::sync:
      if (Status s = fold_sync(*op.sync); !s) return s.errors();
      return false;
    case Op::Kind::layer:
      dataflow_ = op.dataflow;
      return false;
    case Op::Kind::wait_marks:
      raise_counts(marks_, op.marks);
      waited_.push_back(*op.mark);
      return false;
    case Op::Kind::mark:
      if (!open_)
        return Error{Errc::invalid, "a mark before any command of its queue", "co-simulation"};
      open_->descriptor.words[rtl::dma_cmd::kRegion] |= rtl::region_flags::kMark;
      open_->marks.push_back(*op.mark);
      return false;
    case Op::Kind::command:
      if (Status s = take_command(*op.command); !s) return s.errors();
      return done_.has_value();
  }
  return false;
}

Status QueueUnroller::take_command(const Command& command) {
  const auto* drain = std::get_if<DrainCommand>(&command);
  if (drain && open_ && !open_->drained && waits_.empty()) {
    add_drain(open_->descriptor, *drain, indices_);
    open_->drained = true;
    ++ordinal_;
    return ok();
  }
  Result<Descriptor> d = describe_command(program_, hw_, command, indices_, dataflow_);
  if (!d) return d.errors();
  for (const Token& t : waits_) d->add_token_wait(port_, t);
  waits_.clear();
  d->name_slots(port_, slots_);
  if (port_ == rtl::kLoad || port_ == rtl::kStore || port_ == rtl::kStage) {
    static_assert(rtl::stage_cmd::kWalk == 0);
    std::ranges::copy(std::exchange(marks_, {}), &d->words[rtl::dma_cmd::kMarks]);
  }
  regions_.complete_descriptor(command, *d);
  done_ = std::exchange(open_, Entry{*d,
                                     &command,
                                     ordinal_++,
                                     false,
                                     indices_,
                                     std::exchange(syncs_, {}),
                                     {},
                                     std::exchange(waited_, {}),
                                     {},
                                     slots_});
  return ok();
}

/// The token that the operation is about, and the queue at its other end.
Token QueueUnroller::token_of_sync(const Sync& s) {
  const int64_t mine = done_syncs_[static_cast<size_t>(s.kind)][static_cast<size_t>(s.buffer)]++;
  const int64_t n = order_.ordinal_of_op(s.kind, s.buffer, queue_, mine);
  Token out{s.kind, s.buffer, std::nullopt};
  switch (s.kind) {
    case SyncKind::wait_free:
      if (!order_.is_initial(s.buffer, n))
        out.other =
            order_.queue_of_op(SyncKind::signal_free, s.buffer, n - order_.slot_count(s.buffer));
      break;
    case SyncKind::signal_free:
      out.other =
          order_.queue_of_op(SyncKind::wait_free, s.buffer, n + order_.slot_count(s.buffer));
      break;
    case SyncKind::wait_full:
      out.other = order_.queue_of_op(SyncKind::signal_full, s.buffer, n);
      break;
    case SyncKind::signal_full:
      out.other = order_.queue_of_op(SyncKind::wait_full, s.buffer, n);
      break;
    case SyncKind::signal_primed:
    case SyncKind::wait_primed:
      break;
  }
  // Of parameters the load queue fills those of its ring, and names the slot that it reads.
  const bool by_ring =
      s.queue == Queue::load && s.kind == SyncKind::wait_free && s.buffer == Buffer::parameter;
  if (is_wait(s.kind) && !by_ring)
    slots_[static_cast<size_t>(s.buffer)] = order_.slot_of_wait(s.kind, s.buffer, queue_, mine);
  return out;
}

Status QueueUnroller::fold_sync(const Sync& sync) {
  const bool region = sync.region >= 0;
  if (is_wait(sync.kind)) {
    if (region)
      regions_.note_wait(sync);
    else
      waits_.push_back(token_of_sync(sync));
    syncs_.push_back(sync);
    return ok();
  }
  if (!open_)
    return Error{Errc::invalid, fmt::format("{} before any command of its queue", name(sync.kind)),
                 "co-simulation"};
  open_->signals.push_back(sync);
  if (region)
    regions_.put_signal(sync, open_->descriptor);
  else
    open_->descriptor.add_token_signal(port_, token_of_sync(sync));
  return ok();
}

namespace {

/// Nothing in a program without layers.
std::string layer_of(const Program& program, const Command* command) {
  std::string layer;
  const auto head = [&](const LayerHead& h) { layer = h.name; };
  const auto is_other = [&](const Command& c) { return &c != command; };
  visit_nest(program.body, Overloaded{head, is_other});
  return layer;
}

/// The loops that an entry lies in, as "oh=1 n=0".
std::string loops_of(const Program& program, const QueueUnroller::Entry& e) {
  std::string out;
  visit_nest(program.body, [&](const Loop& loop, const auto& inner) {
    const int64_t index = e.indices[static_cast<size_t>(loop.id)];
    if (index >= 0) out += fmt::format("{}{}={}", out.empty() ? "" : " ", loop.name, index);
    inner();
  });
  return out;
}

}  // namespace

CommandPlace place_of_command(const Program& program, const HwConfig& hw, Queue queue,
                              int64_t ordinal) {
  const TokenOrder order(program, hw);
  const ChannelOrder channels(program);
  QueueUnroller cursor(program, hw, order, channels, queue);
  CommandPlace out{fmt::format("{} command {}", name(queue), ordinal), ""};
  for (;;) {
    const auto entry = cursor.next();
    if (!entry || !entry->has_value()) return out;
    const QueueUnroller::Entry& e = **entry;
    if (e.ordinal != ordinal && !(e.drained && e.ordinal + 1 == ordinal)) continue;
    if (e.ordinal != ordinal) out.text += " (drain)";
    out.layer = layer_of(program, e.command);
    if (!out.layer.empty()) out.text += fmt::format(" of layer '{}'", out.layer);
    const std::string loops = loops_of(program, e);
    if (!loops.empty()) out.text += " at " + loops;
    return out;
  }
}

}  // namespace accsim::hw
