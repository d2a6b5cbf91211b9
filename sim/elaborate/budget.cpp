#include "sim/elaborate/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/operators/fold.h"

namespace accsim::sim {

namespace {

/// What copies of a node's attribute take: graphs and tensors are shared.
int64_t attribute_bytes(const Attribute& attribute) {
  const size_t values = std::visit(
      []<class T>(const T& value) -> size_t {
        if constexpr (std::is_same_v<T, std::string>) {
          return value.size();
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          size_t bytes = value.size() * sizeof(std::string);
          for (const std::string& text : value) bytes += text.size();
          return bytes;
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                             std::is_same_v<T, std::vector<double>>) {
          return value.size() * sizeof(value[0]);
        } else {
          return 0;
        }
      },
      attribute.value);
  return static_cast<int64_t>(sizeof attribute + attribute.name.size() + values);
}

}  // namespace

Status Budget::take_step() {
  if (++steps_ - own_nodes_ <= limits_.nodes) return ok();
  return Error{Errc::capacity,
               fmt::format("expanding loops and functions gives more than {} nodes; {} N takes N",
                           limits_.nodes, kNodesOption),
               ""};
}

Status Budget::take_node(const Node& node, int64_t output_bytes) {
  if (depth_ == 0) return ok();
  int64_t bytes = static_cast<int64_t>(sizeof node + node.name.size() + node.module.size() +
                                       node.inputs.size() * sizeof(TensorId)) +
                  output_bytes;
  for (const Attribute& attribute : node.attributes) bytes += attribute_bytes(attribute);
  graph_bytes_ += bytes;
  if (graph_bytes_ <= limits_.graph_bytes) return ok();
  return Error{Errc::capacity,
               fmt::format("expanding loops and functions gives a graph of more than {} MiB; {} N "
                           "takes N",
                           limits_.graph_bytes >> 20, kGraphOption),
               ""};
}

Result<Budget::Level> Budget::enter_level() {
  if (depth_ >= kMostNested)
    return Error{Errc::capacity, fmt::format("is nested more than {} deep", kMostNested), ""};
  return Level(depth_);
}

Status Budget::check_rank(const std::string& tensor, size_t rank) const {
  if (static_cast<int64_t>(rank) <= limits_.rank) return ok();
  return Error{Errc::capacity,
               fmt::format("tensor '{}' has {} dims, at most {} are taken; {} N takes N", tensor,
                           rank, limits_.rank, kRankOption),
               ""};
}

Status Budget::take_tensor(const Tensor& tensor) {
  if (const Status rank = check_rank(tensor.name, tensor.dims.size()); !rank) return rank;
  const std::optional<int64_t> count = checked_elements(tensor.dims);
  // An element has at most 16 bytes: below that many elements their bytes fit 64 bits.
  const bool fits = count && *count <= kMostBytes / 16 &&
                    storage_bytes(tensor.dtype, *count) <= kMostBytes - bytes_;
  if (!fits) {
    const bool negative = std::ranges::any_of(tensor.dims, [](int64_t dim) { return dim < 0; });
    return Error{negative ? Errc::invalid : Errc::overflow,
                 fmt::format("tensor '{}' would be {} of {}: {}", tensor.name,
                             to_string(tensor.dims), name(tensor.dtype),
                             negative ? "a dim is negative"
                                      : "more bytes than can be counted; check the shapes"),
                 ""};
  }
  bytes_ += storage_bytes(tensor.dtype, *count);
  return ok();
}

bool Budget::affords_values(DType dtype, int64_t count) const {
  const int64_t most = is_float(dtype) ? kMostFoldedReals : kMostFolded;
  return dtype != DType::string && count <= most && count <= kMostValues - values_;
}

}  // namespace accsim::sim
