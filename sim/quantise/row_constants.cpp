#include <algorithm>

#include "sim/operators/node_view.h"
#include "sim/quantise/part_constants.h"

namespace accsim::sim {
namespace {

void put_word(std::vector<uint8_t>& to, int32_t word) {
  for (int byte = 0; byte < 4; ++byte)
    to.push_back(static_cast<uint8_t>(static_cast<uint32_t>(word) >> (8 * byte)));
}

class RowConstants : public PartConstants {
 public:
  RowConstants(const ConstantsSource& source, const NetworkPart& part)
      : PartConstants(source, part),
        rows_(std::get<RowSource>(out_.source)),
        work_(rows_.problem.work) {}

  Result<PartNumbers> part_numbers() {
    x_ = tensor_read(work_.in_port);
    if (x_ == kNoTensor) return unknown_error("rows of the layer alone");
    const Status done = rows_.problem.is_softmax() ? set_softmax() : set_norm();
    if (!done) return done.errors();
    return std::move(out_);
  }

 private:
  RowNumbers& numbers() { return rows_.problem.numbers; }
  size_t parameter_tensor() const { return part_.tensors.size() - 1; }
  Algebra algebra_of(NodeId id) const {
    const OpRow* row = find_op(source_.graph.nodes[static_cast<size_t>(id)]);
    return row ? row->algebra : Algebra::none;
  }
  Result<double> single_number(TensorId id) const {
    const Result<ref::Array> array = source_.constants(id);
    if (!array) return array.errors();
    return array->size() == 1 ? Result<double>(array->reals()[0])
                              : unknown_error("a constant of several elements for one");
  }

  // ---- softmax ----------------------------------------------------------------------------------

  Status set_softmax() {
    const Result<double> factor = layer_.rows ? factor_of(score_tensor()) : 1.0;
    if (!factor) return factor.errors();
    if (!(*factor > 0))
      return unknown_error("a softmax of scores with a factor that isn't positive");
    hw::SoftmaxScales scales;
    scales.input = scale_of(x_).scale * *factor;
    scales.output = scale_of(tensor_written());
    scales.output.scale = std::clamp(scales.output.scale, 1.0 / 65536, 1.0);
    if (work_.mask) {
      const Result<double> mask = mask_scale(*factor);
      if (!mask) return mask.errors();
      scales.mask = *mask;
    }
    const auto t = hw::softmax_tables(scales);
    if (!t) return t.errors();
    numbers().row_multiplier = t->row_multiplier;
    numbers().mask_multiplier = t->mask_multiplier;
    numbers().difference_shift = t->difference_shift;
    numbers().numerator = t->numerator;
    numbers().exponent = t->exponent;
    numbers().epilogue.zero = t->output_zero;
    if (work_.log) {
      const auto log = hw::softmax_log(scales, scale_of(layer_.outputs[work_.log->port.index()]));
      if (!log) return log.errors();
      numbers().logarithm = *log;
    }
    std::vector<uint8_t> bytes;
    for (const auto* table : {&t->coarse, &t->fine})
      for (const int32_t word : *table) put_word(bytes, word);
    return put_constant(parameter_tensor(), bytes);
  }

  /// What the rows' elements are multiplied by on their way to `id`, node by node as the pattern
  /// has them.
  Result<double> factor_of(TensorId id) const {
    id = behind_conversions(id);
    if (id == x_) return 1.0;
    const NodeId producer = tensor(id).producer;
    if (producer == kNoNode) return unknown_error("a softmax of something else than its rows");
    const Node& n = source_.graph.nodes[static_cast<size_t>(producer)];
    if (algebra_of(producer) == Algebra::select)
      return factor_of(n.inputs[is_first_chosen(n) ? 1 : 2]);
    if (n.inputs.size() != 2) return unknown_error("a softmax behind an unknown function");
    const TensorId mask = work_.mask ? tensor_read(work_.mask->port) : kNoTensor;
    const size_t side = n.inputs[0] == mask || tensor(n.inputs[0]).constant ? 1 : 0;
    Result<double> inner = factor_of(n.inputs[side]);
    if (!inner || algebra_of(producer) == Algebra::add) return inner;
    Result<double> by = single_number(n.inputs[1 - side]);
    if (!by) return by;
    if (algebra_of(producer) == Algebra::multiply) return *inner * *by;
    if (algebra_of(producer) == Algebra::divide && side == 0) return *inner / *by;
    return unknown_error("a softmax behind an unknown function");
  }

