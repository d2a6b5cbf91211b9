#pragma once
#include <vector>

#include "sim/lower/network_ends.h"

namespace accsim::sim {

/// Does the layer's node only change the order of dims?
bool is_turn(const Graph& graph, const Layer& l);

/// A layer whose output 0 lies as the only tensor does that it reads.
struct Carrier {
  Layer* layer = nullptr;  ///< nullptr: another one gives the tensor, or none
  TensorId from = kNoTensor;
  bool view = false;  ///< else elementwise
};

/// Carriers of a graph whose layers are laid out in their order: those before the one in work don't
/// change any more.
class Carriers {
 public:
  Carriers(const Graph& graph, Lowered& lowered, const NetworkEnds& ends)
      : graph_(graph), lowered_(lowered), ends_(ends), behind_(graph.tensors.size(), kNoTensor) {}

  /// The one that gives `id`.
  Carrier carrier_of(TensorId id) const;
  /// Who can give `id` in another layout by a copy of its own: the transpose before it, or the
  /// nearest view, as long as nobody reads what is between as it lies now. nullptr: nobody.
  Layer* moving_view(TensorId id);

 private:
  const Dims& dims(TensorId id) const { return graph_.tensor(id).dims; }
  /// The tensor that elementwise layers make `id` of, one behind another, as long as nobody else
  /// reads what is between.
  TensorId behind_elementwise(TensorId id);

  const Graph& graph_;
  Lowered& lowered_;
  const NetworkEnds& ends_;
  std::vector<TensorId> behind_;  ///< by tensor: behind_elementwise(), where it is known
};

}  // namespace accsim::sim
