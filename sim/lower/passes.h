#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// What holds of a lowered graph besides its layers and readers: each pass gives one.
enum class PassFact : uint8_t {
  parameters,
  patterns,
  logarithms,
  rotations,
  repeats,
  experts,
  layouts,
  rows,
  lanes,
  sub_tensors,
};

/// lower() ends with the first stage, lower_in_memory() with the second.
enum class PassStage : uint8_t { merging, in_memory };

/// One walk over the layers of a graph, which changes them.
struct LoweringPass {
  std::string_view name;  ///< of its function
  PassStage stage;
  std::vector<PassFact> needs;  ///< what earlier passes must have given
  PassFact gives;
  void (*run)(const Graph& graph, Lowered& lowered);
};

/// What passes begin with: every node's fate and work, BatchNorm, biases and functions folded into
/// the layers that they belong to.
Result<Lowered> lower_nodes(const Graph& graph);

/// All passes, in the order in which they run.
std::span<const LoweringPass> lowering_passes();

/// Names the first pass that needs what no earlier one gives, and that one's name as well as the
/// table lowering_passes() has it; "" where there is none.
std::string misplaced_pass(std::span<const LoweringPass> passes);

/// Runs the passes up to the end of a stage. Stops the program where one is misplaced.
void run_passes(std::span<const LoweringPass> passes, PassStage last, const Graph& graph,
                Lowered& lowered);

}  // namespace accsim::sim
