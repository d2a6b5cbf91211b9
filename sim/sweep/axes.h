#pragma once
#include <string>
#include <vector>

#include "sim/sweep/spec.h"

namespace accsim::sim {

/// Where the spec's reader collects what is wrong.
class SpecErrors {
 public:
  explicit SpecErrors(std::string file) : file_(std::move(file)) {}
  void fail(hw::TextPosition at, std::string message) {
    errors_.push_back({Errc::invalid, std::move(message), where_text(file_, at)});
  }
  void add(const Errors& more) { errors_.insert(errors_.end(), more.begin(), more.end()); }
  bool empty() const { return errors_.empty(); }
  Errors take() { return std::move(errors_); }

 private:
  std::string file_;
  Errors errors_;
};

/// The value of a plain number; reports anything else.
std::optional<double> read_number(const hw::YamlNode& node, std::string_view what,
                                  SpecErrors& errors);
/// Calls `entry` for each key; reports keys that aren't in `known`, twice there, or a node that is
/// no section.
void read_section(const hw::YamlNode& node, hw::TextPosition at, std::string_view what,
                  const std::vector<std::string>& known, SpecErrors& errors,
                  const std::function<void(const hw::YamlEntry&)>& entry);

/// The axes of the spec's section `bind`, in its order: whole numbers from 0.
std::vector<Axis> read_bind_axes(const hw::YamlEntry& section, SpecErrors& errors);

/// The axes of the spec's section `axes`, in its order, each with its steps. Names that are taken,
/// fields of two axes and values out of range are reported; what is given then is of no use.
std::vector<Axis> read_axes(const hw::YamlEntry& section, const hw::HwConfig& base,
                            SpecErrors& errors);

}  // namespace accsim::sim
