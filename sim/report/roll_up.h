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
/// The word that it is.
std::string grouping_word(const Grouping& by);

/// The first `depth` parts of a module's path, all for 0; "(no module)" for none.
std::string outer_module(const std::string& path, int64_t depth);

/// Fills the report's groups: the sums of layers that are alike, in the order of their first ones.
/// Together they are the totals, as every layer is of one group. Layers of which no module is known
/// are one named "(no module)", those of an op's or a fate's name have that.
void roll_up(const Grouping& by, Report& report);

}  // namespace accsim::sim
