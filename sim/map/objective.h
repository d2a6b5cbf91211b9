#pragma once
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

/// An objective with what goes with it.
struct Aim {
  Objective objective = Objective::cycles;
  /// Of cycles, for products: among mappings that take at most this share more than the fewest, the
  /// one of the least burden().
  double slack = 0;
  /// Of edp: picojoules that a cycle is worth, where a product of sums over many ops is to be least
  /// (network_edp()); 0: the op is all there is.
  double cycle_price = 0;
  /// Of slack: bytes of the product's tensors, wherever they lie.
  double tensor_bytes = 0;

  /// Is energy looked at?
  bool weighs_energy() const {
    return objective == Objective::energy || objective == Objective::edp || has_slack();
  }
  bool has_slack() const { return objective == Objective::cycles && slack > 0; }
};

/// Of a product alone in a network that has room left: the slack this many times over. Products
/// that read weights once instead of twice take 10 to 15 % longer alone, and hardly longer in all.
inline constexpr double kBeyondSlack = 16;
/// The aim with that much slack.
Aim beyond_slack(Aim aim);

/// What counts first; the smaller is the better.
double primary_score(const Aim& aim, int64_t cycles, double picojoules, int64_t dram_bytes);

/// Slack looks for the least of this: energy times traffic, picojoules times bytes. Bytes of the
/// tensors count, too, as they have to be moved in any case. So a product that hardly needs DRAM
/// pays no energy to need less of it.
double burden(const Aim& aim, double picojoules, double dram_bytes);

/// How good a mapping is: by the objective, ties by cycles, then by DRAM bytes.
struct Score {
  double primary = 0;
  int64_t cycles = 0, dram_bytes = 0;
  double picojoules = 0;  ///< where the aim weighs energy
  double burden = 0;      ///< where it has slack
  friend auto operator<=>(const Score&, const Score&) = default;
};
/// The score of a program with this cost on the machine.
Score mapping_score(const Aim& aim, const Cost& cost, const hw::HwConfig& hw);

}  // namespace accsim::sim
