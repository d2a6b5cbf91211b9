#pragma once
#include "sim/lower/layer_layouts.h"
#include "sim/operators/op_table.h"
#include "sim/quantise/quantised_constants.h"

namespace accsim::sim {

/// A part of a network that gets real numbers: what its kinds have in common.
class PartConstants {
 public:
  PartConstants(const ConstantsSource& source, const NetworkPart& part)
      : source_(source),
        part_(part),
        layer_(source.network.lowered.layers[part.layer]),
        node_(source.graph.nodes[static_cast<size_t>(layer_.node)]),
        row_(find_op(node_)) {
    out_.source = part.mapping->source;
    out_.constants.resize(part.tensors.size());
  }

 protected:
  Error unknown_error(const std::string& what) const {
    return {Errc::unsupported, what, "layer '" + layer_.name + "'"};
  }
  /// The graph's tensor that a port of the work reads; kNoTensor for what lives in the layer alone.
  TensorId tensor_read(ValuePort port) const {
    const int input = input_of(layer_, port);
    return input < 0 ? kNoTensor : layer_.inputs[static_cast<size_t>(input)];
  }
  const Tensor& tensor(TensorId id) const { return source_.graph.tensor(id); }
  const hw::ElementScale& scale_of(TensorId id) const { return source_.scales.scale_of(id); }
  TensorId tensor_written() const { return layer_.outputs[0]; }

  /// Bytes of all of a constant of the part, of which a piece has its share.
  Status put_constant(size_t of_part, const std::vector<uint8_t>& all) {
    const auto from = static_cast<size_t>(part_.offsets[of_part]);
    const auto bytes = static_cast<size_t>(part_.mapping->program.tensors[of_part].bytes);
    if (from + bytes > all.size())
      return unknown_error("a constant of another size than its tensor");
    const auto begin = all.begin() + static_cast<ptrdiff_t>(from);
    out_.constants[of_part].assign(begin, begin + static_cast<ptrdiff_t>(bytes));
    return ok();
  }

  /// Codes that clips merged into the layer leave.
  Result<std::pair<int32_t, int32_t>> clip_limits() const;

  const ConstantsSource& source_;
  const NetworkPart& part_;
  const Layer& layer_;
  const Node& node_;
  const OpRow* row_;
  PartNumbers out_;
};

/// quantised_constants() of a part of this kind.
Result<PartNumbers> kind_constants(const GemmSource& kind, const ConstantsSource& source,
                                   const NetworkPart& part);
Result<PartNumbers> kind_constants(const LaneSource& kind, const ConstantsSource& source,
                                   const NetworkPart& part);
Result<PartNumbers> kind_constants(const RowSource& kind, const ConstantsSource& source,
                                   const NetworkPart& part);

/// The values between which a node of a clip leaves those of its input.
Result<ValueRange> limits_of(const ConstantsSource& source, NodeId clip);

}  // namespace accsim::sim
