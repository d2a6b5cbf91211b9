#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "sim/program/network_numbers.h"
#include "sim/report/verify.h"

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

}  // namespace accsim::sim
