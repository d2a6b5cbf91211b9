#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/result.h"

namespace accsim::sim {

/// A model of one product.
struct GemmModelOptions {
  int64_t m = 1, k = 1, n = 1, batch = 1;
  bool a_transposed = false, b_transposed = false;
  double alpha = 1, beta = 1;
  bool bias = false;
  bool force_matmul = false;  ///< MatMul even without batch
  int64_t opset = 13;
  std::optional<uint64_t> weight_seed;  ///< B and the bias are stored, uniform in [-1, 1)
};

/// The bytes of a float32 model Y = alpha * A' * B' + beta * C, as Gemm, or as MatMul with a batch.
/// Errors: what MatMul can't say, sizes of 2^31 or more, stored weights beyond 1 GiB.
Result<std::string> gemm_model(const GemmModelOptions& options);

}  // namespace accsim::sim
