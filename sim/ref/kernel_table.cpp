#include <array>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

const auto kFamilies = std::array{
    elementwise_kernels,
    activation_kernels,
    move_kernels,
    index_kernels,
    reduce_kernels,
    norm_kernels,
    softmax_kernels,
    loss_kernels,
    conv_kernels,
    matmul_kernels,
    attention_kernels,
    rotary_kernels,
    stateful_kernels,
    recurrent_kernels,
    pool_kernels,
    resize_kernels,
    sampling_kernels,
    roi_kernels,
    patch_kernels,
    quant_kernels,
    signal_kernels,
    contrib_kernels,
    contrib_attention_kernels,
    group_query_kernels,
    contrib_matmul_kernels,
    contrib_moe_kernels,
};

std::vector<const KernelRow*> gather_rows() {
  std::vector<const KernelRow*> rows;
  for (const auto family : kFamilies)
    for (const KernelRow& row : family()) rows.push_back(&row);
  return rows;
}

}  // namespace

std::span<const KernelRow* const> all_kernels() {
  static const std::vector<const KernelRow*> kRows = gather_rows();
  return kRows;
}

const KernelRow* find_kernel(std::string_view domain, std::string_view op) {
  for (const KernelRow* row : all_kernels())
    if (row->op == op && row->domain == domain) return row;
  return nullptr;
}

}  // namespace accsim::sim::ref
