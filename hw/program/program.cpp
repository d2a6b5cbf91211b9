#include "hw/program/program.h"

#include <algorithm>

#include "hw/program/engines.h"
#include "hw/program/reach.h"

namespace accsim::hw {

std::string_view name(Queue q) { return engine_of(q).name; }

std::string_view name(SyncKind k) {
  constexpr std::array<std::string_view, kSyncKinds> kNames = {
      "wait_free", "signal_full", "wait_full", "signal_free", "signal_primed", "wait_primed"};
  return kNames[static_cast<size_t>(k)];
}

std::string_view name(TapOp op) {
  constexpr std::array<std::string_view, kTapOps> kNames = {"sum", "min", "max"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view name(RowOp op) {
  constexpr std::array<std::string_view, kRowOps> kNames = {"softmax", "layer_norm", "rms_norm"};
  return kNames[static_cast<size_t>(op)];
}

bool LaneCommand::slides_well() const {
  if (slide == 0) return true;
  return !row_of(op).has_b && !across && slide > 0 && slide < taps[0] && taps[0] <= kMostColumns &&
         tap_count() <= kMostKept &&
         a.row_stride[kLaneLevels - 1] == multiply_far(slide, tap_stride[0]);
}

size_t lane_class(const LaneCommand& c) {
  constexpr size_t kElementwise = 0, kReduce = 2, kPool = 3;
  static_assert(kLaneClassNames[kElementwise] == "elementwise" &&
                kLaneClassNames[kReduce] == "reduce" && kLaneClassNames[kPool] == "pool");
  return c.across ? kReduce : c.tap_count() > 1 ? kPool : kElementwise;
}

int64_t lanes_of(const LaneCommand& c, const HwConfig& hw) {
  return c.weighs() ? hw.vector.mac_lanes : hw.vector.lanes[lane_class(c)];
}

Affine& Affine::operator+=(const Affine& other) {
  base += other.base;
  for (const Term& t : other.terms) {
    auto same = std::find_if(terms.begin(), terms.end(),
                             [&](const Term& mine) { return mine.loop == t.loop; });
    if (same == terms.end())
      terms.push_back(t);
    else
      same->coeff += t.coeff;
  }
  return *this;
}

Affine operator*(Affine a, int64_t factor) {
  a.base *= factor;
  for (Affine::Term& t : a.terms) t.coeff *= factor;
  return a;
}

int64_t Walk::run_count() const {
  int64_t product = 1;
  for (const Level& l : levels) product *= l.count;
  return product;
}

Walk& Walk::merge() {
  decltype(levels) kept;
  for (const Level& l : levels)
    if (l.count != 1) kept.push_back(l);
  while (!kept.empty() && kept.back().stride == run) {
    run *= kept.back().count;
    kept.pop_back();
  }
  // From the inside out: a level that goes on where the one inside it ends is the same level.
  levels.clear();
  for (size_t i = kept.size(); i-- > 0;) {
    if (!levels.empty() && kept[i].stride == levels.back().stride * levels.back().count)
      levels.back().count *= kept[i].count;
    else
      levels.push_back(kept[i]);
  }
  std::reverse(levels.begin(), levels.end());
  return *this;
}

int64_t PaddedWindow::bytes() const {
  int64_t product = images * tap;
  for (size_t d = 0; d < 3; ++d) product *= count[d] * kernel[d];
  return product;
}

std::vector<int> region_numbers(const Program& program) {
  std::vector<int> out;
  int next = 0;
  for (const ProgramTensor& t : program.tensors) out.push_back(t.slots > 0 ? next++ : -1);
  return out;
}

Queue queue_of(const Command& command) {
  if (const auto* table = std::get_if<SetTableCommand>(&command)) return table->unit;
  constexpr std::array<Queue, std::variant_size_v<Command>> kQueueOf = {
      Queue::load,  Queue::execute, Queue::execute, Queue::post,   Queue::vector,
      Queue::store, Queue::post,    Queue::vector,  Queue::vector, Queue::stage};
  return kQueueOf[command.index()];
}

}  // namespace accsim::hw
