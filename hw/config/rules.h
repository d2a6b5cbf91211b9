#pragma once
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/config/yaml_tree.h"

namespace accsim::hw {

/// A message and the place of the field it is about.
struct PlacedError {
  TextPosition at;
  std::string message;
};

/// What a cross-field rule sees: the machine, which of its fields were read without error, and
/// where to report.
class RuleContext {
 public:
  using Positions = std::map<std::string, TextPosition, std::less<>>;
  RuleContext(const HwConfig& machine, const Positions& read, std::vector<PlacedError>& errors)
      : hw(machine), read_(read), errors_(errors) {}

  const HwConfig& hw;

  /// True when all these fields were read; a rule says nothing about fields that failed already.
  bool has_read(std::initializer_list<std::string_view> paths) const;
  /// Reports a broken rule at the line of `path`.
  void fail(std::string_view path, std::string message);

 private:
  const Positions& read_;
  std::vector<PlacedError>& errors_;
};

/// A relation between fields that a machine must keep, and what it is called in messages and
/// docs.
struct Rule {
  std::string_view name;
  std::string_view statement;  ///< for configs/README.md
  void (*check)(RuleContext&);
};

/// Every cross-field rule.
std::span<const Rule> config_rules();

}  // namespace accsim::hw
