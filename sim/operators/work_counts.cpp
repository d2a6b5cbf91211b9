#include "sim/operators/work_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace accsim::sim {
namespace {

bool too_many(const std::vector<Access>& side) {
  return std::any_of(side.begin(), side.end(),
                     [](const Access& a) { return a.elements >= kTooMany; });
}

bool too_many(const GemmOp& op) {
  const int64_t m = capped_product({op.images, op.out[0], op.out[1], op.out[2]});
  const int64_t k = capped_product({op.channels, op.kernel[0], op.kernel[1], op.kernel[2]});
  // Operand sizes count too: with m = 0 the weights alone may be too many.
  const int64_t in = capped_product({op.images, op.in[0], op.in[1], op.in[2]});
  return capped_product({op.batch, m, k, op.outputs}) >= kTooMany ||
         capped_product({op.batch, m, k}) >= kTooMany ||
         capped_product({op.batch, k, op.outputs}) >= kTooMany ||
         capped_product({op.batch, m, op.outputs}) >= kTooMany ||
         capped_product({op.batch, in, op.channels}) >= kTooMany;
}

bool too_many(const VectorOp& op) {
  return too_many(op.inputs) || too_many(op.outputs) ||
         std::any_of(op.ops.begin(), op.ops.end(), [](int64_t n) { return n >= kTooMany; });
}

bool too_many(const MemoryOp& op) { return too_many(op.inputs) || too_many(op.outputs); }

}  // namespace

int64_t capped_product(std::initializer_list<int64_t> factors) {
  if (std::any_of(factors.begin(), factors.end(), [](int64_t f) { return f == 0; })) return 0;
  int64_t product = 1;
  for (int64_t f : factors)
    if (__builtin_mul_overflow(product, f, &product) || product > kTooMany) return kTooMany;
  return product;
}

int64_t capped_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > kTooMany) return kTooMany;
  return sum;
}

int64_t bisection_steps(int64_t count) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 0))));
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
  if (Status s = check_countable(node); !s) return s.errors();
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

Status check_countable(const NodeView& node) {
  const auto too_large = [&](const Tensor& tensor) {
    return Error{Errc::overflow,
                 fmt::format("{}: tensor '{}' of shape {} is too large to be costed",
                             node.node().op_type, tensor.name, to_string(tensor.dims)),
                 ""};
  };
  for (size_t i = 0; i < node.input_count(); ++i)
    if (node.has_input(i) && elements(node.dims(i)) > kTooMany) return too_large(node.input(i));
  for (size_t i = 0; i < node.output_count(); ++i)
    if (node.has_output(i) && elements(node.output(i).dims) > kTooMany)
      return too_large(node.output(i));
  return ok();
}

void read_part(const NodeView& node, size_t i, int64_t elements, int64_t run,
               std::vector<Access>& to) {
  if (!node.has_input(i) || elements == 0) return;
  to.push_back({static_cast<int>(i), elements, run >= elements ? 0 : run});
}

void read_input(const NodeView& node, size_t i, std::vector<Access>& to) {
  if (node.has_input(i)) read_part(node, i, elements(node.dims(i)), 0, to);
}

void write_output(const NodeView& node, size_t i, std::vector<Access>& to) {
  if (!node.has_output(i)) return;
  const int64_t count = elements(node.output(i).dims);
  if (count > 0) to.push_back({static_cast<int>(i), count, 0});
}

VectorOp vector_op(const NodeView& node) {
  VectorOp op;
  for (size_t i = 0; i < node.input_count(); ++i) read_input(node, i, op.inputs);
  for (size_t i = 0; i < node.output_count(); ++i) write_output(node, i, op.outputs);
  return op;
}

MemoryOp memory_op(const NodeView& node) {
  VectorOp all = vector_op(node);
  return {std::move(all.inputs), std::move(all.outputs)};
}

Result<Work> per_element(const NodeView& node, int64_t elementwise, int64_t special,
                         int64_t convert) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t count = output_size(node, 0);
  VectorOp op = vector_op(node);
  op[VectorClass::elementwise] = count * elementwise;
  op[VectorClass::special] = count * special;
  op[VectorClass::convert] = count * convert;
  return Work{std::move(op)};
}

Result<Work> variadic_cost(const NodeView& node) {
  const auto inputs = static_cast<int64_t>(node.input_count());
  return inputs > 1 ? per_element(node, inputs - 1, 0) : Work{};
}

Result<Work> copy_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  return Work{memory_op(node)};
}

}  // namespace accsim::sim
