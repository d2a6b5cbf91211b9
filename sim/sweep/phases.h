#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/cost/workload.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"

namespace accsim::sim {

/// What a network of the mix does for a language model: the run over the prompt, or a step behind
/// it.
enum class Phase : uint8_t { none, prefill, decode };
inline constexpr std::array<std::string_view, 3> kPhases = {"none", "prefill", "decode"};

/// A row of the store's `phases`: what all runs of a phase cost, sums over its networks, each times
/// its weight. A network that gives no tokens is a part of the other ones' runs.
struct PhaseTotals {
  Phase phase = Phase::none;
  int64_t runs = 0;    ///< of the networks that give tokens
  int64_t tokens = 0;  ///< that they give: a run one of each sequence it works on
  int64_t cycles = 0;
  double energy_pj = 0;
  int64_t dram_read_bytes = 0, dram_write_bytes = 0;
  /// Of the parameters, in the machine's type: of the largest network that gives tokens, and of
  /// each part once.
  int64_t weight_bytes = 0;
  int64_t cache_bytes = 0;  ///< of keys and values of earlier tokens that are read; likewise

  friend bool operator==(const PhaseTotals&, const PhaseTotals&) = default;
};

/// A network of a phase and how often it runs.
struct PhaseShare {
  PhaseTotals once;  ///< one run of it
  int64_t weight = 1;
};

/// A row a phase that there is.
std::vector<PhaseTotals> sum_phases(std::span<const PhaseShare> networks);

/// Bytes of a network's parameters in the machine's weight type; on one of several modes in the
/// types that the file has them in.
int64_t weight_memory(const Lowered& lowered, const hw::HwConfig& hw);

/// Bytes of the inputs that a network appends to, as a decoder does to keys and values, in the
/// machine's activation type. These are floats that a Concat reads which writes an output, and past
/// keys and values of attention operators.
int64_t cache_memory(const Graph& graph, const hw::HwConfig& hw);

}  // namespace accsim::sim
