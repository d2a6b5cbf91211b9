#include "sim/lower/pads.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "sim/lower/functions.h"
#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr size_t kFill = 2;  ///< the input of what is added
constexpr size_t kFirstSpatial = 2;

class AbsorbPads {
 public:
  explicit AbsorbPads(Graph graph)
      : graph_(std::move(graph)), readers_(consumers_by_tensor(graph_)) {}

  Graph absorb_all() {
    for (Node& node : graph_.nodes) absorb_pad(node);
    return std::move(graph_);
  }

 private:
  void absorb_pad(Node& pad) {
    const OpRow* row = find_op(pad);
    if (!row || row->fusion != Fusion::edge || pad.folded || pad.outputs[0] == kNoTensor) return;
    const TensorId out = pad.outputs[0];
    const auto& readers = readers_[static_cast<size_t>(out)];
    if (readers.empty() || std::ranges::count(graph_.outputs, out) > 0) return;
    const std::optional<Padding> p = added_padding(pad);
    if (!p) return;
    for (const NodeId id : readers)
      if (!can_absorb(graph_.nodes[static_cast<size_t>(id)], pad, *p)) return;
    for (const NodeId id : readers)
      add_padding(graph_.nodes[static_cast<size_t>(id)], pad.inputs[0], *p);
    pad.folded = pad.absorbed = true;
    pad.inputs[0] = kNoTensor;
  }

  /// What is added along spatial axes, if nothing else is done.
  std::optional<Padding> added_padding(const Node& pad) const {
    const NodeView view(graph_, pad);
    if (view.attr("mode", "constant") != "constant" || view.input(0).constant) return std::nullopt;
    Result<Padding> p = padding_of(view);
    if (!p || view.dims(0).size() <= kFirstSpatial) return std::nullopt;
    for (size_t d = 0; d < view.dims(0).size(); ++d) {
      if (p->before[d] < 0 || p->after[d] < 0) return std::nullopt;
      if (d < kFirstSpatial && p->before[d] + p->after[d] > 0) return std::nullopt;
    }
    return std::move(*p);
  }

  /// The number that is added; nullopt where it isn't known. Of integers it is one of theirs, of
  /// which only the zero point's meaning is known here.
  std::optional<double> fill_value(const Node& pad) const {
    const NodeView view(graph_, pad);
    const bool given = view.has_input(kFill);
    if (given && !is_float(view.dtype(kFill))) return std::nullopt;
    if (const auto& q = view.input(0).quantisation; !given && q && q->zero_point != kNoTensor) {
      const ConstPtr& zero = graph_.tensor(q->zero_point).value;
      if (!zero || zero->size() != 1 || zero->as_double(0) != 0) return std::nullopt;
    }
    if (!given) return view.attr("value", 0.0);
    const ConstData* value = view.value(kFill);
    return value && value->size() == 1 ? std::optional(value->as_double(0)) : std::nullopt;
  }

  /// Do the windows of `reader` read beyond edges what `pad` adds, wherever they lie?
  bool can_absorb(const Node& reader, const Node& pad, const Padding& p) const {
    const OpRow* row = find_op(reader);
    if (!row || row->beyond == Beyond::unknown || reader.folded) return false;
    if (reader.inputs[0] != pad.outputs[0] || std::ranges::count(reader.inputs, pad.outputs[0]) > 1)
      return false;
    const NodeView view(graph_, reader);
    const auto window = window_attrs(view, p.before.size() - kFirstSpatial);
    if (!window || window->has_same_padding() || view.attr("ceil_mode", int64_t{0}) != 0)
      return false;
    const std::optional<double> value = fill_value(pad);
    if (!value) return false;
    if (row->beyond == Beyond::least) return is_least(*value, pad, *window, reader, p);
    return *value == 0 && (row->beyond == Beyond::zero || counts_all(view, *row, *window));
  }

  /// Are all elements that windows read beyond the edges counted by their mean, or are there none
  /// but the added ones?
  static bool counts_all(const NodeView& view, const OpRow& row, const WindowAttrs& window) {
    const auto none = [](const std::vector<int64_t>& pads) {
      return std::ranges::all_of(pads, [](int64_t n) { return n == 0; });
    };
    if (row.beyond != Beyond::counted || view.opset() < kCountsSince) return false;
    return view.attr("count_include_pad", int64_t{0}) != 0 ||
           (none(window.before) && none(window.after));
  }

  /// Is no element of what is padded below the number, and one of them in every window? The
  /// places of maxima would be others.
  bool is_least(double value, const Node& pad, const WindowAttrs& window, const Node& reader,
                const Padding& p) const {
    for (size_t i = 1; i < reader.outputs.size(); ++i)
      if (reader.outputs[i] != kNoTensor) return false;
    const auto kernel = NodeView(graph_, reader).attr_ints("kernel_shape");
    if (!kernel || kernel->size() + kFirstSpatial != p.before.size()) return false;
    for (size_t d = 0; d < kernel->size(); ++d)
      if (window.dilations[d] != 1 ||
          std::max(window.before[d] + p.before[d + kFirstSpatial],
                   window.after[d] + p.after[d + kFirstSpatial]) >= (*kernel)[d])
        return false;
    return value <= std::numeric_limits<float>::lowest() || (value == 0 && has_no_negatives(pad));
  }

  bool has_no_negatives(const Node& pad) const {
    const NodeId producer = graph_.tensor(pad.inputs[0]).producer;
    if (producer == kNoNode) return false;
    const Node& before = graph_.nodes[static_cast<size_t>(producer)];
    const NodeView view(graph_, before);
    for (size_t port = 1; port < view.input_count(); ++port)
      if (view.has_input(port) && !view.value(port)) return false;
    return clips_at_zero(graph_, before);
  }

  /// Sets or adds an attribute.
  template <class T>
  static void set_attribute(Node& node, const char* name, T value) {
    std::erase_if(node.attributes, [&](const Attribute& a) { return a.name == name; });
    node.attributes.push_back({name, "", std::move(value)});
  }

  void add_padding(Node& reader, TensorId padded, const Padding& p) {
    const size_t rank = p.before.size() - kFirstSpatial;
    const auto window = window_attrs(NodeView(graph_, reader), rank);
    std::vector<int64_t> pads;
    for (size_t d = 0; d < rank; ++d)
      pads.push_back(window->before[d] + p.before[d + kFirstSpatial]);
    for (size_t d = 0; d < rank; ++d) pads.push_back(window->after[d] + p.after[d + kFirstSpatial]);
    set_attribute(reader, "pads", std::move(pads));
    set_attribute(reader, "auto_pad", std::string("NOTSET"));
    if (find_op(reader)->beyond == Beyond::counted)
      set_attribute(reader, "count_include_pad", int64_t{1});
    reader.inputs[0] = padded;
  }

  static constexpr int64_t kCountsSince = 7;  ///< version that has count_include_pad

  Graph graph_;
  const std::vector<std::vector<NodeId>> readers_;
};

}  // namespace

Graph absorb_pads(Graph graph) { return AbsorbPads(std::move(graph)).absorb_all(); }

}  // namespace accsim::sim
