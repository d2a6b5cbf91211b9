#include "sim/map/slack_word.h"

#include <fmt/format.h>

#include "sim/base/parse_number.h"

namespace accsim::sim {

std::optional<double> slack_from(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = parse_number<double>(text);
  if (!number || !(*number >= 0 && *number <= (percent ? 100 : 0))) return std::nullopt;
  return *number / 100;
}

std::string slack_text(double slack) { return fmt::format("{:g}%", slack * 100); }

}  // namespace accsim::sim
