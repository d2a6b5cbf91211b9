#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/onnx/decode.h"
#include "sim/onnx/weights.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"
#include "sim/ref/executor.h"
#include "sim/ref/texts.h"

namespace accsim::sim::ref {
namespace {

void fill_array(Array& array, const ConstData& values) {
  with_element_kind(array.kind(), [&]<class T>(T) {
    T* to = array.data<T>();
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = values.is_integer() ? static_cast<T>(values.integers()[i])
                                  : static_cast<T>(values.reals()[i]);
  });
}

std::optional<Array> decoded_array(DType dtype, const Dims& dims, const RawElements& raw,
                                   std::shared_ptr<MemoryCount> count) {
  Array array(dtype, dims, std::move(count));
  if (is_kept_as_stored(dtype)) {
    if (raw.size > 0) std::memcpy(array.raw_data(), raw.data, raw.size);
    if (dtype == DType::boolean)
      for (int64_t i = 0; i < array.size(); ++i)
        array.data<uint8_t>()[i] = array.data<uint8_t>()[i] != 0;
  } else {
    fill_array(array, *onnx::decode_elements(dtype, static_cast<size_t>(array.size()),
                                             {raw.data, raw.size}));
  }
  return array;
}

std::optional<Array> read_stored(const std::string& file, DType dtype, const Dims& dims,
                                 const Payload& payload, const ConstPtr& value,
                                 std::shared_ptr<MemoryCount> count) {
  if (!element_kind(dtype)) return std::nullopt;
  if (dtype == DType::string) {
    const auto texts = read_texts(dims, payload);
    if (!texts) return std::nullopt;
    return array_of_texts(*texts, dims, std::move(count));
  }
  // A sparse tensor is made dense beside the array.
  const bool sparse = payload.kind == Payload::Kind::sparse;
  const Held dense(count, sparse ? storage_bytes(dtype, elements(dims)) : 0);
  const auto raw = raw_elements(file, dtype, dims, payload);
  if (raw && (payload.kind != Payload::Kind::none || elements(dims) == 0))
    return decoded_array(dtype, dims, *raw, std::move(count));
  if (!value || static_cast<int64_t>(value->size()) != elements(dims)) return std::nullopt;
  Array array(dtype, dims, std::move(count));
  fill_array(array, *value);
  return array;
}

/// A 64-bit generator with good bits from any seed (splitmix64), the same on every platform.
struct Random {
  uint64_t state;
  uint64_t next_bits() {
    uint64_t z = state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1).
  double next_real() { return static_cast<double>(next_bits() >> 11) * 0x1p-52 - 1; }
};

Random seeded_generator(const std::string& name, uint64_t seed) {
  uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  Random random{hash ^ (seed * 0xD6E8FEB86659FD93U)};
  random.next_bits();
  return random;
}

/// Calls visit(node, port) for every input port that tensor `id` feeds.
template <class F>
void each_reader(const Graph& graph, TensorId id, F visit) {
  for (const Node& node : graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == id) visit(node, i);
}

/// The node that computes with a stored tensor behind those that only cut, fill or turn it, so that
/// cut models draw the same weights as whole ones. `turned` is flipped by every transpose.
const Node* user_behind(const Graph& graph, const Node& first, size_t& port, bool& turned) {
  const Node* node = &first;
  const OpRow* row = find_op(first);
  while (row != nullptr && port == 0 && row->passes_weights) {
    turned ^= row->fusion == Fusion::turn;
    const TensorId out = node->outputs.empty() ? kNoTensor : node->outputs[0];
    const auto& nodes = graph.nodes;
    const auto reads = [&](const Node& n) { return std::ranges::count(n.inputs, out) > 0; };
    const auto next = out == kNoTensor ? nodes.end() : std::ranges::find_if(nodes, reads);
    node = next == nodes.end() ? nullptr : &*next;
    row = node == nullptr ? nullptr : find_op(*node);
    if (node != nullptr)
      port = static_cast<size_t>(std::ranges::find(node->inputs, out) - node->inputs.begin());
  }
  return node;
}

/// The node that computes with a stored tensor behind one that the program has added to put its
/// elements in another order; nullptr: none does.
const Node* user_in_order(const Graph& graph, const Node& first, size_t& port) {
  if (!first.folded || first.part_of.empty() || port != 0) return &first;
  const TensorId out = first.outputs[0];
  for (const Node& node : graph.nodes)
    if (const auto at = std::ranges::find(node.inputs, out); at != node.inputs.end()) {
      port = static_cast<size_t>(at - node.inputs.begin());
      return &node;
    }
  return nullptr;
}

/// Centre and half width of the values that a weight is drawn from.
struct Spread {
  double middle = 0, width = 0.1;
};

Spread spread_of(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  const Dims& dims = tensor.dims;
  Spread spread;
  // A uniform distribution of half width sqrt(6 / fan in) keeps the variance through a ReLU.
  if (dims.size() >= 2) {
    int64_t fan = dims.size() == 2 ? std::max(dims[0], dims[1]) : elements(dims, 1, dims.size());
    bool known = false;  // by the first product that uses it
    each_reader(graph, id, [&](const Node& reader, size_t port) {
      if (known) return;
      bool turned = false;
      const Node* user = user_behind(graph, reader, port, turned);
      const OpRow* row = user == nullptr ? nullptr : find_op(*user);
      if (row == nullptr) return;
      const bool either = row->weights == WeightLayout::kn_or_nk;
      if (row->weights != WeightLayout::kn && !either) return;
      const NodeView view(graph, *user);
      turned ^= either && port == 1 && view.attr("transB", int64_t{0}) != 0;
      fan = turned ? dims.back() : dims[dims.size() - 2];
      known = true;
    });
    spread.width = std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(fan, 1)));
  }
  each_reader(graph, id, [&](const Node& reader, size_t port) {
    const Node* user = user_in_order(graph, reader, port);
    const OpRow* row = user == nullptr ? nullptr : find_op(*user);
    const bool norm = row != nullptr && row->kind == OpKind::normalization;
    if (norm && row->role_of(port) == PortRole::variance)
      spread = {1, 0.5};
    else if (norm && port == 1)
      spread = {1, 0.2};
    else if (norm)
      spread = {0, 0.1};
  });
  return spread;
}

}  // namespace

