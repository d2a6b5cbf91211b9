#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/sweep/spec_values.h"

namespace accsim::sim {

/// What is wrong with one axis of a spec.
class AxisErrors {
 public:
  AxisErrors(std::string axis, SpecErrors& all) : axis_(std::move(axis)), all_(all) {}

  std::nullopt_t fail(hw::TextPosition at, std::string_view what);
  /// The value of a plain number; reports anything else.
  std::optional<double> number(const hw::YamlNode& node, std::string_view what);
  /// Has nothing failed?
  bool none() const { return none_; }
  const std::string& axis() const { return axis_; }
  /// Of the whole spec.
  SpecErrors& all() { return all_; }

 private:
  std::string axis_;
  SpecErrors& all_;
  bool none_ = true;
};

/// Reads the values of an axis, whose keys say them once: a list, a range, or powers of two.
class AxisValues {
 public:
  inline static const std::vector<std::string> kKeys = {"values", "range", "powers_of_two"};

  /// `axis`: where the axis stands.
  AxisValues(hw::TextPosition axis, AxisErrors& errors) : axis_(axis), errors_(errors) {}

  /// Takes an entry that has one of the keys, and lets others be.
  void take_key(const hw::YamlEntry& e);
  void take_list(const hw::YamlEntry& e) { list_ = &e; }

  /// How many of the keys there are.
  int count() const { return (list_ != nullptr) + (range_ != nullptr) + (powers_ != nullptr); }
  /// Values as they are written; a null pointer when a range or powers of two say them.
  const hw::YamlEntry* list() const { return list_; }
  /// Where they stand, or the axis does.
  hw::TextPosition place() const;
  /// All of them; what is wrong with them is reported, and what is given then is of no use.
  std::vector<double> read() const;

 private:
  std::vector<double> read_list() const;
  std::vector<double> read_range() const;
  std::vector<double> read_powers() const;

  hw::TextPosition axis_;
  AxisErrors& errors_;
  const hw::YamlEntry *list_ = nullptr, *range_ = nullptr, *powers_ = nullptr;
};

}  // namespace accsim::sim
