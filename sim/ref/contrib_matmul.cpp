#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/matmul.h"
#include "sim/ref/quant.h"

namespace accsim::sim::ref {
namespace {

/// Output of a MatMul with one bias a column (optional).
Status put_with_bias(KernelContext& step, std::vector<double> values, size_t bias_port) {
  const std::vector<double> bias = step.reals(bias_port);
  for (size_t i = 0; i < values.size() && !bias.empty(); ++i) values[i] += bias[i % bias.size()];
  return step.put(0, values), ok();
}

/// (A - zero) (B - zero) scaled to reals: inputs A, B, their scales, their zero points, bias.
Status matmul_to_float(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(1);
  subtract_zero(a, step.dims(0), step.reals(4), true);
  subtract_zero(b, step.dims(1), step.reals(5), false);
  std::vector<double> out = matmul_reals(step, a, step.dims(0), b, step.dims(1));
  const std::vector<double> b_scale = step.reals(3);
  const double a_scale = step.real_or(2, 1);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  for (size_t i = 0; i < out.size(); ++i) out[i] *= a_scale * b_scale[i % b_scale.size()];
  return put_with_bias(step, std::move(out), 6);
}

/// A is quantised to uint8 on the way: inputs A, B, B's scale and zero point, bias.
Status dynamic_matmul(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(1);
  double low = 0, high = 0;
  for (const double v : a) low = std::min(low, v), high = std::max(high, v);
  const double a_scale =
      high > low ? static_cast<double>(static_cast<float>((high - low) / 255)) : 1;
  const double a_zero = std::nearbyint(std::clamp(-low / a_scale, 0.0, 255.0));
  for (double& v : a) v = quantized(v, a_scale, a_zero, DType::uint8) - a_zero;
  subtract_zero(b, step.dims(1), step.reals(3), false);
  std::vector<double> out = matmul_reals(step, a, step.dims(0), b, step.dims(1));
  const std::vector<double> b_scale = step.reals(2);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  for (size_t i = 0; i < out.size(); ++i) out[i] *= a_scale * b_scale[i % b_scale.size()];
  return put_with_bias(step, std::move(out), 4);
}

/// alpha A B + C of integers: inputs A, its scale and zero point, the same of B, C in steps of both
/// scales, scale and zero point of the result, which is float without them.
Status qgemm(KernelContext& step) {
  const bool turn_a = int_attr(step, "transA", 0) != 0, turn_b = int_attr(step, "transB", 0) != 0;
  std::vector<double> a = step.reals(0), b = step.reals(3);
  const double a_zero = step.real_or(2, 0);
  for (double& v : a) v -= a_zero;
  subtract_zero(b, step.dims(3), step.reals(5), turn_b);
  const int64_t n = step.out_dims(0)[1], k = step.dims(0)[turn_a ? 0 : 1];
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  if (!out.empty())
    multiply(step.pool(), {step.out_dims(0)[0], k, n, turn_a, turn_b}, a.data(), b.data(),
             out.data());
  const std::vector<double> b_scale = step.reals(4), bias = step.reals(6);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  const double factor = step.real_or(1, 1) * real_attr(step, "alpha", 1);
  std::vector<int64_t> at;
  if (!bias.empty())
    at = offsets(step.out_dims(0), broadcast_strides(step.dims(6), step.out_dims(0)));
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t column = i % static_cast<size_t>(n);
    if (!bias.empty()) out[i] += bias[static_cast<size_t>(at[i])];
    out[i] *= factor * b_scale[column % b_scale.size()];
  }
  if (!step.has_input(7)) return step.put(0, out), ok();
  return put_quantized(step, out, 7, 8), ok();
}

/// B as N rows of K numbers of `bits` bits, packed from the low end, a scale and zero point a
/// block.
Status matmul_nbits(KernelContext& step) {
  const int64_t k = int_attr(step, "K", 1), n = int_attr(step, "N", 1);
  const int64_t width = int_attr(step, "bits", 4), block = int_attr(step, "block_size", 32);
  if ((width != 4 && width != 8 && width != 2) || step.has_input(4))
    return refuse(step, "other than 2, 4 or 8 bits, and group indices, aren't computed");
  if (step.in(1).kind() != ElementKind::u8) return refuse(step, "weights must be bytes");
  const int64_t blocks = (k + block - 1) / block, block_bytes = (block * width + 7) / 8;
  const int64_t zero_bytes = (blocks * width + 7) / 8;
  const std::vector<int64_t> packed = step.integers(1);
  const std::vector<double> scale = step.reals(2), zeros = step.reals(3);
  const bool packed_zeros = step.has_input(3) && step.in(3).kind() == ElementKind::u8;
  const int64_t mask = (int64_t{1} << width) - 1, per_byte = 8 / width;
  if (packed_zeros && static_cast<int64_t>(zeros.size()) != n * zero_bytes)
    return bad_node(step, fmt::format("zero points must be {} bytes", n * zero_bytes));
  if (!packed_zeros && !zeros.empty() && static_cast<int64_t>(zeros.size()) != n * blocks)
    return bad_node(step, fmt::format("zero points must be {} elements", n * blocks));
  std::vector<double> b(static_cast<size_t>(n * k));
  for (int64_t row = 0; row < n; ++row)
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = i / block, in = i % block;
      const int64_t byte =
          packed[static_cast<size_t>((row * blocks + at) * block_bytes + in / per_byte)];
      double zero = static_cast<double>(int64_t{1} << (width - 1));
      if (packed_zeros) {
        const auto z =
            static_cast<int64_t>(zeros[static_cast<size_t>(row * zero_bytes + at / per_byte)]);
        zero = static_cast<double>(z >> (at % per_byte * width) & mask);
      } else if (!zeros.empty()) {
        zero = zeros[static_cast<size_t>(row * blocks + at)];
      }
      const auto value = static_cast<double>(byte >> (in % per_byte * width) & mask);
      b[static_cast<size_t>(row * k + i)] =
          (value - zero) * scale[static_cast<size_t>(row * blocks + at)];
    }
  const std::vector<double> a = step.reals(0);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  if (!out.empty())
    multiply(step.pool(), {static_cast<int64_t>(a.size()) / k, k, n, false, true}, a.data(),
             b.data(), out.data());
  return put_with_bias(step, std::move(out), 5);
}

