#pragma once
#include <string>

#include "sim/base/result.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A product by its sizes as they are written, "100x200x300": M x K activations, K x N weights.
/// Errc::usage, with `where`, for what isn't such a list, and for more than 2^50 MACs.
Result<GemmOp> parse_gemm(const std::string& text, const std::string& where);
/// A convolution, "N,C,H,W,K,R,S,stride,pad,dilation,groups".
Result<GemmOp> parse_conv(const std::string& text, const std::string& where);

}  // namespace accsim::sim
