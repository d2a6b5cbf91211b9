#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "sim/elaborate/added_nodes.h"

namespace accsim::sim {

/// Which keys a query sees, by place. The first query has the place of key `own`.
struct KeyWindow {
  int64_t own = 0;
  std::optional<int64_t> before = {};  ///< so many keys before a query's own; all
  std::optional<int64_t> behind = {};  ///< so many behind it; all

  bool sees_all() const { return !before && !behind; }
};

/// Scaled dot-product attention of tensors in memory.
struct AttentionTensors {
  TensorId q = kNoTensor;  ///< batch x heads x length x size
  /// batch x heads that several query heads may share x length x size. There may be room for more
  /// keys than there are.
  TensorId k = kNoTensor, v = kNoTensor;
  int64_t keys = 0;  ///< the first so many are there
  KeyWindow window{};
  double scale = 1;
  double softcap = 0;          ///< scores are between this and its negative; 0: they aren't capped
  TensorId mask = kNoTensor;   ///< added to scores, or booleans that keep some; broadcasts to them
  TensorId sinks = kNoTensor;  ///< by head, a score that is in the softmax's sum only
};

/// Which of its keys a block of queries sees, as tensors with their names: by numbers of queries
/// and of keys, the first and the last key that query 0 sees, and type. Layers share them.
using SharedMasks = std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, DType>,
                             std::pair<TensorId, std::string>>;

/// Queries of a block, of which the keys are cut to those that any of it sees. Small blocks compute
/// few scores for nothing, large ones load keys less often. All queries, where each sees all keys.
int64_t rows_of_block(int64_t queries, const KeyWindow& window);

/// Adds it as products, a softmax along the keys, and what is between. Where queries see only some
/// of the keys, blocks of them are done one after the other, each with the keys that any of it
/// sees. Gives batch x heads x length x size of a value, as output `output` of the operator.
TensorId add_attention(const AttentionTensors& a, AddedNodes& nodes, SharedMasks& masks,
                       int output);

}  // namespace accsim::sim
