#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/work/lane_work.h"
#include "sim/work/port.h"
#include "sim/work/row_work.h"

namespace accsim::sim {

/// What a node asks of the machine, in elements and operations, before any machine is known.
/// A node's Work is a list of these, run one after the other.

/// What a graph node becomes. Every node has exactly one; anything else is an error.
enum class Fate : uint8_t {
  gemm,         ///< runs on the array
  vector,       ///< runs on the vector unit
  memory,       ///< only moves bytes
  view,         ///< no bytes move: the same bytes under another shape
  folded,       ///< computed off line, or merged into another node
  unsupported,  ///< refused, unless --allow-unsupported
};
/// As reports spell it: "gemm", "vector", "memory", "view", "folded", "unsupported".
std::string_view name(Fate fate);

/// One side of an operation's traffic: which input or output of the node, how much of it is touched
/// and in which contiguous pieces.
struct Access {
  ValuePort port;        ///< of the node's inputs, or its outputs for a result; or internal
  int64_t elements = 0;  ///< elements moved
  int64_t run = 0;       ///< elements of one contiguous piece; 0: all of them

  friend bool operator==(const Access&, const Access&) = default;
};

/// Depth, height, width; leading entries are 1 (or 0 for pad) when a dim is missing.
using Extent3 = std::array<int64_t, 3>;

/// `batch` independent products of (images * out d*h*w) x (channels * kernel d*h*w) x outputs.
/// A plain M x K x N product has in = out = {1, 1, M}, channels = K, outputs = N, the rest neutral.
/// MACs = batch * M * K * N, padded positions counted, bias not counted.
struct GemmOp {
  int64_t batch = 1;     ///< each with its own weights: conv groups, heads, MatMul batch dims
  int64_t images = 1;    ///< share the weights: conv batch
  int64_t channels = 1;  ///< reduction length per kernel position, per batch entry
  int64_t outputs = 1;   ///< output channels, per batch entry
  Extent3 in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      pad{0, 0, 0};                  ///< pad: before the first element; behind the last it follows
  bool grouped = false;              ///< batch entries are channel groups of the same pixels (conv)
  bool a_shared = false;             ///< every batch entry reads the same A (broadcast MatMul)
  bool b_shared = false;             ///< every batch entry reads the same B
  bool a_transposed = false;         ///< A lies in memory as K x M (Gemm transA)
  bool b_transposed = false;         ///< B lies in memory as N x K (Gemm transB)
  ValuePort a_port = 0, b_port = 1;  ///< node inputs: activations (M x K) and weights (K x N)
  ValuePort bias_port = ValuePort::none();  ///< node input added per output channel
  ValuePort out_port = 0;

  int64_t m() const { return images * out[0] * out[1] * out[2]; }
  int64_t k() const { return channels * kernel[0] * kernel[1] * kernel[2]; }
  int64_t n() const { return outputs; }
  int64_t macs() const { return batch * m() * k() * n(); }

  friend bool operator==(const GemmOp&, const GemmOp&) = default;
};

/// Op classes of the vector unit; a machine gives each its own number of lanes.
enum class VectorClass : uint8_t {
  elementwise,  ///< add, sub, mul, min, max, compare, select, relu, clip, logic
  special,      ///< div, exp, log, sqrt, pow, tanh, sigmoid, erf, trigonometry
  reduce,       ///< one accumulate of a sum, max, min, mean
  pool,         ///< one window element of a pooling
  resize,       ///< one tap of an interpolation
  convert,      ///< cast, quantise, dequantise
  search,       ///< one compare of a sort, top-k, arg-max, scan
};
inline constexpr size_t kVectorClasses = 7;
/// As machine files and reports spell it: "elementwise", "special", ...
std::string_view name(VectorClass c);

/// Elementwise and reducing work on the vector unit, over streams of elements.
struct VectorOp {
  std::vector<Access> inputs;
  std::vector<Access> outputs;
  std::array<int64_t, kVectorClasses> ops{};  ///< lane operations by class
  int64_t row = 1;  ///< elements that one result depends on together (softmax, norm axis)
  int passes = 1;   ///< times a row is streamed when it doesn't fit on chip
  /// Softmax or normalisation that the op is, all of it, for machines that have commands for it;
  /// `ops` are what it takes others.
  std::optional<RowWork> row_work = std::nullopt;
  std::optional<LaneWork> lane = std::nullopt;  ///< what lane commands make of it, if they can

