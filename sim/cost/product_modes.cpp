#include "sim/cost/product_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace accsim::sim {
namespace {

/// Of a list, the type that stands in for one that isn't there: of as many bits and the same kind,
/// else the narrowest that holds more; nothing where none does. Wider integers are taken for
/// integers where that is said.
std::optional<DType> stand_in(DType wanted, const std::vector<DType>& there, bool wider_integers) {
  std::optional<DType> out;
  for (const DType t : there) {
    if (is_float(t) == is_float(wanted) && bits(t) == bits(wanted)) return t;
    const bool kind = is_float(t) || (wider_integers && !is_float(wanted));
    const bool better =
        !out || bits(t) < bits(*out) || (bits(t) == bits(*out) && is_float(t) == is_float(wanted));
    if (kind && bits(t) > bits(wanted) && better) out = t;
  }
  return out;
}

bool has_type(const std::vector<DType>& list, DType t) {
  return std::ranges::find(list, t) != list.end();
}

std::string join_distinct(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts)
    if (!text.empty() && std::ranges::find(out, text) == out.end()) out.push_back(text);
  return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace

DType machine_type(DType stored) {
  const hw::NumberFormat* const f = format_of(stored);
  if (f == nullptr || f->bits > 16 || f->kind == hw::NumberKind::power) return DType::undefined;
  if (f->is_integer())
    return f->is_packed() ? DType::int4 : f->fits_byte() ? DType::int8 : DType::int16;
  if (!f->fits_byte()) return stored;
  const bool fits = f->exponent <= format_of(DType::float8e4m3fn)->exponent;
  return fits ? DType::float8e4m3fn : DType::float8e5m2;
}

OperandTypes::OperandTypes(const Graph& graph, const Lowered& lowered)
    : graph_(graph), lowered_(lowered), stored_(graph.tensors.size(), DType::undefined) {
  for (const Parameter& p : lowered.parameters) stored_[static_cast<size_t>(p.tensor)] = p.type;
  for (size_t t = 0; t < stored_.size(); ++t)
    if (graph.tensors[t].producer == kNoNode && stored_[t] == DType::undefined)
      stored_[t] = graph.tensors[t].dtype;
  for (const Node& node : graph.nodes)  // in topological order
    for (const TensorId out : node.outputs)
      if (out != kNoTensor && stored_[static_cast<size_t>(out)] == DType::undefined)
        stored_[static_cast<size_t>(out)] = made_from(node, graph.tensor(out));
}

DType OperandTypes::made_from(const Node& node, const Tensor& t) const {
  if (node.inputs.empty() || node.inputs[0] == kNoTensor) return t.dtype;
  const Tensor& from = graph_.tensor(node.inputs[0]);
  const bool all = from.constant && elements(from.dims) >= elements(t.dims);
  return all ? stored_[static_cast<size_t>(node.inputs[0])] : t.dtype;
}

DType OperandTypes::stored_type(TensorId id) const { return stored_[static_cast<size_t>(id)]; }

DType OperandTypes::activation_type(TensorId id) const {
  if (id == kNoTensor) return DType::undefined;
  const Tensor& t = graph_.tensor(id);
  if (!t.quantisation) return machine_type(t.dtype);
  const TensorId zero = t.quantisation->zero_point;
  if (zero != kNoTensor) return machine_type(graph_.tensor(zero).dtype);
  return is_float(t.dtype) ? DType::int8 : machine_type(t.dtype);
}

AskedTypes OperandTypes::of_product(const GemmOp& op, TensorId a, TensorId b) const {
  AskedTypes out;
  out.macs = op.macs();
  out.activation = activation_type(a);
  out.computed = b == kNoTensor || !graph_.tensor(b).constant;
  out.weight = out.computed ? DType::undefined : machine_type(stored_type(b));
  out.packs = packs_weights(op);
  return out;
}

std::vector<std::vector<AskedTypes>> OperandTypes::of_layers() const {
  std::vector<std::vector<AskedTypes>> out;
  for (const Layer& l : lowered_.layers) {
    auto& products = out.emplace_back();
    const auto tensor = [&](ValuePort port) {
      return port.is_within(l.inputs.size()) ? l.inputs[port.index()] : kNoTensor;
    };
    for (const WorkItem& item : l.work)
      if (const auto* op = std::get_if<GemmOp>(&item))
        // What is internal to a layer is made of its first input.
        products.push_back(
            of_product(*op, tensor(op->a_port.is_of_node() ? op->a_port : 0), tensor(op->b_port)));
  }
  return out;
}

ModeChoice::ModeChoice(const std::vector<std::vector<AskedTypes>>& asked, const hw::HwConfig& hw)
    : several_(!hw.types.modes.empty()), machine_(hw), own_(hw.types.activation), known_({own_}) {
  if (!several_) return;
  for (const hw::TypeMode& m : hw.types.modes)
    if (!has_type(known_, m.activation)) known_.push_back(m.activation);
  std::vector<double> macs(known_.size(), 0);
  double all = 0;
  for (const auto& layer : asked)
    for (const AskedTypes& p : layer) {
      DType type = p.activation == DType::undefined ? own_ : p.activation;
      if (!has_type(known_, type)) type = stand_in(type, known_, false).value_or(own_);
      const auto at = std::ranges::find(known_, type) - known_.begin();
      macs[static_cast<size_t>(at)] += static_cast<double>(p.macs);
      all += static_cast<double>(p.macs);
    }
  const auto most = std::ranges::max_element(macs);  // the first of equal ones
  share_ = all > 0 ? *most / all : 0;
  machine_ = machine_of_activations(hw, known_[static_cast<size_t>(most - macs.begin())]);
}

ModeChoice::Weights ModeChoice::weights_of(const AskedTypes& asked) const {
  const DType activation = machine_.types.activation;
  const bool own = activation == own_;
  std::map<DType, int> modes;
  std::vector<DType> there;
  const auto add = [&](DType weight, int mode) {
    if (modes.emplace(weight, mode).second) there.push_back(weight);
  };
  for (size_t i = 0; i < machine_.types.modes.size(); ++i)
    add(machine_.types.modes[i].weight, static_cast<int>(i));
  if (own) {
    add(machine_.types.weight, hw::kOwnTypes);
    // Which then takes weights of 8 bits, too, where they can't lie packed.
    if (machine_.narrow_weights() && (asked.computed || !asked.packs))
      add(DType::int8, hw::kOwnTypes);
  }
  DType wanted = asked.weight;
  if (asked.computed)
    wanted = activation;
  else if (wanted == DType::undefined)
    wanted = own ? machine_.types.weight : activation;
  if (!asked.packs) {
    std::erase_if(there, is_packed);
    if (asked.weight == DType::undefined && is_packed(wanted)) wanted = DType::int8;
  }
  if (has_type(there, wanted)) return {modes.at(wanted), ""};
  const std::string missing = is_packed(wanted) && !asked.packs
                                  ? "weights of grouped convolutions aren't packed"
                                  : fmt::format("no {} x {} mode", name(activation), name(wanted));
  if (const auto wider = stand_in(wanted, there, true))
    return {modes.at(*wider),
            fmt::format("{}, weights {} {}", missing,
                        bits(*wider) > bits(wanted) ? "widened to" : "become", name(*wider))};
  const DType widest =
      *std::ranges::max_element(there, {}, [](DType t) { return std::pair(bits(t), is_float(t)); });
  return {modes.at(widest), fmt::format("{}, weights rounded to {}", missing, name(widest))};
}

ProductMode ModeChoice::mode_of(const AskedTypes& asked) const {
  ProductMode out;
  if (!several_) return out;
  const DType activation = machine_.types.activation;
  const Weights w = weights_of(asked);
  out.mode = w.mode;
  hw::TypeMode mode = type_mode(machine_, w.mode);
  if (is_packed(mode.weight) && (asked.computed || !asked.packs)) mode.weight = DType::int8;
  out.types = to_string(mode);
  std::vector<std::string> why;
  if (asked.activation != DType::undefined && asked.activation != activation) {
    if (has_type(known_, asked.activation))
      why.push_back(fmt::format("activations are {}, as {:.0f} % of the network's MACs ask",
                                name(activation), 100 * share_));
    else
      why.push_back(fmt::format("no mode of {} activations, they are {}", name(asked.activation),
                                name(activation)));
  }
  if (!w.note.empty()) why.push_back(w.note);
  if (why.empty()) return out;
  const auto wide = [](DType asks, DType now) {
    return bits(asks == DType::undefined ? now : asks);
  };
  const int a = wide(asked.activation, activation);
  const std::string what = asked.computed
                               ? fmt::format("A{} x A{}", a, a)
                               : fmt::format("W{}A{}", wide(asked.weight, mode.weight), a);
  out.note = fmt::format("{}: {}", what, fmt::join(why, "; "));
  return out;
}

void ModeChoice::set_modes(const std::vector<AskedTypes>& asked,
                           std::vector<OpRequest>& work) const {
  if (!several_) return;
  size_t next = 0;
  for (OpRequest& request : work)
    if (std::holds_alternative<GemmOp>(request.item) && next < asked.size())
      request.mode = mode_of(asked[next++]).mode;
}

std::string ModeChoice::types_text(const std::vector<AskedTypes>& asked) const {
  std::vector<std::string> out;
  for (const AskedTypes& p : asked) out.push_back(mode_of(p).types);
  return join_distinct(out);
}

std::string ModeChoice::note_text(const std::vector<AskedTypes>& asked) const {
  std::vector<std::string> out;
  for (const AskedTypes& p : asked) out.push_back(mode_of(p).note);
  return join_distinct(out);
}

}  // namespace accsim::sim
