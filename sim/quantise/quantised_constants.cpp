#include "sim/quantise/quantised_constants.h"

#include "sim/quantise/part_constants.h"

namespace accsim::sim {
namespace {

/// Moves: nothing but the constants among what they read.
class RealMove : public PartConstants {
 public:
  using PartConstants::PartConstants;

  Result<PartNumbers> part_numbers() {
    for (size_t i = 0; i < part_.tensors.size(); ++i) {
      if (!part_.constant[i]) continue;
      const OperandPort port = part_.ports->layer_port(part_.mapping->trace.ports[i]);
      if (port.side != OperandPort::Side::input)
        return unknown_error("a move with a table of its own");
      const TensorId id = tensor_read(port.index);
      if (id == kNoTensor || !(is_float(tensor(id).dtype) || is_list(i)))
        return unknown_error("a move by constants that aren't moved");
      const Result<ref::Array> array = source_.constants(id);
      if (!array) return array.errors();
      if (Status s = put_constant(i, is_list(i) ? indices(*array) : codes(*array, id)); !s)
        return s.errors();
    }
    return std::move(out_);
  }

 private:
  static constexpr size_t kList = 1;  ///< of a gather's tensors

  bool is_list(size_t tensor) const {
    return tensor == kList && part_.mapping->source_as<GatherSource>() != nullptr;
  }
  std::vector<uint8_t> codes(const ref::Array& array, TensorId id) const {
    const Layout& lies = source_.network.lowered.layouts[static_cast<size_t>(id)];
    return codes_in_memory(array, lies, scale_of(id));
  }
  /// Little-endian; negative ones count from the end.
  std::vector<uint8_t> indices(const ref::Array& array) const {
    const GatherProblem& p = part_.mapping->source_as<GatherSource>()->problem;
    std::vector<uint8_t> out;
    for (const int64_t index : array.integers()) {
      const auto row = static_cast<uint64_t>(index < 0 ? index + p.rows.rows : index);
      for (int64_t byte = 0; byte < p.index_bytes; ++byte)
        out.push_back(static_cast<uint8_t>(row >> (8 * byte)));
    }
    return out;
  }
};

Result<PartNumbers> kind_constants(const GatherSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return RealMove(source, part).part_numbers();
}
Result<PartNumbers> kind_constants(const MoveSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return RealMove(source, part).part_numbers();
}
Result<PartNumbers> kind_constants(const StreamSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return RealMove(source, part).part_numbers();
}

}  // namespace

Result<ValueRange> limits_of(const ConstantsSource& source, NodeId clip) {
  constexpr double kFar = 1e30;
  const Node& node = source.graph.nodes[static_cast<size_t>(clip)];
  UnaryFunction f;
  f.of = node.inputs[0];
  f.nodes = {clip};
  const auto ends = evaluate_function(source.graph, f, source.constants, {-kFar, kFar});
  if (!ends) return ends.errors();
  return ValueRange{(*ends)[0], (*ends)[1]};
}

Result<std::pair<int32_t, int32_t>> PartConstants::clip_limits() const {
  int32_t low = INT8_MIN, high = INT8_MAX;
  for (const Layer& merged : source_.network.lowered.layers) {
    if (merged.merged_into != static_cast<int>(part_.layer) || merged.in_function) continue;
    const OpRow* row = find_op(source_.graph.nodes[static_cast<size_t>(merged.node)]);
    if (!row || row->fusion != Fusion::clip) continue;
    const Result<ValueRange> values = limits_of(source_, merged.node);
    if (!values) return values.errors();
    low = std::max<int32_t>(low, code_of(values->low, scale_of(tensor_written())));
    high = std::min<int32_t>(high, code_of(values->high, scale_of(tensor_written())));
  }
  return std::pair(low, high);
}

Result<PartNumbers> quantised_constants(const ConstantsSource& source, const NetworkPart& part) {
  return visit_kind(part.mapping->source,
                    [&](const auto& kind) { return kind_constants(kind, source, part); });
}

std::vector<uint8_t> codes_in_memory(const ref::Array& array, const Layout& layout,
                                     const hw::ElementScale& scale) {
  const std::vector<double> values = array.reals();
  std::vector<uint8_t> out(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    out[static_cast<size_t>(place_of(static_cast<int64_t>(i), layout))] =
        static_cast<uint8_t>(code_of(values[i], scale));
  return out;
}

ref::Array values_from_memory(std::span<const uint8_t> codes, const Tensor& tensor,
                              const Layout& layout, const hw::ElementScale& scale) {
  ref::Array out(tensor.dtype, tensor.dims);
  with_element_kind(out.kind(), [&]<class T>(T) {
    for (int64_t i = 0; i < out.size(); ++i) {
      const auto code = static_cast<int8_t>(codes[static_cast<size_t>(place_of(i, layout))]);
      out.data<T>()[i] = static_cast<T>((code - scale.zero) * scale.scale);
    }
  });
  ref::round_elements(out);
  return out;
}

}  // namespace accsim::sim
