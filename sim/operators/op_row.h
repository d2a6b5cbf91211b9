#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "sim/base/result.h"
#include "sim/operators/node_view.h"
#include "sim/operators/rules.h"
#include "sim/work/lane_work.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Sets dtype and dims of every output (InferContext::set_output), from the inputs' dims, dtypes,
/// attributes and, where shapes depend on them, values.
using ShapeRule = Status (*)(InferContext&);
/// Sets the values of the outputs; called after the shape rule when every present input has a known
/// value and the outputs are small. May set nothing.
using ValueRule = Status (*)(InferContext&);
/// What the node asks of the machine; called with outputs known. An empty Work is for views.
using CostRule = Result<Work> (*)(const NodeView&);
/// The softmax or normalisation that the node's one VectorOp is, no more and no less; nothing where
/// its attributes, inputs or outputs make it another one. Called when the cost rule has succeeded.
using RowsRule = std::optional<RowMeaning> (*)(const NodeView&);
/// nullopt where elements are combined.
using UpdateRule = std::optional<Update> (*)(const NodeView&);

inline constexpr int kVariadic = 1 << 20;

/// Up to N items that can be written in braces in a constexpr row. One more doesn't compile.
template <class T, size_t N>
class RowList {
 public:
  constexpr RowList() = default;
  constexpr RowList(std::initializer_list<T> items) : size_(items.size()) {
    std::copy(items.begin(), items.end(), items_.begin());
  }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return items_[i]; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, N> items_{};
  size_t size_ = 0;
};

/// What an input is for.
enum class PortRole : uint8_t {
  data,
  weight,             ///< multiplied by the data; learned in most models
  bias,               ///< added inside a fused operator or by a product, whose GemmOp names it
  shift,              ///< added per channel or column by the operator itself
  gain,               ///< multiplies per channel or column
  mean,               ///< running statistic
  variance,           ///< running statistic
  parameter,          ///< learned or tabulated in another way
  scale,              ///< of quantisation: of the port `of`
  zero_point,         ///< of quantisation: of the port `of`
  weight_scale,       ///< a scale that counts as a parameter
  weight_zero_point,  ///< a zero point that counts as a parameter
  row_index,          ///< picks whole rows of input 0 along the attribute `axis`
  setting,            ///< axes, a shape, pads: says what is done, isn't worked on
};

inline constexpr int kNoPort = -1;
inline constexpr int kResult = -2;  ///< Port::of: output 0

/// One input of an operator.
struct Port {
  std::string_view name;
  PortRole role = PortRole::data;
  int of = kNoPort;  ///< scales and zero points: the input that they are of, or kResult
};

/// Whether a constant that isn't a float initializer counts as a parameter on such an input.
constexpr bool holds_parameters(PortRole role) {
  switch (role) {
    case PortRole::data:
    case PortRole::scale:
    case PortRole::zero_point:
    case PortRole::row_index:
    case PortRole::setting:
      return false;
    default:
      return true;
  }
}

/// What an operator does with integers that stand for real numbers (sim/lower/real_graph.h).
enum class Codes : uint8_t {
  none,
  makes,     ///< output 0 stands for what input 0 is
  takes,     ///< output 0 is what input 0 stands for
  measures,  ///< makes, with a scale (output 1) and a zero point (output 2) of its own finding
};

/// What the counting conventions ask of an operator.
enum class OpKind : uint8_t {
  other,
  convolution,
  normalization,  ///< BatchNormalization and its kin
  pooling,        ///< MaxPool, AveragePool, LpPool and the global ones
  elementwise,    ///< activations, arithmetic, comparisons, softmax: work on every element
};

/// Is an input of that role a scale or a zero point?
constexpr bool states_quantisation(PortRole role) {
  switch (role) {
    case PortRole::scale:
    case PortRole::zero_point:
    case PortRole::weight_scale:
    case PortRole::weight_zero_point:
      return true;
    default:
      return false;
  }
}