  /// What the softmax itself reads: behind it conversions may come that are part of the layer.
  TensorId score_tensor() const {
    TensorId id = node_.inputs[0];
    for (NodeId at = layer_.node; algebra_of(at) == Algebra::convert;) {
      at = tensor(id).producer;
      id = source_.graph.nodes[static_cast<size_t>(at)].inputs[0];
    }
    return id;
  }

  /// Conversions to another type of reals change nothing.
  TensorId behind_conversions(TensorId id) const {
    while (id != x_ && tensor(id).producer != kNoNode &&
           algebra_of(tensor(id).producer) == Algebra::convert)
      id = source_.graph.nodes[static_cast<size_t>(tensor(id).producer)].inputs[0];
    return id;
  }

  /// Does a choice take the rows' elements where it is true?
  bool is_first_chosen(const Node& select) const { return !tensor(select.inputs[1]).constant; }
  /// Does the choice before the softmax?
  bool keeps_where_true(TensorId id) const {
    for (;;) {
      const NodeId producer = tensor(id).producer;
      if (producer == kNoNode) return true;
      const Node& n = source_.graph.nodes[static_cast<size_t>(producer)];
      if (algebra_of(producer) == Algebra::select) return is_first_chosen(n);
      id = n.inputs[0];
    }
  }

  /// The addend's scale, or that of a choice; a constant is put where the program reads it.
  Result<double> mask_scale(double factor) {
    const TensorId id = tensor_read(work_.mask->port);
    if (id == kNoTensor) return unknown_error("a mask of the layer alone");
    const ValueRange x = source_.calibration.tensor_range(x_);
    const double reach = mask_reach({x.low * factor, x.high * factor});
    const bool truth = !is_float(tensor(id).dtype);
    const bool gone = truth && !keeps_where_true(score_tensor());
    constexpr size_t kMask = 2;
    if (!part_.constant[kMask]) {
      if (gone) return unknown_error("a computed mask of what is taken away");
      return truth ? reach : scale_of(id).scale;  // what is kept has a 1
    }
    const Result<ref::Array> array = source_.constants(id);
    if (!array) return array.errors();
    std::vector<double> values = array->reals();
    if (truth)
      for (double& v : values) v = (v != 0) == gone ? -reach : 0;
    ValueRange range;
    for (double& v : values) {
      v = std::clamp(v, -reach, reach);
      range.widen_to({v, v});
    }
    const hw::ElementScale own = element_scale(range, true);
    std::vector<uint8_t> bytes;
    for (const double v : values) bytes.push_back(static_cast<uint8_t>(code_of(v, own)));
    if (Status s = put_constant(kMask, bytes); !s) return s.errors();
    return own.scale;
  }

  // ---- normalisation ----------------------------------------------------------------------------

  Status set_norm() {
    const Result<double> epsilon = epsilon_of();
    if (!epsilon) return epsilon.errors();
    const int64_t length = work_.row_length();
    const auto in_steps = hw::norm_epsilon(*epsilon, scale_of(x_).scale, length);
    if (!in_steps) return in_steps.errors();
    numbers().input_zero = scale_of(x_).zero;
    numbers().epilogue.zero = scale_of(tensor_written()).zero;
    numbers().epsilon = *in_steps;
    const Result<std::pair<int32_t, int32_t>> most = clip_limits();
    if (!most) return most.errors();
    std::tie(numbers().epilogue.low, numbers().epilogue.high) = *most;
    return put_channels(hw::norm_unit_bits(length));
  }

