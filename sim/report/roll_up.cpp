#include "sim/report/roll_up.h"

#include <fmt/format.h>

#include <map>

#include "sim/base/parse_number.h"
#include "sim/report/bounds.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kModule = "module";

std::string group_of(const LayerReport& layer, const Grouping& by) {
  switch (by.by) {
    case Grouping::By::op:
      return layer.op_type;
    case Grouping::By::fate:
      return std::string(name(layer.fate));
    case Grouping::By::module:
      break;
  }
  return outer_module(layer.module, by.depth);
}

}  // namespace

std::string outer_module(const std::string& path, int64_t depth) {
  if (path.empty()) return "(no module)";
  size_t end = 0;
  for (int64_t part = 0; part < depth; ++part) {
    end = path.find('.', part == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path;
  }
  return depth == 0 ? path : path.substr(0, end);
}

std::string grouping_word(const Grouping& by) {
  if (by.by == Grouping::By::op) return "op";
  if (by.by == Grouping::By::fate) return "fate";
  return by.depth == 0 ? std::string(kModule) : fmt::format("{}:{}", kModule, by.depth);
}

std::optional<Grouping> grouping_from(std::string_view text) {
  if (text == "op") return Grouping{Grouping::By::op};
  if (text == "fate") return Grouping{Grouping::By::fate};
  if (!text.starts_with(kModule)) return std::nullopt;
  text.remove_prefix(kModule.size());
  if (text.empty()) return Grouping{};
  const auto depth = parse_number<int64_t>(text.substr(1));
  if (text[0] != ':' || !depth || *depth < 1) return std::nullopt;
  return Grouping{.depth = *depth};
}

void roll_up(const Grouping& by, Report& report) {
  report.grouped_by = grouping_word(by);
  report.groups.clear();
  std::map<std::string, size_t> known;
  for (const LayerReport& layer : report.layers) {
    const auto [place, is_new] = known.emplace(group_of(layer, by), report.groups.size());
    if (is_new) report.groups.push_back({.name = place->first});
    LayerGroup& group = report.groups[place->second];
    ++group.layers;
    group.costs += layer.costs;
  }
  for (LayerGroup& group : report.groups) group.bound = busiest_bound(group.costs);
}

}  // namespace accsim::sim
