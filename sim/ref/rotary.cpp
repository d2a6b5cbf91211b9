#include <fmt/format.h>

#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/attention.h"

namespace accsim::sim::ref {

void rotate_head(double* x, const double* cos, const double* sin, int64_t half, bool interleaved) {
  for (int64_t i = 0; i < half; ++i) {
    double& a = x[interleaved ? 2 * i : i];
    double& b = x[interleaved ? 2 * i + 1 : i + half];
    const double real = cos[i] * a - sin[i] * b;
    b = sin[i] * a + cos[i] * b;
    a = real;
  }
}

namespace {

/// Caches and position ids of a rotation, wherever the operator has them.
struct RotaryPorts {
  size_t ids, cos, sin;
};

template <bool kMicrosoft>
Status rotary_embedding(KernelContext& step) {
  const RotaryPorts p = kMicrosoft ? RotaryPorts{1, 2, 3} : RotaryPorts{3, 1, 2};
  const Dims& x = step.dims(0);
  const bool interleaved = int_attr(step, "interleaved", 0) != 0;
  const int64_t half_cached = step.dims(p.cos).back();
  int64_t heads = int_attr(step, "num_heads", 0);
  if (x.size() == 4)
    heads = x[1];
  else if (heads == 0)
    heads = half_cached > 0 ? x[2] / (2 * half_cached) : 1;
  const int64_t length = x.size() == 4 ? x[2] : x[1];
  const int64_t size = x.size() == 4 ? x[3] : x[2] / std::max<int64_t>(heads, 1);
  int64_t dim = int_attr(step, "rotary_embedding_dim", 0);
  if (dim == 0) dim = size;
  const int64_t half = dim / 2;
  if (kMicrosoft &&
      (int_attr(step, "is_packed_batching", 0) != 0 || real_attr(step, "scale", 1) != 1))
    return refuse(step, "packed batches and scaled positions aren't computed");
  if (x.size() == 3 && heads > 0 && heads * size != x[2])
    return bad_node(step, fmt::format("{} heads don't divide {} elements", heads, x[2]));
  if (heads < 1 || dim < 0 || dim > size || half_cached < half ||
      step.input_array(p.sin).size() != step.input_array(p.cos).size())
    return bad_node(step,
                    fmt::format("caches of {} angles don't turn {} elements", half_cached, dim));
  const std::vector<double> cos = step.reals(p.cos), sin = step.reals(p.sin);
  const std::vector<int64_t> ids = step.integers(p.ids);
  const auto rows = static_cast<int64_t>(cos.size()) / std::max<int64_t>(half_cached, 1);
  std::vector<double> out = step.reals(0);
  for (int64_t b = 0; b < x[0]; ++b)
    for (int64_t t = 0; t < length; ++t) {
      int64_t row = b * length + t;  // caches may come with one row a token
      if (ids.size() == 1 && kMicrosoft)
        row = ids[0] < rows ? ids[0] + t : rows;
      else if (!ids.empty() && static_cast<size_t>(row) < ids.size())
        row = ids[static_cast<size_t>(row)];
      else if (!ids.empty())
        return bad_node(step, "position_ids must be one a token");
      if (row < 0 || row >= rows)
        return bad_node(step, fmt::format("position {} is outside a cache of {}", row, rows));
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t at =
            x.size() == 4 ? (b * heads + h) * length + t : (b * length + t) * heads + h;
        rotate_head(out.data() + at * size, cos.data() + row * half_cached,
                    sin.data() + row * half_cached, half, interleaved);
      }
    }
  return step.put_output(0, out), ok();
}

constexpr KernelRow kRotaryKernels[] = {
    {"RotaryEmbedding", rotary_embedding<false>},
    {"RotaryEmbedding", rotary_embedding<true>, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> rotary_kernels() { return kRotaryKernels; }

}  // namespace accsim::sim::ref
