#pragma once
#include <string>
#include <vector>

namespace accsim::sim {

/// A sentence for each file of external data that a model written to `output` looks for in another
/// folder than `model`, of which it was made, did.
std::vector<std::string> moved_weights(const std::vector<std::string>& external,
                                       const std::string& model, const std::string& output);

}  // namespace accsim::sim
