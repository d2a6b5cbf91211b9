#pragma once
#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <variant>
#include <vector>

#include "hw/dot_product/side_units.h"
#include "tests/hw/dot_product/measured.h"

namespace accsim::hw {

/// The machine of the tables.
inline constexpr SideUnits kSmallUnits;

/// A layer of one of the units beside the engine.
using SideLayer = std::variant<PoolLayer, LrnLayer, PointLayer>;

/// Strips of a pooling row, from "split=3 partial_in(first,last,mid)=2,2,12 partial_out=1,2,6".
/// Strips after the first read what the windows at the cut have in common again.
inline std::vector<PoolStrip> measured_strips(const MeasuredRow& row) {
  static const std::regex kSplit(R"(split=(\d+) partial_in\(first,last,mid\)=(\d+),(\d+),(\d+) )"
                                 R"(partial_out=(\d+),(\d+),(\d+))");
  std::smatch found;
  if (!std::regex_search(row.at("op"), found, kSplit)) return {};
  const auto n = [&](size_t group) { return std::stoll(found[group]); };
  const int64_t again = number(row, "S") - number(row, "stride_x");
  std::vector<PoolStrip> strips{{n(2), n(5)}};
  for (int64_t mid = 2; mid < n(1); ++mid) strips.push_back({n(4) + again, n(7)});
  strips.push_back({n(3) + again, n(6)});
  return strips;
}

/// A stage of a point-wise row, from "bs:alu mul relu bn:off ew:off bs reads alu,per element".
inline std::optional<PointStage> measured_stage(const MeasuredRow& row, const std::string& name) {
  const std::string& op = row.at("op");
  const size_t begin = op.find(name + ":") + name.size() + 1;
  const std::string what = op.substr(begin, op.find(':', begin) - begin);
  if (what.starts_with("off")) return {};
  PointStage stage;
  stage.alu = what.find("alu") != std::string::npos;
  stage.mul = what.find("mul") != std::string::npos || what.find("prelu") != std::string::npos;
  const size_t reads = op.find(name + " reads ");
  if (reads != std::string::npos && op.find("per element", reads) != std::string::npos)
    stage.operand_reads = std::count(op.begin() + static_cast<int64_t>(reads), op.end(), ',');
  return stage;
}

/// The layer of a row that isn't a convolution.
inline SideLayer measured_side_layer(const MeasuredRow& row) {
  const auto n = [&](const char* column) { return number(row, column); };
  if (row.at("unit") == "pdp")
    return PoolLayer{n("W"),        n("H"),     n("C"),     n("S"),  n("R"),  n("stride_x"),
                     n("stride_y"), n("pad_l"), n("pad_t"), n("OW"), n("OH"), measured_strips(row)};
  if (row.at("unit") == "cdp")
    return LrnLayer{n("W"), n("H"), n("C"), row.at("op").ends_with("bypass=3")};
  PointLayer layer{n("W"), n("H"), n("C"), {}};
  for (const char* name : {"bs", "bn"})
    if (const std::optional<PointStage> stage = measured_stage(row, name))
      layer.stages.push_back(*stage);
  return layer;
}

inline Result<SideEvents> time_side_layer(const SideLayer& layer, const SideUnits& units) {
  if (const auto* pool = std::get_if<PoolLayer>(&layer)) return time_pooling(*pool, units);
  if (const auto* lrn = std::get_if<LrnLayer>(&layer)) return time_lrn(*lrn, units);
  return time_point(std::get<PointLayer>(layer), units);
}

}  // namespace accsim::hw
