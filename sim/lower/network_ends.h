#pragma once
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// Views that are looked through for a transpose, or for an input or a result of the network.
inline constexpr int kMostViews = 64;

/// What the network is given and what it gives, and who stands at these ends. It asks layers as
/// they are at the time.
class NetworkEnds {
 public:
  NetworkEnds(const Graph& graph, const Lowered& lowered);

  /// Is it given in every run anew?
  bool is_input(TensorId id) const { return is_input_[static_cast<size_t>(id)]; }
  bool is_output(TensorId id) const { return is_output_[static_cast<size_t>(id)]; }
  /// Has it one reader, and nobody else sees it?
  bool is_between(TensorId id) const { return readers_of(id).size() == 1 && !is_output(id); }

  /// Is a transpose all that lies between what the network is given and what it gives, and would
  /// it leave that in another order than that of its dims? Then it moves: else a network of one
  /// transpose would be free.
  bool hands_over(const Layer& l, const Layout& turned) const;
  /// Is it given in every run, as it is or behind views and transposes, and does nobody else read
  /// it?
  bool is_given_alone(TensorId id) const;
  /// Does the network give it, as it is or as views and transposes show it to whoever?
  bool is_given_back(TensorId id) const;
  /// Integers that the network is given and has converted to floats, with nobody else to read them,
  /// directly or as views: it is given them as all floats are, in the machine's type.
  bool is_given_so(const Layer& l) const;

 private:
  const std::vector<NodeId>& readers_of(TensorId id) const {
    return lowered_.readers[static_cast<size_t>(id)];
  }
  const Layer& layer_at(NodeId id) const { return lowered_.layers[static_cast<size_t>(id)]; }
  /// Is it a result of the network, or views of it that nobody else reads?
  bool is_shown(TensorId id) const;

  const Graph& graph_;
  const Lowered& lowered_;
  std::vector<bool> is_input_, is_output_;
};

}  // namespace accsim::sim
