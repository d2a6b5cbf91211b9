#include "sim/program/product_words.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

std::optional<std::vector<int64_t>> split_numbers(std::string_view text, char separator) {
  auto out = parse_numbers(text, separator, 0);
  if (out && std::ranges::any_of(*out, [](int64_t v) { return v > 1 << 20; })) return std::nullopt;
  return out;
}

/// The limit of a network's layers: below it no count of one leaves 64 bits.
bool has_countable_macs(const GemmOp& op) {
  const auto macs =
      checked_elements({op.batch, op.images, op.out[0], op.out[1], op.out[2], op.channels,
                        op.kernel[0], op.kernel[1], op.kernel[2], op.outputs});
  return macs && *macs <= int64_t{1} << 50;
}

}  // namespace

Result<GemmOp> parse_gemm(const std::string& text, const std::string& where) {
  const auto n = split_numbers(text, 'x');
  if (!n || n->size() != 3 || (*n)[0] * (*n)[1] * (*n)[2] == 0)
    return Error{Errc::usage, "'" + text + "' is not MxKxN, e.g. 100x200x300", where};
  GemmOp op;
  op.in = op.out = {1, 1, (*n)[0]};
  op.channels = (*n)[1];
  op.outputs = (*n)[2];
  if (!has_countable_macs(op))
    return Error{Errc::usage, "'" + text + "' has more than 2^50 MACs", where};
  return op;
}

Result<GemmOp> parse_conv(const std::string& text, const std::string& where) {
  const auto bad = [&](const std::string& why) {
    return Error{Errc::usage, "'" + text + "': " + why, where};
  };
  const auto n = split_numbers(text, ',');
  if (!n || n->size() != 11)
    return bad("not N,C,H,W,K,R,S,stride,pad,dilation,groups, e.g. 1,64,56,56,64,3,3,1,1,1,1");
  const auto& v = *n;
  const int64_t groups = v[10], stride = v[7], pad = v[8], dilation = v[9];
  for (const size_t i : {0, 1, 2, 3, 4, 5, 6, 7, 9, 10})
    if (v[i] == 0) return bad("only the padding may be 0");
  if (v[1] % groups != 0 || v[4] % groups != 0) return bad("groups must divide C and K");
  GemmOp op;
  op.images = v[0];
  op.batch = groups;
  op.grouped = groups > 1;
  op.channels = v[1] / groups;
  op.outputs = v[4] / groups;
  op.in = {1, v[2], v[3]};
  op.kernel = {1, v[5], v[6]};
  op.stride = {1, stride, stride};
  op.pad = {0, pad, pad};
  op.dilation = {1, dilation, dilation};
  for (const size_t d : {1, 2}) {
    const int64_t span = op.in[d] + 2 * pad - (op.kernel[d] - 1) * dilation - 1;
    if (span < 0) return bad("the kernel is larger than the padded input");
    op.out[d] = span / stride + 1;
  }
  if (!has_countable_macs(op)) return bad("has more than 2^50 MACs");
  return op;
}

}  // namespace accsim::sim
