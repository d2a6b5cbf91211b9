#include "sim/operators/work_counts.h"

#include <fmt/format.h>

#include <algorithm>

namespace accsim::sim {
namespace {

bool too_many(const std::vector<Access>& side) {
  return std::any_of(side.begin(), side.end(),
                     [](const Access& a) { return a.elements >= kTooMany; });
}

bool too_many(const GemmOp& op) {
  const int64_t m = times({op.images, op.out[0], op.out[1], op.out[2]});
  const int64_t k = times({op.channels, op.kernel[0], op.kernel[1], op.kernel[2]});
  // Operand sizes count too: with m = 0 the weights alone may be too many.
  const int64_t in = times({op.images, op.in[0], op.in[1], op.in[2]});
  return times({op.batch, m, k, op.outputs}) >= kTooMany || times({op.batch, m, k}) >= kTooMany ||
         times({op.batch, k, op.outputs}) >= kTooMany ||
         times({op.batch, m, op.outputs}) >= kTooMany ||
         times({op.batch, in, op.channels}) >= kTooMany;
}

bool too_many(const VectorOp& op) {
  return too_many(op.inputs) || too_many(op.outputs) ||
         std::any_of(op.ops.begin(), op.ops.end(), [](int64_t n) { return n >= kTooMany; });
}

bool too_many(const MemoryOp& op) { return too_many(op.inputs) || too_many(op.outputs); }

}  // namespace

int64_t times(std::initializer_list<int64_t> factors) {
  if (std::any_of(factors.begin(), factors.end(), [](int64_t f) { return f == 0; })) return 0;
  int64_t product = 1;
  for (int64_t f : factors)
    if (__builtin_mul_overflow(product, f, &product) || product > kTooMany) return kTooMany;
  return product;
}

int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > kTooMany) return kTooMany;
  return sum;
}

GemmOp matrix_product(int64_t batch, int64_t m, int64_t k, int64_t n) {
  GemmOp op;
  op.batch = batch;
  op.channels = k;
  op.outputs = n;
  op.in = op.out = {1, 1, m};
  return op;
}

Result<Work> checked_work(const NodeView& node, Work work) {
  if (Status s = countable(node); !s) return s.errors();
  for (const WorkItem& item : work)
    if (std::visit([](const auto& op) { return too_many(op); }, item))
      return Error{
          Errc::overflow,
          fmt::format("{}: its operations are too many to be counted", node.node().op_type), ""};
  return work;
}

int64_t input_size(const NodeView& node, size_t i) {
  return node.has_input(i) ? elements(node.dims(i)) : 0;
}

int64_t output_size(const NodeView& node, size_t i) {
  return node.has_output(i) ? elements(node.output(i).dims) : 0;
}

Result<std::vector<double>> need_reals(const NodeView& node, size_t i, std::string_view input,
                                       std::string_view what) {
  if (Status s = want_input(node, i, input); !s) return s.errors();
  const ConstData* value = node.value(i);
  const int64_t count = elements(node.dims(i));
  if (count == 0) return std::vector<double>{};
  if (value == nullptr || value->size() != static_cast<size_t>(count))
    return unknown_value(node, i, input, what);
  std::vector<double> reals(value->size());
  for (size_t k = 0; k < reals.size(); ++k) reals[k] = value->as_double(k);
  return reals;
}

Result<int64_t> need_integer(const NodeView& node, size_t i, std::string_view input,
                             std::string_view what) {
  Result<std::vector<int64_t>> all = need_integers(node, i, input, what);
  if (!all) return all.errors();
  if (all->size() != 1)
    return bad_node(node,
                    fmt::format("input '{}' must hold one number, not {}", input, all->size()));
  return all->front();
}

Status want_input(const NodeView& node, size_t i, std::string_view input) {
  if (node.has_input(i)) return ok();
  return bad_node(node, fmt::format("input '{}' is missing", input));
}

Status set_if_wanted(InferContext& node, size_t i, DType dtype, Dims dims) {
  return node.has_output(i) ? set_shape(node, i, dtype, std::move(dims)) : ok();
}

}  // namespace accsim::sim