  int64_t& operator[](VectorClass c) { return ops[static_cast<size_t>(c)]; }
  int64_t operator[](VectorClass c) const { return ops[static_cast<size_t>(c)]; }

  friend bool operator==(const VectorOp&, const VectorOp&) = default;
};

/// An axis of a move: elements `stride` elements apart in the input.
struct MoveAxis {
  int64_t count = 1, stride = 1;
  friend bool operator==(const MoveAxis&, const MoveAxis&) = default;
};

/// Elements of a side of the blocks that are turned at once, at most.
inline constexpr int64_t kTurnedSide = 64;

/// Rows of a tensor that lists of indices pick, item by item: [groups][rows][row] elements of the
/// data make [groups][count][row] ones. Item i of a group is row min(index i, rows - 1) of it, by
/// its list: group g has list g % lists of [lists][count] indices.
struct PickedRows {
  int64_t groups = 1, rows = 1, row = 1;
  int64_t count = 1;  ///< indices of a list
  int64_t lists = 1;  ///< a divisor of the groups
  int64_t indices() const { return lists * count; }
  friend bool operator==(const PickedRows&, const PickedRows&) = default;
};

/// Elements that move and stay as they are.
struct MemoryOp {
  std::vector<Access> inputs;
  std::vector<Access> outputs;
  /// Where the elements of the one output lie in the one input. The axes are the output's,
  /// outermost first, without axes of one element, and joined where they go on in the input. Empty:
  /// unknown, apart from the length of contiguous pieces.
  std::vector<MoveAxis> axes{};
  /// Of an axis, elements of the output from one to the next; empty: they are dense, the last
  /// axis innermost.
  std::vector<int64_t> spacing{};
  int64_t from = 0, to = 0;  ///< elements of the input and of the output before the first
  /// What indices that aren't known yet make of the first input; the second one has them.
  std::optional<PickedRows> picked = std::nullopt;

  friend bool operator==(const MemoryOp&, const MemoryOp&) = default;
};

/// An axis of a box that moves from one tensor to another: elements `in` apart in the one and `out`
/// in the other.
struct BoxAxis {
  int64_t count = 1, in = 1, out = 1;
};
/// The move of a box, its axes outermost first in both tensors, ports and first elements as given.
MemoryOp box_move(const std::vector<BoxAxis>& axes, ValuePort in_port, ValuePort out_port,
                  int64_t from, int64_t to);
/// Elements of the output from one of an axis to the next, for each of them.
std::vector<int64_t> spacing_of(const MemoryOp& op);

/// Axes of one element dropped, and those that go on in the next one joined to it.
std::vector<MoveAxis> joined_axes(const std::vector<MoveAxis>& axes);
/// Does a copy along such axes turn blocks, and how long is their shorter side then? Else
/// kTurnedSide.
int64_t turned_side(const std::vector<MoveAxis>& axes);
/// Says where the elements of a move from one input to one output lie, with `axes` joined, and how
/// long its pieces are. Pieces are contiguous on both sides. If the innermost axis differs, they
/// are blocks that are transposed on their way through a slot.
void set_axes(MemoryOp& op, std::vector<MoveAxis> axes);

/// One step of a node's work.
using WorkItem = std::variant<GemmOp, VectorOp, MemoryOp>;
/// Steps in order, one after the other; empty for views.
using Work = std::vector<WorkItem>;

}  // namespace accsim::sim
