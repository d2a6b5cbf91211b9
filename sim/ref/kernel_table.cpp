#include <algorithm>
#include <array>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

const auto kFamilies = std::array{
    elementwise_kernels,    activation_kernels, move_kernels,
    index_kernels,          reduce_kernels,     norm_kernels,
    loss_kernels,           conv_kernels,       matmul_kernels,
    attention_kernels,      recurrent_kernels,  pool_kernels,
    resize_kernels,         sampling_kernels,   quant_kernels,
    signal_kernels,         contrib_kernels,    contrib_attention_kernels,
    contrib_matmul_kernels,
};

constexpr std::string_view kRandom = "its numbers are random, no two runtimes agree on them";
constexpr std::string_view kRuntimeOnly =
    "fused by one runtime; export the model without that runtime's optimiser";
constexpr std::string_view kMs = "com.microsoft";

constexpr RefusedOp kRefused[] = {
    {"Bernoulli", "", kRandom},
    {"Multinomial", "", kRandom},
    {"RandomNormal", "", kRandom},
    {"RandomNormalLike", "", kRandom},
    {"RandomUniform", "", kRandom},
    {"RandomUniformLike", "", kRandom},
    {"NonMaxSuppression", "", "the shape of its output depends on its numbers"},
    {"QAttention", kMs, kRuntimeOnly},
    {"QGemm", kMs, kRuntimeOnly},
    {"QLinearSoftmax", kMs, kRuntimeOnly},
};

}  // namespace

Kernel find_kernel(std::string_view domain, std::string_view op) {
  for (const auto family : kFamilies)
    for (const KernelRow& row : family())
      if (row.op == op && row.domain == domain) return row.run;
  return nullptr;
}

std::span<const RefusedOp> refused_ops() { return kRefused; }

}  // namespace accsim::sim::ref
