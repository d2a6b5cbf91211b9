#include "sim/sweep/front.h"

#include <algorithm>

namespace accsim::sim {
namespace {

bool none_larger(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

}  // namespace

bool Front::excludes(const std::vector<double>& bounds, int64_t first) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return none_larger(e.values, bounds) && (e.point < first || e.values != bounds);
  });
}

void Front::add(std::vector<double> values, int64_t point) {
  for (const Entry& e : entries_)
    if (e.point == point) return;
  if (excludes(values, point)) return;
  std::erase_if(entries_, [&](const Entry& e) { return none_larger(values, e.values); });
  entries_.push_back({std::move(values), point});
}

std::vector<Front::Entry> Front::sorted_entries() const {
  std::vector<Entry> out = entries_;
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
    return a.values != b.values ? a.values < b.values : a.point < b.point;
  });
  return out;
}

}  // namespace accsim::sim
