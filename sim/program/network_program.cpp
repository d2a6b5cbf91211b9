#include "sim/program/network_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "hw/program/append_layer.h"
#include "hw/program/visit.h"
#include "sim/schedule/program_names.h"

namespace accsim::sim {
namespace {

/// Tensors of a program with marks elsewhere than behind all of it; -1: none.
struct MovedMarks {
  int late = -1;   ///< what it stores is marked by the next program
  int first = -1;  ///< what the program before has stored is marked here, behind the wait for it
};

/// A layer's program with the marks of its trace (OpTrace).
class MarkedProgram {
 public:
  MarkedProgram(hw::Program program, const OpTrace& trace, const MovedMarks& moved)
      : out_(std::move(program)), awaited_(out_.tensors.size()) {
    stored_.resize(out_.tensors.size());
    for (const hw::Step& s : trace.steps)
      if (s.kind == hw::Step::Kind::wait_marks) awaited_[static_cast<size_t>(s.tensor)] = true;
    if (moved.first >= 0) wait_and_mark(moved.first);
    wait_before_first_loads(out_.body);
    for (size_t i = 0; i < stored_.size(); ++i)
      if (stored_[i] && moved.late != static_cast<int>(i))
        out_.body.push_back({hw::Mark{false, hw::Queue::store, static_cast<int>(i)}});
  }
  hw::Program take_program() { return std::move(out_); }

 private:
  /// Marks are set outside of loops: so is the wait before it, which stands where it does no harm
  /// (cut_into()).
  void wait_and_mark(int tensor) {
    const auto uses = std::ranges::find_if(
        out_.body, [&](const hw::Item& item) { return loads_tensor(item, tensor); });
    check(uses != out_.body.end(), "a piece that doesn't read what it waits for");
    out_.body.insert(uses, {{hw::Mark{true, hw::Queue::load, tensor}},
                            {hw::Mark{false, hw::Queue::store, tensor}}});
    awaited_[static_cast<size_t>(tensor)] = false;
  }
  static bool loads_tensor(const hw::Item& item, int tensor) {
    return hw::any_in_nest(std::span(&item, 1),
                           [&](const hw::LoadCommand& c) { return c.tensor == tensor; });
  }

  void wait_before_first_loads(std::vector<hw::Item>& body) {
    hw::rewrite_nest(body, [this](hw::Item item, std::vector<hw::Item>& to) {
      if (const auto* command = std::get_if<hw::Command>(&item.node)) {
        if (const auto* load = std::get_if<hw::LoadCommand>(command))
          add_first_wait(load->tensor, hw::Queue::load, to);
        if (const auto* stage = std::get_if<hw::StageCommand>(command))
          add_first_wait(stage->from, hw::Queue::stage, to);
        if (const auto* store = std::get_if<hw::StoreCommand>(command))
          stored_[static_cast<size_t>(store->tensor)] = true;
      }
      to.push_back(std::move(item));
    });
  }
  void add_first_wait(int tensor, hw::Queue queue, std::vector<hw::Item>& to) {
    if (!awaited_[static_cast<size_t>(tensor)]) return;
    awaited_[static_cast<size_t>(tensor)] = false;
    to.push_back({hw::Mark{true, queue, tensor}});
  }

  hw::Program out_;
  std::vector<bool> awaited_, stored_;  ///< by tensor
};

class NetworkBuilder {
 public:
  NetworkBuilder(const Graph& graph, const CostedNetwork& network,
                 const NetworkProgramOptions& options)
      : graph_(graph), network_(network), options_(options) {}

  NetworkProgram build_program() {
    out_.program.name = graph_.name;
    out_.program.dataflow = array_dataflow();
    find_outside();
    for (size_t i = 0; i < network_.order.size(); ++i) {
      const ScheduledOp& s = network_.order[i];
      const size_t first = first_ops_.try_emplace(s.layer, s.op).first->second;
      if (includes(s))
        add_part({s.layer,
                  s.op - first,
                  s.mapping.get(),
                  &network_.ports[s.layer][s.op - first],
                  {},
                  s.offsets,
                  {},
                  {}},
                 s, moved_marks(i));
    }
    return std::move(out_);
  }

