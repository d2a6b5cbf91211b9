#pragma once
#include <cstdint>
#include <string>

#include "sim/base/dtype.h"
#include "sim/base/limits.h"
#include "sim/base/result.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// Iterations that a Loop or Scan may have.
inline constexpr int64_t kMostIterations = 4096;
/// Steps of all elaborations together that look for sizes which would fit, for a message.
inline constexpr int64_t kMostHintSteps = 100'000;
/// Subgraphs and calls inside each other.
inline constexpr int64_t kMostNested = 64;
/// Bytes of one tensor, and of all tensors of a model together.
inline constexpr int64_t kMostBytes = int64_t{1} << 62;
/// Elements that the known constants of a model may hold together (128 MiB).
inline constexpr int64_t kMostValues = int64_t{1} << 24;
/// Elements of a float constant that are computed; integers have kMostFolded (fold.h). Shapes
/// depend on few real numbers, and weights made by ConstantOfShape needn't be written out.
inline constexpr int64_t kMostFoldedReals = 4096;

/// What one model may still take, so that a small file can't ask for hours or for all memory. Every
/// part of the elaboration draws on the same one. Errors have no `where`: the caller says it.
class Budget {
 public:
  Budget() = default;
  /// `own_nodes`: those that the main graph lists, which cost as many bytes of the file.
  explicit Budget(const Limits& limits, int64_t own_nodes = 0)
      : limits_(limits), own_nodes_(own_nodes) {}

  /// One level of nesting, for as long as it lives. The budget must outlive it.
  class Level {
   public:
    explicit Level(int64_t& depth) : depth_(&depth) { ++depth; }
    Level(Level&& other) noexcept : depth_(other.depth_) { other.depth_ = nullptr; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Level& operator=(Level&&) = delete;
    ~Level() {
      if (depth_ != nullptr) --*depth_;
    }

   private:
    int64_t* depth_;
  };

  /// One node, iteration or call; Errc::capacity beyond Limits::nodes.
  Status take_step();
  /// How many were taken.
  int64_t steps_taken() const { return steps_; }
  /// Enters a subgraph or a call; Errc::capacity beyond kMostNested.
  Result<Level> enter_level();
  /// What a node with its outputs' names takes, where it is one of a loop or a function;
  /// Errc::capacity beyond Limits::graph_bytes.
  Status take_node(const Node& node, int64_t output_bytes);
  /// Errc::capacity beyond Limits::rank.
  Status check_rank(const std::string& tensor, size_t rank) const;
  /// The bytes of a tensor whose shape and type are known. Errc::overflow beyond kMostBytes,
  /// Errc::invalid when a dim is negative, Errc::capacity beyond Limits::rank.
  Status take_tensor(const Tensor& tensor);
  /// Whether the `count` elements of a constant of that type may be computed and kept.
  bool affords_values(DType dtype, int64_t count) const;
  /// Elements that a constant now holds.
  void take_values(int64_t count) { values_ += count; }

 private:
  Limits limits_;
  int64_t own_nodes_ = 0;
  int64_t graph_bytes_ = 0;
  int64_t steps_ = 0;
  int64_t depth_ = 0;
  int64_t bytes_ = 0;
  int64_t values_ = 0;
};

}  // namespace accsim::sim