/// What the elaborator puts in the node's place: what stands in its subgraphs
/// (sim/elaborate/control_flow.h), or the tensors of a sequence.
enum class ControlFlow : uint8_t {
  none,
  branch,
  loop,
  scan,
  // Sequences (sim/elaborate/sequences.h): of tensors that are known one by one.
  sequence_empty,
  sequence_construct,
  sequence_split,
  sequence_at,
  sequence_insert,
  sequence_erase,
  sequence_length,
  sequence_concat,
  sequence_map,
  // Optionals: of a tensor or sequence that is there, or isn't.
  optional_make,
  optional_element,
  optional_asked,
  spelled,  ///< the operators that it stands for (sim/elaborate/fused_forms.h)
};

/// How the stored weights of a product lie.
enum class WeightLayout : uint8_t {
  unknown,
  oihw,      ///< [group x] output, channel, taps
  kn,        ///< [batch x] inner dim, column; the result's columns are its last dim
  kn_or_nk,  ///< as kn, turned where the attribute transB is set
  gain,      ///< channel; with the node's other constants a factor and an addend of each
};

/// What lowering may make of the node so that it costs nothing of its own.
enum class Fusion : uint8_t {
  none,
  affine,  ///< gain and shift per channel: into the weights and bias of the product before it
  bias,    ///< a sum: the bias of the product before it
  clip,    ///< bounds: the post unit's, or those of the vector work before it
  turn,    ///< a transpose: left to who reads it, if they read it so
  edge,    ///< elements added around a tensor: left to windows that read them beyond its edges
};

/// What windows that slide over input 0 read beyond its edges.
enum class Beyond : uint8_t {
  unknown,
  zero,
  counted,  ///< zeros that the number of elements includes where `count_include_pad` is set
  least,    ///< what no element is below
};

/// How the operands that a node's work reads must lie in memory, and its results then lie
/// (sim/lower/node_layouts.h). Dims that work is along stay together; a copy is made where an
/// operand lies otherwise.
enum class LayoutRule : uint8_t {
  row_major,      ///< as their dims say
  channels_last,  ///< [image, channel, spatial ...] pixel by pixel, unless `channels_last` is set
  image,          ///< channels_last for input 0 and the results, row_major for the others
  alike,          ///< all in one order, whichever
  by_axes,        ///< the dims of operands of one rank in one order, whichever
  reduced,        ///< by_axes; results without the dims that `axis` or `axes` name
  picked,         ///< by_axes of input 0; those of input 1 take the place of dim `axis`
  along_axis,     ///< dim `axis` (-1) of input 0 innermost, the others in any order
  from_axis,      ///< the dims from `axis` (-1) on of input 0 innermost, likewise
  softmax,        ///< along_axis, or before opset 13 from_axis (1)
  product,        ///< the last two dims of both operands, either way round (product_layout.h)
};

/// Values of OpRow::affine_ports and OpRow::type_ports.
inline constexpr unsigned kFirstPort = 1, kSecondPort = 2, kBothPorts = 3;

/// What patterns of nodes are put together from (sim/lower/patterns.h).
enum class Algebra : uint8_t {
  none,
  add,
  subtract,
  multiply,
  divide,
  power,
  root,
  reciprocal,
  negate,
  mean,     ///< of some axes
  select,   ///< input 0 says which of inputs 1 and 2
  softmax,  ///< along an axis
  convert   ///< another element type
};

/// What lane commands of int8 elements make of the node (sim/lower/lane_meaning.h). Functions of
/// one element need no rule: their rows are elementwise.
enum class LaneRule : uint8_t {
  none,       ///< nothing, or the row's arithmetic of two operands
  div,        ///< by constants
  pool_mean,  ///< of the windows that the attributes say
  pool_max,
  reduce_sum,  ///< of the axes that are reduced; of a pooling row, of all spatial ones
  reduce_mean,
  reduce_min,
  reduce_max,
  nearest,  ///< a resize that repeats elements or leaves some out
  equal,    ///< of integers byte by byte (sim/cost/compare_bytes.h)
};