 private:
  /// The tensor of which a piece stores a part, and the next one in the text reads an earlier one.
  static std::optional<int32_t> shared_tensor(const ScheduledOp& s, const ScheduledOp& next) {
    for (size_t i = 0; i < s.whole.size(); ++i)
      for (size_t k = 0; k < next.whole.size(); ++k)
        if (s.whole[i] == next.whole[k] && is_pitched(s, i, OperandPort::Side::output) &&
            is_pitched(next, k, OperandPort::Side::input))
          return s.whole[i];
    return std::nullopt;
  }
  static bool is_pitched(const ScheduledOp& s, size_t i, OperandPort::Side side) {
    return s.whole[i] != s.tensors[i] && s.mapping->trace.ports[i].side == side;
  }
  bool includes(const ScheduledOp& s) const { return includes(s.layer); }
  /// An engine's layers have no programs, whatever is asked for.
  bool includes(size_t layer) const {
    return (!options_.includes || options_.includes(layer)) &&
           std::ranges::all_of(network_.mappings[layer],
                               [](const auto& mapping) { return mapping->has_program(); });
  }
  MovedMarks moved_marks(size_t i) const {
    MovedMarks out;
    const auto together = [&](size_t first) {
      const ScheduledOp &s = network_.order[first], &next = network_.order[first + 1];
      return includes(s) && includes(next) ? shared_tensor(s, next) : std::nullopt;
    };
    const auto own = [&](int32_t whole, OperandPort::Side side) {
      const ScheduledOp& s = network_.order[i];
      for (size_t k = 0; k < s.whole.size(); ++k)
        if (s.whole[k] == whole && is_pitched(s, k, side)) return static_cast<int>(k);
      return -1;
    };
    if (i + 1 < network_.order.size())
      if (const auto t = together(i)) out.late = own(*t, OperandPort::Side::output);
    if (i > 0)
      if (const auto t = together(i - 1)) out.first = own(*t, OperandPort::Side::input);
    return out;
  }

  /// What layers write that aren't part of the program.
  void find_outside() {
    for (size_t i = 0; i < network_.tensors.size(); ++i)
      if (!includes(i))
        outside_.insert(network_.tensors[i].outputs.begin(), network_.tensors[i].outputs.end());
  }

  /// Output stationary when a layer's products are: the array is built for sums that stay or not.
  hw::Dataflow array_dataflow() const {
    for (const auto& mappings : network_.mappings)
      for (const auto& m : mappings)
        if (m->source_as<GemmSource>() && m->program.dataflow == hw::Dataflow::output_stationary)
          return hw::Dataflow::output_stationary;
    return hw::Dataflow::weight_stationary;
  }

  void add_part(NetworkPart part, const ScheduledOp& s, const MovedMarks& moved) {
    const std::vector<int32_t>& network = s.owners();
    const OpTrace& trace = part.mapping->trace;
    part.offsets.resize(network.size());
    std::vector<hw::ProgramTensor> tensors = part.mapping->program.tensors;
    name_tensors(graph_, trace, *part.ports, network_.tensors[part.layer], tensors);
    for (size_t i = 0; i < network.size(); ++i) {
      const OperandPort port = part.ports->layer_port(trace.ports[i]);
      part.constant.push_back(is_constant(part, port));
      part.pitches.push_back(part_of(network_.tensors[part.layer], port).pitch);
      hw::ProgramTensor& t = tensors[i];
      t.bytes += part.offsets[i];
      t.pitch = part.pitches.back().pitch;
      part.tensors.push_back(find_or_add_tensor(part.constant.back() ? -1 : network[i], t));
    }
    hw::Program program = options_.emit ? options_.emit(part) : part.mapping->program;
    const bool stays = out_.program.dataflow == hw::Dataflow::output_stationary;
    if (stays) program.dataflow = out_.program.dataflow;
    program = MarkedProgram(std::move(program), trace, moved).take_program();
    hw::begin_at(part.offsets, program.body);
    hw::append_layer(out_.program, std::move(program), network_.lowered.layers[part.layer].name,
                     part.tensors);
    out_.parts.push_back(std::move(part));
  }

  bool is_constant(const NetworkPart& part, const OperandPort& port) const {
    if (port.side == OperandPort::Side::own) return true;
    if (port.side != OperandPort::Side::input) return false;
    const Layer& layer = network_.lowered.layers[part.layer];
    const TensorId id = layer.inputs[static_cast<size_t>(port.index)];
    return id == kNoTensor || graph_.tensor(id).constant;
  }

  /// The program's tensor that is tensor `number` of the network; -1: a new one.
  int find_or_add_tensor(int32_t number, const hw::ProgramTensor& t) {
    const auto known = number >= 0 ? known_.find(number) : known_.end();
    std::vector<hw::ProgramTensor>& all = out_.program.tensors;
    if (known != known_.end()) {
      hw::ProgramTensor& same = all[static_cast<size_t>(known->second)];
      same.bytes = std::max(same.bytes, t.bytes);
      same.pitch = std::max(same.pitch, t.pitch);
      return known->second;
    }
    const auto added = static_cast<int>(all.size());
    all.push_back(t);
    if (number < 0) return added;
    known_.emplace(number, added);
    if (outside_.contains(number)) {
      out_.outside.insert(added);
      return added;
    }
    const auto place = network_.addresses.find(number);
    if (t.memory == hw::MemoryId::shared && t.slots == 0 && place != network_.addresses.end())
      all.back().address = place->second;
    return added;
  }

  const Graph& graph_;
  const CostedNetwork& network_;
  const NetworkProgramOptions& options_;
  NetworkProgram out_;
  std::map<int32_t, int> known_;
  std::set<int32_t> outside_;           ///< as a chain numbers them
  std::map<size_t, size_t> first_ops_;  ///< by layer
};

}  // namespace

NetworkProgram network_program(const Graph& graph, const CostedNetwork& network,
                               const NetworkProgramOptions& options) {
  return NetworkBuilder(graph, network, options).build_program();
}

}  // namespace accsim::sim
