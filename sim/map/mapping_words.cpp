#include "sim/map/mapping_words.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/map/pin.h"

namespace accsim::sim {

std::optional<double> slack_from(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= 0 && number <= (percent ? 100 : 0))) return std::nullopt;
  return number / 100;
}

std::string slack_text(double slack) { return fmt::format("{:g}%", slack * 100); }

Result<MapOptions> map_options(const MappingWords& words) {
  MapOptions out;
  Errors errors;
  for (size_t i = 0; i < hw::kDataflows; ++i) {
    const auto d = static_cast<hw::Dataflow>(i);
    if (words.dataflow == short_name(d) || words.dataflow == name(d)) out.dataflows = {d};
  }
  if (const auto objective = objective_from(words.objective))
    out.objective = *objective;
  else
    errors.push_back({Errc::usage,
                      fmt::format("{} not in {{cycles,energy,edp,traffic}}", words.objective),
                      "--objective"});
  if (const auto slack = slack_from(words.slack))
    out.slack = *slack;
  else
    errors.push_back({Errc::usage,
                      fmt::format("'{}' is not 0 or a percentage up to 100%, as 1%", words.slack),
                      "--slack"});
  if (out.slack > 0 && out.objective != Objective::cycles && words.slack != MappingWords().slack)
    errors.push_back(
        {Errc::usage,
         fmt::format("is for the objective cycles; by {} nothing is left to it", words.objective),
         "--slack"});
  if (words.effort == "rule")
    out.effort = MapEffort::rule;
  else if (words.effort != "search")
    errors.push_back(
        {Errc::usage, fmt::format("{} not in {{search,rule}}", words.effort), "--effort"});
  if (!words.dataflow.empty() && out.dataflows.empty())
    errors.push_back({Errc::usage,
                      fmt::format("'{}' is not a dataflow; use weight_stationary (ws), "
                                  "input_stationary (is) or output_stationary (os)",
                                  words.dataflow),
                      "--dataflow"});
  for (const std::string& text : words.mappings) {
    Result<MappingPin> pin = parse_pin(text);
    if (pin)
      out.pins.push_back(std::move(*pin));
    else
      errors.insert(errors.end(), pin.errors().begin(), pin.errors().end());
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim::sim
