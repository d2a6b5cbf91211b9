#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Of a node whose result is its input 0, but for what input `port` has in place of some of it:
/// those are whole slices from dim `whole_from` of input 0 on.
struct Update {
  size_t port = 0, whole_from = 0;
};

/// What the rules of all op families share (counting: work_counts.h). Every error starts with the
/// op's name; the elaborator puts the node in front.

/// Errc::invalid: the model breaks the operator's definition.
Error bad_node(const NodeView& node, std::string_view what);
/// Errc::unsupported: legal, but can't be costed.
Error unsupported_node(const NodeView& node, std::string_view what);
/// "Reshape: output dim 1 depends on the value of input 'shape' (tensor 't'), which isn't
/// constant; give ..." (value_advice()). `input`: the operator's name of its input i, `what`: the
/// output or dim that can't be had.
Error unknown_value(const NodeView& node, size_t i, std::string_view input, std::string_view what);
/// The elements of integer input i, or unknown_value().
Result<std::vector<int64_t>> need_integers(const NodeView& node, size_t i, std::string_view input,
                                           std::string_view what);
/// The elements of input i as reals; the error names the input.
Result<std::vector<double>> need_reals(const NodeView& node, size_t i, std::string_view input,
                                       std::string_view what);
/// The one element of integer input i (a scalar, or one element of any rank).
Result<int64_t> need_integer(const NodeView& node, size_t i, std::string_view input,
                             std::string_view what);

// Attributes. NodeView::attr(name, 0) is ambiguous; these aren't.
/// An integer attribute; the fallback when it is absent or of another type.
int64_t int_attr(const NodeView& node, std::string_view name, int64_t fallback);
/// A real attribute; the fallback when it is absent or of another type.
double real_attr(const NodeView& node, std::string_view name, double fallback);
/// An attribute that holds an element type; an error when the number is no type.
Result<DType> dtype_attr(const NodeView& node, std::string_view name, DType fallback);
/// Attribute "axis" made non-negative.
Result<int64_t> axis_attr(const NodeView& node, int64_t fallback, int64_t rank);
/// Axes as given (not normalised): from integer input i when the node has it, else from attribute
/// "axes", else nullopt. An empty list counts as given.
Result<std::optional<std::vector<int64_t>>> axes_of(const NodeView& node, size_t i);

// Arithmetic on sizes that a file states; nullopt when it leaves 62 bits.
/// a + b, both non-negative.
std::optional<int64_t> size_sum(int64_t a, int64_t b);
/// a * b, both non-negative.
std::optional<int64_t> size_product(int64_t a, int64_t b);

/// Sets an output after checking that no dim is negative and the elements fit 62 bits.
Status set_shape(InferContext& node, size_t i, DType dtype, Dims dims);
/// set_shape(), but nothing for an output that nobody asked for.
Status set_if_wanted(InferContext& node, size_t i, DType dtype, Dims dims);
/// NumPy broadcast of `count` inputs from `first` on; absent ones are skipped.
Result<Dims> broadcast_inputs(const NodeView& node, size_t first, size_t count);
/// An error unless input i is there.
Status want_input(const NodeView& node, size_t i, std::string_view input);
/// An error unless input i has that rank.
Status want_rank(const NodeView& node, size_t i, int64_t rank);
/// An error unless input i has that rank or a higher one.
Status want_rank_from(const NodeView& node, size_t i, int64_t least);
/// The integer and boolean kinds, as indices, shapes and axes need them.
bool holds_integers(DType t);

// Shape rules.
/// Output 0 has shape and type of input 0.
Status same_shape(InferContext& node);
/// Output 0 has the shape of input 0 and is boolean.
Status same_shape_bool(InferContext& node);
/// Output 0 has the shape that all inputs broadcast to and the type of input 0.
Status broadcast_shape(InferContext& node);
/// Output 0 has the shape that all inputs broadcast to and is boolean.
Status broadcast_bool(InferContext& node);

}  // namespace accsim::sim