/// Sums of word, position and segment embeddings, normalised.
Status embed_norm(KernelContext& step) {
  const Dims& ids = step.dims(0);
  const int64_t hidden = step.dims(2)[1], length = ids[1];
  const std::vector<int64_t> words = step.integers(0), segments = step.integers(1),
                             mask = step.integers(7), positions = step.integers(8);
  const std::vector<double> word = step.reals(2), position = step.reals(3), segment = step.reals(4),
                            gamma = step.reals(5), beta = step.reals(6);
  const double epsilon = real_attr(step, "epsilon", 1e-12);
  for (const auto* given : {&segments, &mask})
    if (!given->empty() && given->size() != words.size())
      return bad_node(step, "segments and mask must have the shape of the ids");
  std::vector<double> out, sums;
  const auto row = [&](const std::vector<double>& table, int64_t at) -> const double* {
    const int64_t rows = hidden > 0 ? static_cast<int64_t>(table.size()) / hidden : 0;
    return at >= 0 && at < rows ? table.data() + at * hidden : nullptr;
  };
  for (int64_t t = 0; t < ids[0] * length; ++t) {
    const auto n = static_cast<size_t>(t);
    const int64_t place = positions.empty()
                              ? t % length
                              : positions[positions.size() == 1 ? 0 : n % positions.size()];
    const double *a = row(word, words[n]), *b = row(position, place);
    const double* c =
        segment.empty() ? nullptr : row(segment, n < segments.size() ? segments[n] : 0);
    if (a == nullptr || b == nullptr || (c == nullptr && !segment.empty()))
      return bad_node(step, fmt::format("token {} is outside a table", t));
    double mean = 0, square = 0;
    std::vector<double> sum(static_cast<size_t>(hidden));
    for (size_t i = 0; i < sum.size(); ++i)
      mean += (sum[i] = a[i] + b[i] + (c != nullptr ? c[i] : 0)) / static_cast<double>(hidden);
    for (const double v : sum) square += (v - mean) * (v - mean);
    const double inverse = 1 / std::sqrt(square / static_cast<double>(hidden) + epsilon);
    for (size_t i = 0; i < sum.size(); ++i)
      out.push_back((sum[i] - mean) * inverse * gamma[i] + beta[i]);
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  step.put(0, out);
  if (step.output_count() > 1 && step.has_output(1)) {
    std::vector<int64_t> lengths(static_cast<size_t>(ids[0]), 0);
    for (size_t i = 0; i < mask.size(); ++i) lengths[i / static_cast<size_t>(length)] += mask[i];
    step.put(1, lengths);
  }
  if (step.output_count() > 2) step.put(2, sums);
  return ok();
}

constexpr KernelRow kContribMatmulKernels[] = {
    {"DynamicQuantizeMatMul", dynamic_matmul, kMicrosoft},
    {"EmbedLayerNormalization", embed_norm, kMicrosoft},
    {"MatMulIntegerToFloat", matmul_to_float, kMicrosoft},
    {"MatMulNBits", matmul_nbits, kMicrosoft},
    {"QGemm", qgemm, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> contrib_matmul_kernels() { return kContribMatmulKernels; }

}  // namespace accsim::sim::ref
