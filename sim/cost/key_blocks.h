#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/graph/graph.h"
#include "sim/map/objective.h"

namespace accsim::sim {

/// Attention over at least so many keys is long.
inline constexpr int64_t kLongAttention = 4096;

/// The network with its attention in blocks of keys (in_key_blocks()), in each size of blocks that
/// may be better on a machine than all keys at once. None
/// - where the graph says how its attention is done;
/// - where no attention is long, with so many queries that scores and weights, each written and
///   read, are more elements than keys and values;
/// - without a shared buffer, where scores of blocks don't stay on chip either;
/// - of more nodes than a model may have.
/// The sizes are the same for all machines, so that bounds of a space of them hold.
std::vector<Graph> in_key_blocks_to_try(const Graph& graph, const hw::HwConfig& hw);

/// What a network takes, as far as objectives look at it.
struct NetworkCost {
  int64_t cycles = 0;
  int64_t fewest = 0;  ///< cycles without any slack
  double picojoules = 0;
  int64_t dram_bytes = 0;
};

/// Is `a` better than `b`? With slack: of what takes at most that much more than the fewest cycles
/// of both, that of less energy times traffic. Ties go to `b`.
bool is_better(const NetworkCost& a, const NetworkCost& b, const ObjectiveFunction& objective);

/// The best of several ways to do a network, one after the other.
class BestWay {
 public:
  explicit BestWay(const ObjectiveFunction& objective) : objective_(objective) {}

  /// Is it the first, or better? Then it is the best from now on.
  bool take_if_better(const NetworkCost& way);
  /// Cycles without any slack, of all ways; there has been one.
  int64_t fewest_of_all() const { return best_.value().fewest; }

 private:
  std::optional<NetworkCost> best_;
  const ObjectiveFunction objective_;
};

}  // namespace accsim::sim
