#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace accsim::sim {

/// Signal and noise of int8 results against those in float, summed over elements.
struct SignalNoise {
  double signal = 0;  ///< squares of the float results
  double noise = 0;   ///< squares of the differences
  /// Elements that are NaN in float, or so large that they stand for infinity: not compared.
  int64_t left_out = 0;
  int64_t compared = 0;
  void add_pair(double wanted, double got) {
    ++compared;
    signal += wanted * wanted;
    noise += (wanted - got) * (wanted - got);
  }
  /// 10 log10(signal / noise); infinite without noise, NaN where nothing was compared.
  double snr_db() const;
};

/// An output of a network in int8, over all inputs.
struct OutputQuality {
  std::string name;
  SignalNoise signal;
  /// Rows of the last axis (of images, rank 4 and more: of axis 1), and those whose largest element
  /// is the same in int8, the first of equal ones counting. Rows with a NaN in float don't count.
  int64_t rows = 0, agreed = 0;
};

/// The result of a layer, of the first input.
struct LayerQuality {
  std::string layer, op_type;
  SignalNoise signal;
};

/// How near a network in int8 comes to the float run.
struct QualityReport {
  std::string model, hw;
  int64_t inputs = 0;      ///< that were computed
  int64_t calibrated = 0;  ///< whose float runs the scales are from
  double percentile = 100;
  int64_t referenced = 0;  ///< results equal to the integer reference's, of all inputs
  std::vector<std::string>
      left_out;  ///< layers without commands of true values: the host's, in float
  std::vector<OutputQuality> outputs;
  std::vector<LayerQuality> layers;
};

/// Lines for each output.
std::string to_text(const QualityReport& report);
/// Schema accsim.quality/1.
std::string to_json(const QualityReport& report);

}  // namespace accsim::sim
