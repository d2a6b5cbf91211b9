#include "sim/sweep/totals.h"

namespace accsim::sim {
namespace {

constexpr std::array<MetricInfo, kMetrics> kInfo = {{{"cycles", "cycles", "cycles"},
                                                     {"time", "time_us", "us"},
                                                     {"energy", "energy_pj", "pJ"},
                                                     {"edp", "edp_pj_us", "pJ*us"},
                                                     {"area", "area_mm2", "mm2"},
                                                     {"sram", "sram_bytes", "B"},
                                                     {"traffic", "traffic_bytes", "B"}}};

}  // namespace

const MetricInfo& metric_info(Metric m) { return kInfo[static_cast<size_t>(m)]; }

std::optional<Metric> metric_from(std::string_view name) {
  for (size_t i = 0; i < kMetrics; ++i)
    if (kInfo[i].name == name) return static_cast<Metric>(i);
  return std::nullopt;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> out;
  for (const MetricInfo& m : kInfo) out.emplace_back(m.name);
  return out;
}

double PointTotals::metric_value(Metric m) const {
  switch (m) {
    case Metric::cycles:
      return static_cast<double>(cycles);
    case Metric::time:
      return time_us();
    case Metric::energy:
      return energy_pj;
    case Metric::edp:
      return edp();
    case Metric::area:
      return area_mm2;
    case Metric::sram:
      return static_cast<double>(sram_bytes);
    case Metric::traffic:
      break;
  }
  return static_cast<double>(traffic_bytes());
}

}  // namespace accsim::sim