/// Everything the program knows of one operator but its kernel (sim/ref). A column that a row
/// doesn't name has nothing special, or follows from columns above it. docs/architecture.md says
/// what else a new operator needs.
struct OpRow {
  std::string_view name;
  std::string_view domain = "";  ///< "" for ai.onnx
  int since = 1;                 ///< first opset version that has it
  RowList<Port, 18> ports = {};  ///< inputs in order; those behind the list are plain data
  int max_inputs = ports.empty() ? 1 : static_cast<int>(ports.size());  ///< kVariadic: no limit
  int min_inputs = max_inputs == kVariadic ? 1 : max_inputs;  ///< those that must be present
  RowList<std::string_view, 16> attributes = {};  ///< of any version, of ai.onnx up to kNewestOpset
  Fate fate = Fate::vector;                       ///< of a node that isn't folded
  /// Element i of output 0 is a function of the elements that the inputs have there (broadcast),
  /// and of nothing else: the same in every run and everywhere in the tensor.
  bool pointwise = false;
  /// nullptr only for control flow.
  ShapeRule shape = pointwise ? broadcast_shape : nullptr;
  ValueRule value = nullptr;     ///< nullptr: never folded to a value
  CostRule cost = nullptr;       ///< nullptr only for Fate::view and control flow
  RowsRule rows = nullptr;       ///< nullptr: works on no rows
  UpdateRule updates = nullptr;  ///< nullptr: its result isn't input 0 with some replaced
  /// Bit p: of input p of floats that function is c x + d while the other inputs stay the same.
  unsigned affine_ports = 0;
  /// Bit p: of input p only the element type counts; a graph whose types are known reads no more.
  unsigned type_ports = 0;
  OpKind kind = pointwise ? OpKind::elementwise : OpKind::other;
  bool in_place = pointwise;        ///< reads element i of its inputs only to write element i
  bool random = false;              ///< two runs give different numbers
  bool reads_only_shapes = false;   ///< its outputs follow from the inputs' shapes alone
  bool same_operand_types = false;  ///< inputs 0 and 1 must be numbers of one type
  bool passes_weights = false;      ///< weights on input 0 are those of who reads its output
  WeightLayout weights = WeightLayout::unknown;
  Fusion fusion = Fusion::none;
  Beyond beyond = Beyond::unknown;
  Algebra algebra = Algebra::none;
  LaneRule lane = LaneRule::none;
  LaneArithmetic arithmetic =
      LaneArithmetic::copy;                      ///< that lanes do with two operands; copy: none
  LayoutRule lie = LayoutRule::row_major;        ///< layout_rule() is what holds
  ControlFlow control_flow = ControlFlow::none;  ///< else no graph has such a node: it is expanded
  std::string_view no_kernel = "";               ///< why the reference executor doesn't compute it
  Codes codes = Codes::none;
  /// Of work on integers that stand for reals: the operator of ai.onnx that does it on those, with
  /// the inputs that are no scales and zero points.
  std::string_view real = "";
  /// From this input on come data, its scale and its zero point by turns.
  int triples_from = kVariadic;
  /// Bytes of the port `weight` hold numbers of `bits` bits: K x N where the node has these.
  bool packs_weights = false;

  constexpr PortRole role_of(size_t port) const {
    return port < ports.size() ? ports[port].role : PortRole::data;
  }
  /// Does an input say what integers stand for?
  constexpr bool is_quantisation(size_t port) const {
    const int behind = static_cast<int>(port) - triples_from;
    return behind >= 0 ? behind % 3 != 0 : states_quantisation(role_of(port));
  }
  /// The column lie, or what follows from the others.
  constexpr LayoutRule layout_rule() const {
    if (lie != LayoutRule::row_major) return lie;
    if (in_place || pointwise) return LayoutRule::alike;
    if (weights == WeightLayout::oihw) return LayoutRule::channels_last;
    return weights == WeightLayout::unknown ? LayoutRule::row_major : LayoutRule::product;
  }
  /// The first input of a role; kNoPort when there is none.
  constexpr int port_of(PortRole wanted) const {
    for (size_t i = 0; i < ports.size(); ++i)
      if (ports[i].role == wanted) return static_cast<int>(i);
    return kNoPort;
  }
  constexpr bool has_attribute(std::string_view wanted) const {
    return std::find(attributes.begin(), attributes.end(), wanted) != attributes.end();
  }
};

/// The rows, all of one domain.
template <size_t N>
constexpr std::array<OpRow, N> of_domain(std::string_view domain, const OpRow (&rows)[N]) {
  std::array<OpRow, N> out = std::to_array(rows);
  for (OpRow& row : out) row.domain = domain;
  return out;
}

}  // namespace accsim::sim
