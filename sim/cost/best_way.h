#pragma once
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/result.h"
#include "sim/cost/array_kinds.h"
#include "sim/cost/key_blocks.h"

namespace accsim::sim {

/// A network costed in one way.
template <class Costed>
struct OneWay {
  Costed costed;
  NetworkCost cost;                  ///< of it
  std::vector<TensorId> in_the_way;  ///< tensors that may be better in DRAM
};

/// The best of all ways in which a network is costed:
/// - on an array whose operands stay and on one whose sums do;
/// - as it is, and with attention in blocks of keys, of each of `blocks` sizes;
/// - with tensors that are in the way of fusion groups in DRAM.
/// `cost` is called with options, the size (0: as it is, or 1 and on) and the tensors in DRAM.
/// Errors: those of the network as it is on the first array, if nothing else is good. Each search
/// has the limit of `options` to itself; one of the network as it is that comes to it ends all.
template <class Costed, class CostOneWay>
Result<Costed> best_way(const hw::HwConfig& hw, const MapOptions& options, size_t blocks,
                        const CostOneWay& cost) {
  std::optional<Costed> out;
  Errors errors;
  BestWay best(options.objective_function());
  for (MapOptions kind : one_array_each(hw, options))
    for (size_t block = 0; block <= blocks; ++block) {
      if (options.limit) kind.limit = std::make_shared<SearchLimit>(options.limit->most_tilings());
      Result<OneWay<Costed>> way = cost(kind, block, std::span<const TensorId>());
      if (way && !way->in_the_way.empty()) {
        Result<OneWay<Costed>> other = cost(kind, block, std::span(way->in_the_way));
        if (other && other->cost.cycles < way->cost.cycles) way = std::move(other);
      }
      if (way) {
        if (best.take_if_better(way->cost)) out = std::move(way->costed);
        continue;
      }
      if (block > 0) continue;
      if (kind.limit && kind.limit->is_over()) return way.errors();
      if (errors.empty()) errors = way.errors();
      break;
    }
  if (!out) return errors;
  out->fewest_cycles = best.fewest_of_all();
  return std::move(*out);
}

}  // namespace accsim::sim
