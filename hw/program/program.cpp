#include "hw/program/program.h"

#include <algorithm>

namespace accsim {

std::string_view name(Queue q) {
  constexpr std::array<std::string_view, kQueues> kNames = {"load", "execute", "post", "store"};
  return kNames[static_cast<size_t>(q)];
}

std::string_view name(Memory m) { return m == Memory::dram ? "dram" : "shared"; }

std::string_view name(SyncKind k) {
  constexpr std::array<std::string_view, 4> kNames = {"wait_free", "signal_full", "wait_full",
                                                      "signal_free"};
  return kNames[static_cast<size_t>(k)];
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

int64_t Walk::runs() const {
  int64_t product = 1;
  for (const Level& l : levels) product *= l.count;
  return product;
}

Walk& Walk::merge() {
  std::erase_if(levels, [](const Level& l) { return l.count == 1; });
  while (!levels.empty() && levels.back().stride == run) {
    run *= levels.back().count;
    levels.pop_back();
  }
  for (size_t i = levels.size(); i-- > 1;) {
    if (levels[i - 1].stride != levels[i].stride * levels[i].count) continue;
    levels[i - 1] = {levels[i - 1].count * levels[i].count, levels[i].stride};
    levels.erase(levels.begin() + static_cast<ptrdiff_t>(i));
  }
  return *this;
}

int64_t PaddedWindow::bytes() const {
  int64_t product = images * tap;
  for (size_t d = 0; d < 3; ++d) product *= count[d] * kernel[d];
  return product;
}

Queue queue_of(const Command& command) {
  constexpr std::array<Queue, std::variant_size_v<Command>> kQueueOf = {
      Queue::load, Queue::execute, Queue::execute, Queue::post, Queue::post, Queue::store};
  return kQueueOf[command.index()];
}

}  // namespace accsim
