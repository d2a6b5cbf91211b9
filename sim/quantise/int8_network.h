#pragma once
#include <memory>
#include <optional>
#include <set>

#include "sim/cost/left_out.h"
#include "sim/program/network_case.h"
#include "sim/quantise/float_runs.h"
#include "sim/quantise/quantised_constants.h"
#include "sim/quantise/tensor_scales.h"

namespace accsim::sim {

/// Real numbers of a network's parts, for CaseOptions; why some have none.
class NetworkConstants {
 public:
  NetworkConstants(const Graph& graph, const CostedNetwork& network, const hw::HwConfig& hw,
                   const FloatRuns& runs, const TensorScales& scales)
      : source_{graph, network, hw, runs.calibration(), scales, runs.constants()} {}
  std::optional<PartNumbers> operator()(const NetworkPart& part);
  const Errors& unknown_errors() const { return unknown_; }
  /// The layers of these.
  const std::set<size_t>& unknown_layers() const { return layers_; }

 private:
  ConstantsSource source_;
  Errors unknown_;
  std::set<size_t> layers_;
};

/// A network in int8 from end to end: its one program, with scales and weights of a float network.
/// The host computes layers whose commands don't give their values, or whose numbers aren't known.
/// It does so in float on the program's results, and the program goes on with the host's results in
/// int8.
class Int8Network {
 public:
  /// Graph, network and runs live as long as the result. Errc::unsupported: all layers are the
  /// host's, and why. Beyond what RunOptions::memory allows it throws ref::BeyondMemory.
  static Result<Int8Network> make(const Graph& graph, const CostedNetwork& network,
                                  const hw::HwConfig& hw, const FloatRuns& runs,
                                  const ref::RunOptions& options);

  struct Outcome {
    hw::MemoryImage image;                   ///< what the program leaves
    std::map<TensorId, ref::Array> outside;  ///< inputs, and what the host computed
    int64_t compared = 0;                    ///< results that equal the integer reference's
  };
  /// Runs it on golden, again for what the host computes on the way; compares each result with the
  /// integer reference. `inputs`: the graph's.
  Result<Outcome> run_program(const std::map<TensorId, ref::Array>& inputs) const;
  /// A tensor's values then.
  Result<ref::Array> values_of(const Outcome& outcome, TensorId id) const;

  const NetworkCase& program() const { return case_; }
  bool is_hosted(size_t layer) const;

 private:
  Int8Network(const Graph& graph, const CostedNetwork& network, const FloatRuns& runs,
              ref::RunOptions options)
      : graph_(&graph),
        network_(&network),
        runs_(&runs),
        options_(std::move(options)),
        left_out_(left_out_layers(network.order, network.lowered.layers.size())) {}
  /// The program of the layers that aren't the host's, and which are.
  Status find_program(const hw::HwConfig& hw);
  void find_tensors();
  void find_hosted();
  /// Of all tensors of the program, once.
  int64_t image_bytes() const;
  const Layout& layout(TensorId id) const {
    return network_->lowered.layouts[static_cast<size_t>(id)];
  }
  /// Tensor of the program that has a tensor's bytes.
  std::optional<size_t> program_tensor(TensorId id) const;
  /// Which part of it they are.
  SubTensorBytes place_in_bytes(TensorId id) const;
  /// The float that integers are given as (lay_out()), or the tensor itself.
  TensorId shown_as(TensorId id) const;
  void store_tensor(TensorId id, const ref::Array& array, hw::MemoryImage& image) const;
  /// A tensor's values where they needn't be computed: constants, what was given or computed
  /// before, what the program has left.
  std::optional<Result<ref::Array>> known_values(const Outcome& outcome, TensorId id) const;
  Status run_hosted(int after, hw::MemoryImage& image, Outcome& outcome) const;

  const Graph* graph_;
  const CostedNetwork* network_;
  const FloatRuns* runs_;
  ref::RunOptions options_;
  TensorScales scales_;
  NetworkCase case_;
  std::vector<std::string_view> left_out_;  ///< by layer: left_out_layers()
  std::set<size_t> unknown_;                ///< layers without known numbers
  std::shared_ptr<ref::Held> held_;         ///< the image of it
  std::map<TensorId, TensorId> roots_;      ///< by tensor of a layer: the one whose bytes it shows
  std::map<TensorId, SubTensorBytes> parts_;  ///< by tensor of a layer: which of those bytes
  std::map<TensorId, size_t> of_root_;        ///< tensors of the program
  std::map<TensorId, size_t> makers_;         ///< layers, by tensors that they give
  /// Layers of the host by the number of runs of the program that they have to come after.
  std::multimap<int, size_t> hosted_;
};

}  // namespace accsim::sim
