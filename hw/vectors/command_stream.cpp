#include "hw/vectors/command_stream.h"

#include <fmt/format.h>

#include "hw/program/visit.h"

namespace accsim::hw {

CommandStream::CommandStream(const Program& program, const HwConfig& hw)
    : program_(program), order_(program, hw), channels_(program) {
  for (const Queue q : Queue::all())
    queues_[q] = std::make_unique<QueueUnroller>(program, hw, order_, channels_, q);
  std::string layer;
  const auto loop = [this](const Loop& l, const auto& inner) {
    loops_.push_back(&l);
    inner();
  };
  const auto head = [&](const LayerHead& h) { layer = h.name; };
  const auto command = [&](const Command& c) { layers_[&c] = layer; };
  visit_nest(program_.body, Overloaded{loop, head, command});
}

Status CommandStream::advance_queue(Queue q) {
  auto next = queues_[q]->next();
  if (!next) return next.errors();
  check(next->has_value(), "golden runs a command that its queue doesn't have");
  entries_[q] = std::move(**next);
  return ok();
}

Result<const StreamedCommand*> CommandStream::next_command(const RetiredCommand& retired) {
  out_.queue = queue_of(*retired.command);
  const Queue q = out_.queue;
  out_.is_drain = std::holds_alternative<DrainCommand>(*retired.command);
  out_.ordinal = counts_[q]++;
  if (!out_.is_drain)
    if (Status s = advance_queue(out_.queue); !s) return s.errors();
  out_.core = &entries_[q];
  out_.layer = layers_[retired.command];
  out_.loops.clear();
  for (const Loop* l : loops_)
    if (const int64_t i = retired.loop_indices[static_cast<size_t>(l->id)]; i >= 0)
      out_.loops.emplace_back(l->name, i);
  out_.name = fmt::format("{} command {}{}", name(out_.queue), out_.ordinal,
                          out_.is_drain ? " (drain)" : "");
  if (!out_.layer.empty()) out_.name += fmt::format(" of layer '{}'", out_.layer);
  for (size_t i = 0; i < out_.loops.size(); ++i)
    out_.name +=
        fmt::format("{}{}={}", i == 0 ? " at " : " ", out_.loops[i].first, out_.loops[i].second);
  return &out_;
}

}  // namespace accsim::hw
