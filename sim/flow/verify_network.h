#pragma once
#include <set>

#include "sim/flow/network_numbers.h"
#include "sim/flow/verify.h"

namespace accsim::sim {

/// A network as one program, with all that its memory holds when it begins.
struct NetworkCase {
  /// The network's, with more of a shared buffer for what layers that are left out would store.
  hw::HwConfig hw;
  NetworkProgram network;
  std::vector<PartNumbers> numbers;  ///< by part
  hw::MemoryImage image;
  VerifiedNetwork report;
};

/// What a case is made of.
struct CaseOptions {
  uint64_t seed = 1;
  /// Layers that are left out beside those that have to be (left_out_layers()).
  std::set<size_t> left_out = {};
  /// Numbers of a part that aren't random; nullopt: they are.
  std::function<std::optional<PartNumbers>(const NetworkPart&)> numbers = nullptr;
};

/// The program of all layers but those that are left out (left_out_layers()), with random numbers
/// and inputs and the weights that the file has, unless numbers are given. Errc::unsupported when
/// there is no other layer, Errc::capacity when the tensors in the shared buffer can't be placed.
Result<NetworkCase> network_case(const Graph& graph, const CostedNetwork& network,
                                 const hw::HwConfig& hw, const CaseOptions& options);
inline Result<NetworkCase> network_case(const Graph& graph, const CostedNetwork& network,
                                        const hw::HwConfig& hw, uint64_t seed) {
  return network_case(graph, network, hw, CaseOptions{.seed = seed});
}

/// Runs it on golden and integer reference, and on RTL and timing model what `options.layers` says:
/// a part is a program of its own (hw/program/cut_program.h), which begins in reset with the memory
/// that golden has there. `options.progress` is told of cycles.
VerifyReport verify_network(const NetworkCase& c, const CostedNetwork& network,
                            const VerifyOptions& options);

}  // namespace accsim::sim
