#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// `batch` products of M x K by K x N, each with its own second operand.
struct ProductShape {
  int64_t batch = 1, m = 1, k = 1, n = 1;
  bool weights = true;  ///< the second operand is constant
};

/// softmax(Q K^T) V of one sequence: Q is heads x queries x head_dim, K and V are kv_heads x keys x
/// head_dim. Heads that share keys are computed as one product of all their queries.
struct AttentionShape {
  int64_t heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 1;
};

/// What a shape costs, its operands coming from DRAM and its result going there.
struct Latency {
  int64_t cycles = 0, macs = 0;
  int64_t read_bytes = 0, write_bytes = 0;  ///< of DRAM
  double nanoseconds = 0, energy_pj = 0;

  friend bool operator==(const Latency&, const Latency&) = default;
};

/// Costs of single shapes on one machine, for simulators of larger systems: what the main job says
/// of a network of that one product or attention. Remembers every shape. Not thread-safe.
class LatencyModel {
 public:
  LatencyModel(hw::HwConfig hw, MapOptions options);

  /// Errors: usage for sizes below 1 and heads that kv_heads doesn't divide, and cost_network()'s.
  Result<Latency> product_latency(const ProductShape& shape);
  Result<Latency> attention_latency(const AttentionShape& shape);

  const hw::HwConfig& hw() const { return hw_; }
  size_t known_shapes() const { return known_.size(); }

 private:
  template <class Shape>
  Result<Latency> known_or_costed(const Shape& shape);

  hw::HwConfig hw_;
  MapOptions options_;
  std::unordered_map<std::string, Latency> known_;
};

}  // namespace accsim::sim