std::optional<Array> array_of(DType dtype, const Dims& dims, const RawElements& raw) {
  if (!element_kind(dtype) || dtype == DType::string ||
      static_cast<int64_t>(raw.size) != storage_bytes(dtype, elements(dims)))
    return std::nullopt;
  return decoded_array(dtype, dims, raw, nullptr);
}

std::optional<Array> stored_array(const Graph& graph, const Tensor& tensor,
                                  std::shared_ptr<MemoryCount> count) {
  return read_stored(graph.file, tensor.dtype, tensor.dims, tensor.payload, tensor.value,
                     std::move(count));
}

std::optional<Array> stored_array(const Graph& graph, const StoredTensor& tensor,
                                  std::shared_ptr<MemoryCount> count) {
  return read_stored(graph.file, tensor.dtype, tensor.dims, tensor.payload, tensor.value,
                     std::move(count));
}

Array random_weights(const Graph& graph, TensorId id, uint64_t seed,
                     std::shared_ptr<MemoryCount> count) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.dtype == DType::string) {
    const std::vector<std::string> zeros(static_cast<size_t>(elements(tensor.dims)), "0");
    return array_of_texts(zeros, tensor.dims, std::move(count));
  }
  Array array(tensor.dtype, tensor.dims, std::move(count));
  Random random = seeded_generator(tensor.name, seed);
  const Spread spread = spread_of(graph, id);
  with_element_kind(array.kind(), [&]<class T>(T) {
    T* to = array.data<T>();
    for (int64_t i = 0; i < array.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        to[i] = static_cast<T>(spread.middle + spread.width * random.next_real());
      else if constexpr (sizeof(T) == 1)
        to[i] = tensor.dtype == DType::boolean ? static_cast<T>(random.next_bits() & 1)
                                               : static_cast<T>(random.next_bits() & 7);
      else
        to[i] = T{};  // an index or a count: 0 is always in range
    }
  });
  round_elements(array);
  return array;
}

Array random_input(const Graph& graph, TensorId id, uint64_t seed,
                   std::shared_ptr<MemoryCount> count) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.value && element_kind(tensor.dtype)) {  // as the user states
    Array given(tensor.dtype, tensor.dims, std::move(count));
    fill_array(given, *tensor.value);
    return given;
  }
  uint64_t below = fits_byte(tensor.dtype) ? 128 : 2;
  each_reader(graph, id, [&](const Node& node, size_t port) {
    const OpRow* row = find_op(node);
    if (row == nullptr || row->role_of(port) != PortRole::row_index || node.inputs[0] == kNoTensor)
      return;
    const NodeView view(graph, node);
    const auto axis = normalize_axis(view.attr("axis", int64_t{0}), view.rank(0));
    if (axis && view.dims(0)[static_cast<size_t>(*axis)] > 0)
      below = static_cast<uint64_t>(view.dims(0)[static_cast<size_t>(*axis)]);
  });
  Random random = seeded_generator(tensor.name, seed);
  if (tensor.dtype == DType::string) {
    std::vector<std::string> digits;
    for (int64_t i = 0; i < elements(tensor.dims); ++i)
      digits.emplace_back(random.next_bits() % below == 0 ? "0" : "1");
    return array_of_texts(digits, tensor.dims, std::move(count));
  }
  Array array(tensor.dtype, tensor.dims, std::move(count));
  with_element_kind(array.kind(), [&]<class T>(T) {
    T* to = array.data<T>();
    for (int64_t i = 0; i < array.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        to[i] = static_cast<T>(random.next_real());
      else
        to[i] = static_cast<T>(random.next_bits() % below);
    }
  });
  round_elements(array);
  return array;
}

Status check_given(const Tensor& tensor, const Array& array) {
  if (tensor.constant || !tensor.value) return ok();
  const ConstData& given = *tensor.value;
  const std::vector<double> computed = array.reals();
  for (size_t i = 0; i < given.size() && i < computed.size(); ++i)
    if (computed[i] != given.as_double(i))
      return Error{Errc::invalid,
                   fmt::format("element {} of '{}' is {}, and {} by --value; give what it is", i,
                               tensor.name, computed[i], given.as_double(i)),
                   ""};
  return ok();
}

}  // namespace accsim::sim::ref
