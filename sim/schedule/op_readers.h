#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"
#include "sim/map/residency.h"

namespace accsim::sim {

/// An op of a network's chain, in the order of its layers.
struct ChainOp {
  size_t layer = 0;
  const OpRequest* request = nullptr;
};

/// Who reads what the ops of a network write, and how long it lies in the shared buffer. Tensors
/// are those whose bytes they are. What it is made of must outlive it.
class OpReaders {
 public:
  OpReaders(const Graph& graph, const Lowered& lowered, const Residency& residency,
            const hw::HwConfig& hw, std::span<const ChainOp> ops);

  struct Reader {
    size_t op = 0;
    OperandPort in;
  };
  /// The one op that reads the tensor that op i, the last of its layer, writes at a port: `bytes`,
  /// all of it.
  std::optional<Reader> only_reader(size_t i, const OperandPort& out, int64_t bytes) const;

  /// Bytes of the shared buffer of all tensors that are alive while any layer from that of the
  /// first of `ops` to that of the last runs, `except` left out.
  int64_t shared_bytes(std::span<const size_t> ops, std::span<const size_t> except = {}) const;

  /// The tensor that an op writes at a port.
  size_t written_tensor(size_t i, const OperandPort& out) const;
  bool on_array(size_t op) const;

 private:
  /// Ops that read a tensor: how many, and the last of them.
  struct Readers {
    size_t ops = 0;
    Reader last;
  };

  void add_layers();
  void add_ops();
  void add_residents();
  bool is_resident(size_t id) const {
    return residency_.resident[id] && root_of(static_cast<TensorId>(id)) == id && first_[id] >= 0;
  }
  size_t root_of(TensorId id) const {
    return static_cast<size_t>(residency_.root[static_cast<size_t>(id)]);
  }
  int64_t bytes_of(size_t id) const;
  const Layer& layer_of_op(size_t op) const { return lowered_.layers[ops_[op].layer]; }

  const Graph& graph_;
  const Lowered& lowered_;
  const Residency& residency_;
  const hw::HwConfig& hw_;
  const std::span<const ChainOp> ops_;
  std::vector<int> slots_;  ///< by tensor: inputs of layers that it is, and outputs of the graph
  std::vector<Readers> readers_;   ///< by tensor
  std::vector<int> first_, last_;  ///< layers of its life; -1: none
  std::vector<int64_t> begun_,
      ended_;  ///< by layer: bytes of residents whose life begins, or ends, before it
};

}  // namespace accsim::sim
