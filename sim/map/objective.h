#pragma once
#include <limits>
#include <optional>
#include <string_view>

#include "sim/map/cost_evaluator.h"

namespace accsim::sim {

/// What the mapping search minimises.
enum class Objective : uint8_t {
  cycles,   ///< until the last byte of the op's output has arrived
  energy,   ///< picojoules of the op
  edp,      ///< energy-delay product: picojoules times cycles, of the network
  traffic,  ///< bytes read from and written to DRAM
};
inline constexpr size_t kObjectives = 4;
/// As --objective and reports spell it: "cycles", "energy", "edp", "traffic".
std::string_view name(Objective o);
/// The objective of that name; nothing when there is none.
std::optional<Objective> objective_from(std::string_view name);

/// The slack of who asks for none.
inline constexpr double kDefaultSlack = 0.01;

/// The objective function of a search: what it minimises, and how quantities are weighed.
struct ObjectiveFunction {
  Objective quantity = Objective::cycles;
  /// Of cycles, for products: among mappings that take at most this share more than the fewest, the
  /// one of the least energy_traffic().
  double slack = 0;
  /// Of edp: picojoules that a cycle is worth, where a product of sums over many ops is to be least
  /// (network_edp()); 0: the op is all there is.
  double cycle_price = 0;
  /// Of slack: bytes of the product's tensors, wherever they lie.
  double tensor_bytes = 0;

  /// Is energy looked at?
  bool weighs_energy() const {
    return quantity == Objective::energy || quantity == Objective::edp || has_slack();
  }
  bool has_slack() const { return quantity == Objective::cycles && slack > 0; }
};

/// Of a product alone in a network that has room left: the slack this many times over. Products
/// that read weights once instead of twice take 10 to 15 % longer alone, and hardly longer in all.
inline constexpr double kWideSlack = 16;
/// The objective with that much slack.
ObjectiveFunction widen_slack(ObjectiveFunction objective);

/// What counts first; the smaller is the better.
double primary_score(const ObjectiveFunction& objective, int64_t cycles, double picojoules,
                     int64_t dram_bytes);

/// Slack looks for the least of this: energy times traffic, picojoules times bytes. Bytes of the
/// tensors count, too, as they have to be moved in any case. So a product that hardly needs DRAM
/// pays no energy to need less of it.
double energy_traffic(const ObjectiveFunction& objective, double picojoules, double dram_bytes);

/// How good a mapping is: by the objective, ties by cycles, then by DRAM bytes.
struct Score {
  double primary = 0;
  int64_t cycles = 0, dram_bytes = 0;
  double picojoules = 0;      ///< where the objective weighs energy
  double energy_traffic = 0;  ///< where it has slack
  friend auto operator<=>(const Score&, const Score&) = default;
};
/// The score of a program with this cost on the machine.
Score mapping_score(const ObjectiveFunction& objective, const Cost& cost, const hw::HwConfig& hw);

/// What a search has found so far. A candidate whose bounds say that it is no better is left out.
struct Found {
  double primary = std::numeric_limits<double>::infinity();  ///< the best, ...
  int64_t cycles = std::numeric_limits<int64_t>::max();      ///< ... and of those the fewest
  /// Where the objective has slack: of what is within it the least energy_traffic(), its cycles.
  double energy_traffic = std::numeric_limits<double>::infinity();
  int64_t energy_traffic_cycles = std::numeric_limits<int64_t>::max();
};

}  // namespace accsim::sim
