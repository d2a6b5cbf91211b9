#include "sim/report/quality.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/base/json_text.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

/// A number JSON can hold; infinite where there is no noise, null where nothing was compared.
Json decibels_json(const SignalNoise& s) {
  const double db = s.snr_db();
  if (std::isnan(db)) return nullptr;
  return std::isfinite(db) ? Json(db) : Json(db > 0 ? "inf" : "-inf");
}

std::string quality_text(const SignalNoise& s) {
  std::string out = s.compared > 0 ? fmt::format("SNR {:.2f} dB against float", s.snr_db())
                                   : std::string("nothing to compare with float");
  if (s.left_out > 0)
    out += fmt::format(" ({} of {} elements, NaN or infinite in float, left out)", s.left_out,
                       s.left_out + s.compared);
  return out;
}

}  // namespace

double SignalNoise::snr_db() const {
  if (compared == 0) return std::numeric_limits<double>::quiet_NaN();
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

std::string to_text(const QualityReport& report) {
  std::string out =
      fmt::format("inputs: {}; scales from float runs of {}\n", report.inputs, report.calibrated);
  if (report.referenced > 0)
    out +=
        fmt::format("{} results equal the integer reference's, bit for bit\n", report.referenced);
  for (const std::string& layer : report.left_out)
    out += fmt::format("in float, of the host: {}\n", layer);
  for (const OutputQuality& o : report.outputs) {
    out += fmt::format("quality of '{}': {}", o.name, quality_text(o.signal));
    if (o.rows > 0) out += fmt::format("; top-1 agrees in {} of {}", o.agreed, o.rows);
    out += '\n';
  }
  return out;
}

std::string to_json(const QualityReport& report) {
  Json json{{"schema", "accsim.quality/1"},
            {"model", report.model},
            {"hw", report.hw},
            {"inputs", report.inputs},
            {"calibrated", report.calibrated},
            {"percentile", report.percentile},
            {"referenced", report.referenced},
            {"left_out", report.left_out},
            {"outputs", Json::array()},
            {"layers", Json::array()}};
  for (const OutputQuality& o : report.outputs)
    json["outputs"].push_back({{"name", o.name},
                               {"snr_db", decibels_json(o.signal)},
                               {"not_compared", o.signal.left_out},
                               {"rows", o.rows},
                               {"top1_agreed", o.agreed}});
  for (const LayerQuality& l : report.layers)
    json["layers"].push_back({{"layer", l.layer},
                              {"op_type", l.op_type},
                              {"snr_db", decibels_json(l.signal)},
                              {"not_compared", l.signal.left_out}});
  return json_text(json, 1) + "\n";
}

}  // namespace accsim::sim