  Result<double> epsilon_of() const {
    if (!layer_.rows) {
      // LpNormalization has none, MeanVarianceNormalization 1e-9 beside the deviation.
      if (!row_->has_attribute("epsilon")) return 0.0;
      return NodeView(source_.graph, node_).attr("epsilon", 1e-5);
    }
    for (const Layer& merged : source_.network.lowered.layers) {
      if (merged.merged_into != static_cast<int>(part_.layer)) continue;
      if (algebra_of(merged.node) != Algebra::add) continue;
      const Node& n = source_.graph.nodes[static_cast<size_t>(merged.node)];
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const NodeId other = tensor(n.inputs[1 - side]).producer;
        if (tensor(n.inputs[side]).constant && other != kNoNode &&
            algebra_of(other) == Algebra::mean)
          return single_number(n.inputs[side]);
      }
    }
    return unknown_error("a norm without an epsilon");
  }

  /// Gain (port 0) or shift (port 1); empty where there is none.
  Result<std::vector<double>> constants_of(int port) const {
    TensorId id = kNoTensor;
    if (layer_.rows) {
      const size_t at = static_cast<size_t>(port) + 1;  // behind the rows
      if (at < layer_.inputs.size()) id = layer_.inputs[at];
    } else {
      const int at = row_->port_of(port == 0 ? PortRole::gain : PortRole::shift);
      if (at >= 0 && at < std::ssize(node_.inputs)) id = node_.inputs[static_cast<size_t>(at)];
    }
    if (id == kNoTensor) return std::vector<double>();
    const Result<ref::Array> array = source_.constants(id);
    if (!array) return array.errors();
    return array->reals();
  }

  Status put_channels(int32_t unit_bits) {
    const Result<std::vector<double>> gain = constants_of(0), shift = constants_of(1);
    if (!gain) return gain.errors();
    if (!shift) return shift.errors();
    const std::optional<RowMeaning> meaning =
        layer_.rows ? layer_.rows : row_->rows(NodeView(source_.graph, node_));
    if (!meaning || !in_order(*meaning))
      return unknown_error("channels of a norm in an order of their own");
    const double unit = meaning->unit_length ? 1 / std::sqrt(work_.row_length()) : 1;
    size_t count = std::max<size_t>({1, gain->size(), shift->size()});
    const auto fits = [&](const std::vector<double>& v) {
      return v.size() <= 1 || v.size() == count;
    };
    if (!fits(*gain) || !fits(*shift))
      return unknown_error("gains and shifts of different channels");
    const auto bytes =
        static_cast<size_t>(part_.mapping->program.tensors[parameter_tensor()].bytes);
    if (count == 1) count = bytes / hw::RowCommand::kChannelBytes;
    const auto value = [](const std::vector<double>& v, size_t c, double none) {
      return v.empty() ? none : v[v.size() == 1 ? 0 : c];
    };
    std::vector<uint8_t> out;
    for (size_t c = 0; c < count; ++c) {
      const auto channel = hw::norm_channel(value(*gain, c, unit), value(*shift, c, 0),
                                            scale_of(tensor_written()).scale, unit_bits);
      if (!channel) return channel.errors();
      for (const int32_t word : hw::pack_channel(*channel)) put_word(out, word);
    }
    return put_constant(parameter_tensor(), out);
  }

  /// Are the channels numbered in memory as gains and shifts have them?
  bool in_order(const RowMeaning& meaning) const {
    const auto several = [](const RowAxis& a) { return a.channel && a.reduced && a.count > 1; };
    if (std::ranges::count_if(meaning.axes, several) <= 1) return true;
    const LayerLayouts lies(source_.graph, source_.network.lowered, layer_);
    return lies.output_layout(0) == row_major_layout(tensor(tensor_written()).dims);
  }

  RowSource& rows_;
  const RowWork& work_;
  TensorId x_ = kNoTensor;
};

}  // namespace

Result<PartNumbers> kind_constants(const RowSource&, const ConstantsSource& source,
                                   const NetworkPart& part) {
  return RowConstants(source, part).part_numbers();
}

}  // namespace accsim::sim
