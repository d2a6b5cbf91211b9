#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/report/report.h"

namespace accsim::sim {

/// What layers are rolled up by.
struct Grouping {
  enum class By : uint8_t { module, op, fate };
  By by = By::module;
  int64_t depth = 0;  ///< of a module's path, the parts that count; 0: all
};

/// "module", "module:2", "op" or "fate"; nothing where it is no such word.
std::optional<Grouping> grouping_from(std::string_view text);

/// Fills the report's groups: the sums of layers that are alike, in the order of their first ones.
/// Together they are the totals, as every layer is of one group. Layers of which no module is known
/// are one named "(no module)", those of an op's or a fate's name have that.
void roll_up(const Grouping& by, Report& report);

}  // namespace accsim::sim
