#include "sim/lower/rotation_products.h"

#include <algorithm>

#include "sim/lower/lower.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr int64_t kLongPiece = 8;     ///< elements of a piece that lanes turn fast enough
constexpr int64_t kMostColumns = 64;  ///< of the matrix: those of an array of usual size

/// Is there what a rotation needs: something negated, and something put together?
bool may_have_rotations(const Graph& graph) {
  const auto has = [&](const char* op) {
    return std::ranges::any_of(graph.nodes,
                               [&](const Node& n) { return n.op_type == op && !n.folded; });
  };
  return has(op::kNeg) && has(op::kConcat);
}

/// Of rows of so many elements: element i is that of piece i ^ 1, those of each first piece
/// negated.
std::vector<double> rotation_matrix(int64_t side, int64_t piece) {
  std::vector<double> out(static_cast<size_t>(side * side), 0);
  for (int64_t to = 0; to < side; ++to) {
    const bool first = to / piece % 2 == 0;
    const int64_t from = first ? to + piece : to - piece;
    out[static_cast<size_t>(from * side + to)] = first ? -1 : 1;
  }
  return out;
}

/// The longest part of a row of `length` elements that is made of whole pairs of pieces and has at
/// most kMostColumns.
int64_t columns_of(int64_t length, int64_t piece) {
  for (int64_t parts = 1; parts <= length; ++parts)
    if (length % parts == 0 && length / parts <= kMostColumns && length / parts % (2 * piece) == 0)
      return length / parts;
  return 0;
}

struct Rotation {
  TensorId of = kNoTensor, out = kNoTensor;
  const Node* last = nullptr;  ///< who gives `out`
  int64_t piece = 1, columns = 0;
};

void add_rotation(RebuiltGraph& g, const Rotation& r) {
  const std::string& name = r.last->name;
  const int64_t rows = elements(g.dims(r.of)) / r.columns;
  const TensorId flat = reshaped(g, r.of, {rows, r.columns}, name + "/rows");
  const TensorId matrix =
      g.add_constant(name + "/matrix", g.tensor(r.of).dtype, {r.columns, r.columns},
                     ConstData(rotation_matrix(r.columns, r.piece)));
  Node product = g.new_operator(op::kMatMul, kPlainOpset, {});
  product.written_as = op::kConcat;  // the file moves: its MACs aren't of the network
  const TensorId turned = g.add_tensor(g.tensor(r.of), name + "/turned_output", g.dims(flat));
  g.add_node(product, name + "/turned", {flat, matrix}, {turned});
  reshape_into(g, turned, r.out, name);
}

}  // namespace

void plan_rotation_products(NodeRewrites& rewrites) {
  const Graph& graph = rewrites.graph();
  if (!may_have_rotations(graph)) return;
  const Result<Lowered> lowered = lower(graph);
  if (!lowered) return;  // said when the network is costed
  for (const Layer& l : lowered->layers) {
    if (!l.turned || l.turned->piece >= kLongPiece) continue;
    const Node& product = rewrites.node(l.node);
    const size_t port = l.turned->port.index();
    Rotation r{l.inputs[port], product.inputs[port], nullptr, l.turned->piece, 0};
    r.last = rewrites.maker_of(r.out);
    const Dims& dims = rewrites.dims(r.of);
    if (!r.last || dims.empty() || rewrites.dims(r.out) != dims) continue;
    // Views may show the pieces of a row as dims.
    int64_t length = 1;
    for (size_t d = dims.size(); d-- > 0; length *= dims[d])
      if (length % (2 * r.piece) == 0 && length * dims[d] > kMostColumns) break;
    r.columns = columns_of(length, r.piece);
    if (r.columns > 0)
      rewrites.replace_nodes({rewrites.id_of(*r.last)},
                             [r](RebuiltGraph& g) { add_rotation(g, r); });
  }
}

}  // namespace accsim::sim
