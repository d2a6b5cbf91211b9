#include "sim/validate/cell_pattern.h"

#include <fmt/format.h>

#include <cmath>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {

std::optional<CellPattern> CellPattern::read(const hw::YamlEntry& e, SpecErrors& errors) {
  CellPattern out;
  bool good = true;
  const auto fail = [&](hw::TextPosition at, std::string message) {
    errors.fail(at, std::move(message));
    good = false;
  };
  read_section(e.value, e.at, e.key, {"column", "pattern", "otherwise"}, errors,
               [&](const hw::YamlEntry& part) {
                 if (part.value.kind != hw::YamlNode::Kind::scalar)
                   return fail(part.value.at,
                               fmt::format("{} of {} must be a text or a number", part.key, e.key));
                 if (part.key == "column") out.column_ = part.value.text;
                 if (part.key == "pattern") out.text_ = part.value.text;
                 if (part.key != "otherwise") return;
                 out.otherwise_ = read_number(part.value, "otherwise of " + e.key, errors);
                 good &= out.otherwise_.has_value();
               });
  if (e.value.kind != hw::YamlNode::Kind::map) return std::nullopt;
  if (good && (out.column_.empty() || out.text_.empty()))
    fail(e.at, fmt::format("{} needs a column and a pattern", e.key));
  if (!good) return std::nullopt;
  try {
    // By the default of libstdc++ (+)+ takes time that doubles with each byte, and much stack.
    out.pattern_ =
        std::regex(out.text_, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error&) {
    fail(e.at, fmt::format("pattern {} of {} isn't a regular expression without back references",
                           hw::quoted_text(out.text_), e.key));
    return std::nullopt;
  }
  if (!out.otherwise_ && out.pattern_.mark_count() == 0) out.otherwise_ = 0;
  return out;
}

Result<double> CellPattern::number_in(const std::string& cell) const {
  const auto invalid = [](std::string message) {
    return Error{Errc::invalid, std::move(message), ""};
  };
  if (cell.size() > kMostCellText)
    return invalid(fmt::format("the cell has {} bytes, and a pattern is sought in {}", cell.size(),
                               kMostCellText));
  std::smatch found;
  if (!std::regex_search(cell, found, pattern_)) {
    if (otherwise_) return *otherwise_;
    return invalid(fmt::format("{} has no {}", hw::quoted_text(cell), hw::quoted_text(text_)));
  }
  if (pattern_.mark_count() == 0) return 1.0;
  const auto number = parse_number<double>(found[1].str());
  if (number && std::isfinite(*number)) return *number;
  return invalid(fmt::format("what {} finds in {} is {}; it must be a number",
                             hw::quoted_text(text_), hw::quoted_text(cell),
                             hw::quoted_text(found[1].str())));
}

}  // namespace accsim::sim
