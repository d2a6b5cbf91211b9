#pragma once
#include <string_view>
#include <vector>

namespace accsim::sim {

/// Columns of the store's table `points` beside those of the axes, in order: docs/sweep-store.md.
inline constexpr std::string_view kPointColumns[] = {
    "point",    "config",          "reason",           "cycles",       "energy_pj",
    "macs",     "dram_read_bytes", "dram_write_bytes", "shared_bytes", "shared_peak_bytes",
    "area_mm2", "sram_bytes",      "time_us",          "edp_pj_us",    "traffic_bytes"};

/// Whether a column of kPointColumns holds what was counted or measured of a point.
inline bool is_number_column(std::string_view name) {
  return name != "point" && name != "config" && name != "reason";
}

/// Whether an axis of that name would collide with a column, SQLite's own names of the row
/// included.
inline bool is_store_column(std::string_view name) {
  for (const std::string_view column : kPointColumns)
    if (column == name) return true;
  return name == "rowid" || name == "oid";
}

}  // namespace accsim::sim
