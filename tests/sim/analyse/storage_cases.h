#pragma once
#include <algorithm>
#include <numeric>
#include <random>

#include "sim/analyse/live_set.h"

namespace accsim::test {

using namespace sim;

/// A random storage of `steps` steps, each writing one or two buffers and reading some of what was
/// there before; some buffers are graph inputs, some are kept, some sizes are zero.
inline Storage random_storage(int steps, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  Storage s;
  const auto add_buffer = [&](int writer) {
    const int64_t bytes = draw(0, 9) == 0 ? 0 : draw(1, 50);
    s.buffers.push_back({bytes, writer, draw(0, 7) == 0, {}, {}});
    return static_cast<int>(s.buffers.size()) - 1;
  };
  const int inputs = draw(0, 2);
  for (int i = 0; i < inputs; ++i) add_buffer(-1);
  for (int at = 0; at < steps; ++at) {
    Storage::Step step;
    step.node = at;
    const int there = static_cast<int>(s.buffers.size());
    const int reads = there == 0 ? 0 : draw(0, 3);
    for (int r = 0; r < reads; ++r) {
      // Mostly what is near, so that chains and branches form.
      const int b = draw(0, 2) > 0 ? std::max(0, there - draw(1, 3)) : draw(0, there - 1);
      step.buffers.push_back(b);
      const int writer = s.buffers[static_cast<size_t>(b)].writer;
      if (writer >= 0) step.before.push_back(writer);
    }
    const int writes = draw(0, 5) == 0 ? 2 : 1;
    for (int w = 0; w < writes; ++w) step.buffers.push_back(add_buffer(at));
    for (auto* list : {&step.before, &step.buffers}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    for (int b : step.buffers) s.buffers[static_cast<size_t>(b)].users.push_back(at);
    s.steps.push_back(std::move(step));
  }
  return s;
}

/// Is it a permutation of the steps in which every step follows those it depends on?
inline bool is_topological(const Storage& s, const StepOrder& order) {
  std::vector<bool> done(s.steps.size(), false);
  for (int step : order) {
    if (step < 0 || static_cast<size_t>(step) >= done.size() || done[static_cast<size_t>(step)])
      return false;
    for (int b : s.steps[static_cast<size_t>(step)].before)
      if (!done[static_cast<size_t>(b)]) return false;
    done[static_cast<size_t>(step)] = true;
  }
  return order.size() == s.steps.size();
}

/// The live set's peak straight from its definition, step by step: what exists before the step and
/// is still wanted at it or later, and what it makes.
inline int64_t slow_peak(const Storage& s, const StepOrder& order) {
  const auto wanted_from = [&](const Storage::Buffer& b, size_t place) {
    return b.kept || std::any_of(order.begin() + static_cast<long>(place), order.end(), [&](int o) {
             return std::find(b.users.begin(), b.users.end(), o) != b.users.end();
           });
  };
  int64_t peak = 0;
  for (size_t place = 0; place < order.size(); ++place) {
    int64_t live = 0;
    for (const Storage::Buffer& b : s.buffers) {
      const bool exists =
          b.writer < 0 || std::find(order.begin(), order.begin() + static_cast<long>(place) + 1,
                                    b.writer) != order.begin() + static_cast<long>(place) + 1;
      // An input that nobody reads is there when the first step starts.
      const bool unread_input = b.writer < 0 && place == 0;
      if (exists && (unread_input || wanted_from(b, place))) live += b.bytes;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace accsim::test
