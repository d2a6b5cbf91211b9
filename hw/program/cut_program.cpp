#include "hw/program/cut_program.h"

#include <array>
#include <span>

#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

std::span<const Item> items_between(const Program& program, size_t first, size_t end) {
  return std::span(program.body).subspan(first, end - first);
}

/// Which tensors commands read or write.
class TensorsUsed {
 public:
  TensorsUsed(const Program& program, size_t first, size_t end) : used_(program.tensors.size()) {
    const auto load = [this](const LoadCommand& c) { note_tensor(c.tensor); };
    const auto store = [this](const StoreCommand& c) { note_tensor(c.tensor); };
    const auto stage = [this](const StageCommand& c) {
      note_tensor(c.from);
      note_tensor(c.to);
    };
    visit_nest(items_between(program, first, end), Overloaded{load, store, stage});
  }
  bool operator[](size_t tensor) const { return used_[tensor]; }

 private:
  void note_tensor(int tensor) { used_[static_cast<size_t>(tensor)] = true; }

  std::vector<bool> used_;
};

}  // namespace

Program cut_program(const Program& program, size_t first, size_t end) {
  Program out = {program.name, program.dataflow, program.tensors, {}, program.loops};
  const TensorsUsed before(program, 0, first), here(program, first, end);
  for (size_t i = 0; i < out.tensors.size(); ++i)
    out.tensors[i].given = out.tensors[i].is_placed() && before[i] && here[i];
  // A mark is of the command before it: without one, of a command before the cut.
  PerQueue<bool> has{};
  const auto note_queue = [&](const Command& c) { has[queue_of(c)] = true; };
  for (const Item& item : items_between(program, first, end)) {
    visit_nest(std::span(&item, 1), note_queue);
    const auto* mark = std::get_if<Mark>(&item.node);
    if (!mark || mark->waits || has[mark->queue]) out.body.push_back(item);
  }
  return out;
}

int64_t commands_of(const Program& program, size_t first, size_t end) {
  int64_t out = 0;
  visit_times(items_between(program, first, end),
              [&](const Command&, int64_t times) { out += times; });
  return out;
}

}  // namespace accsim::hw
