#pragma once
#include <cstdint>
#include <vector>

namespace accsim::sim {

/// The points that no other is at least as good as in everything. Of points that are equal in
/// everything the one with the lowest number stands for all. The smaller the better.
class Front {
 public:
  struct Entry {
    std::vector<double> values;
    int64_t point = 0;
  };

  void add(std::vector<double> values, int64_t point);
  /// True when every point numbered `first` or more whose values are at least `bounds` is left out.
  bool excludes(const std::vector<double>& bounds, int64_t first) const;
  /// By values.
  std::vector<Entry> sorted_entries() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace accsim::sim
