#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/phases.h"

namespace accsim::sim {

/// What points can be compared by; the smaller the better.
enum class Metric : uint8_t { cycles, time, energy, edp, area, sram, traffic };
inline constexpr size_t kMetrics = 7;

/// How a metric is called in the places where it appears.
struct MetricInfo {
  std::string_view name;    ///< in specs and after --pareto
  std::string_view column;  ///< of the store's table of points
  std::string_view unit;
};
/// The names and unit of a metric.
const MetricInfo& metric_info(Metric m);
/// The metric of that name; nothing when there is none.
std::optional<Metric> metric_from(std::string_view name);
/// All names, in the order of Metric.
std::vector<std::string> metric_names();

/// What a mix of networks costs on one machine: sums over the networks, each times its weight.
struct PointTotals {
  int64_t cycles = 0;
  double energy_pj = 0;
  int64_t macs = 0;
  int64_t dram_read_bytes = 0, dram_write_bytes = 0;
  int64_t shared_bytes = 0;
  int64_t shared_peak_bytes = 0;  ///< the largest of the networks'
  double clock_mhz = 0;
  double area_mm2 = 0;     ///< area.h
  int64_t sram_bytes = 0;  ///< all buffers and the shared memory

  double time_us() const { return static_cast<double>(cycles) / clock_mhz; }
  double edp() const { return energy_pj * time_us(); }  ///< pJ x us
  int64_t traffic_bytes() const { return dram_read_bytes + dram_write_bytes; }
  double metric_value(Metric m) const;

  friend bool operator==(const PointTotals&, const PointTotals&) = default;
};

/// A row of the store's `layers`: one layer of one network of the mix, once.
struct LayerTotals {
  std::string model, layer, op_type, mapping;
  int64_t cycles = 0;
  double energy_pj = 0;
  int64_t macs = 0, dram_read_bytes = 0, dram_write_bytes = 0;
};

/// A point of the space as it is stored.
struct PointRow {
  int64_t point = 0;                ///< its number in the grid, the last axis counting fastest
  std::string config;               ///< hash of the machine
  std::vector<std::string> labels;  ///< of the axes' steps; filled by who knows the space
  std::string reason;               ///< why it can't be costed; empty: it can
  PointTotals totals;
  std::vector<LayerTotals> layers;
  std::vector<PhaseTotals> phases;

  bool is_feasible() const { return reason.empty(); }
};

}  // namespace accsim::sim
