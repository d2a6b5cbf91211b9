#pragma once
#include <set>

#include "sim/quantise/calibration.h"
#include "sim/quantise/function_table.h"

namespace accsim::sim {

/// Float runs of a network, and what is kept of them to make it int8.
class FloatRuns {
 public:
  /// `keep`: tensors whose arrays are kept of each input.
  FloatRuns(const Graph& graph, ref::RunOptions options, double percentile,
            std::set<TensorId> keep);

  /// Arrays by tensor, and the graph's outputs.
  struct Kept {
    std::map<TensorId, ref::Array> tensors;
    ref::RunResult result;
  };
  /// One input: its ranges are taken.
  Result<Kept> run_float(const ref::Arrays& inputs);

  const Calibration& calibration() const { return calibration_; }
  /// Constants that are stored, drawn, or computed off line in a run before.
  const Constants& constants() const { return constants_; }

 private:
  Result<ref::Array> constant_value(TensorId id) const;

  const Graph& graph_;
  ref::RunOptions options_;
  Calibration calibration_;
  const std::set<TensorId> keep_;
  std::vector<ref::Array> weights_;          ///< by tensor id, once loaded
  std::map<TensorId, ref::Array> computed_;  ///< constants that nodes compute
  Constants constants_;
};

}  // namespace accsim::sim
