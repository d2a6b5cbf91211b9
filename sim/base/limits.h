#pragma once
#include <cstdint>
#include <string_view>

namespace accsim {

/// What one model may ask for at most, so that a small file can't take hours or all memory. Each
/// has an option of the command line that changes it, which messages name.
struct Limits {
  /// Nodes, iterations and calls that a model becomes, beyond the nodes of its main graph.
  int64_t nodes = 100'000;
  /// Bytes of names and attributes of what is expanded: nodes inside of loops and functions.
  int64_t graph_bytes = int64_t{64} << 20;
  /// Dims of one tensor.
  int64_t rank = 64;
  /// Different operations that programs are looked for, one by one.
  int64_t programs = 1'000;
  /// Bytes of a run's arrays that are alive at a time, weights included.
  int64_t memory_bytes = int64_t{4096} << 20;
  /// Billions of operations (sim/ref/run_work.h) of one run of a network in float.
  int64_t giga_operations = 150;
};

inline constexpr std::string_view kNodesOption = "--max-nodes", kGraphOption = "--max-graph-mib",
                                  kRankOption = "--max-rank", kProgramsOption = "--max-programs",
                                  kMemoryOption = "--max-memory-mib",
                                  kOperationsOption = "--max-gops";

}  // namespace accsim
