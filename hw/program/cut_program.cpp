#include "hw/program/cut_program.h"

#include <array>
#include <span>

namespace accsim::hw {
namespace {

std::span<const Item> items(const Program& program, size_t first, size_t end) {
  return std::span(program.body).subspan(first, end - first);
}

/// Which tensors commands read or write.
class TensorsUsed {
 public:
  TensorsUsed(const Program& program, size_t first, size_t end) : used_(program.tensors.size()) {
    visit(items(program, first, end));
  }
  bool operator[](size_t tensor) const { return used_[tensor]; }

 private:
  void visit(std::span<const Item> body) {
    for (const Item& item : body) {
      if (const auto* loop = std::get_if<Loop>(&item.node)) visit(loop->body);
      const auto* command = std::get_if<Command>(&item.node);
      if (!command) continue;
      if (const auto* load = std::get_if<LoadCommand>(command)) note(load->tensor);
      if (const auto* store = std::get_if<StoreCommand>(command)) note(store->tensor);
      if (const auto* stage = std::get_if<StageCommand>(command)) {
        note(stage->from);
        note(stage->to);
      }
    }
  }
  void note(int tensor) { used_[static_cast<size_t>(tensor)] = true; }

  std::vector<bool> used_;
};

using ByQueue = std::array<bool, kQueues>;

/// Notes whose commands stand among the items.
void note_queues(std::span<const Item> body, ByQueue& has) {
  for (const Item& item : body) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) note_queues(loop->body, has);
    if (const auto* command = std::get_if<Command>(&item.node))
      has[static_cast<size_t>(queue_of(*command))] = true;
  }
}

int64_t commands_in(std::span<const Item> body) {
  int64_t out = 0;
  for (const Item& item : body) {
    if (const auto* loop = std::get_if<Loop>(&item.node))
      out += loop->count * commands_in(loop->body);
    out += std::holds_alternative<Command>(item.node);
  }
  return out;
}

}  // namespace

Program cut_program(const Program& program, size_t first, size_t end) {
  Program out = {program.name, program.dataflow, program.tensors, {}, program.loops};
  const TensorsUsed before(program, 0, first), here(program, first, end);
  for (size_t i = 0; i < out.tensors.size(); ++i)
    out.tensors[i].given = out.tensors[i].is_placed() && before[i] && here[i];
  ByQueue has{};  // a mark is of the command before it: without one, of a command before the cut
  for (const Item& item : items(program, first, end)) {
    note_queues({&item, 1}, has);
    const auto* mark = std::get_if<Mark>(&item.node);
    if (!mark || mark->waits || has[static_cast<size_t>(mark->queue)]) out.body.push_back(item);
  }
  return out;
}

int64_t commands_of(const Program& program, size_t first, size_t end) {
  return commands_in(items(program, first, end));
}

}  // namespace accsim::hw
