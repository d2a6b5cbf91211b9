#include "sim/flow/network_program.h"

#include <algorithm>
#include <map>

#include "hw/program/append_layer.h"

namespace accsim::sim {
namespace {

/// A layer's program with the marks of its link (ChainLink).
class MarkedProgram {
 public:
  MarkedProgram(const Mapping& mapping) : out_(mapping.program), awaited_(out_.tensors.size()) {
    stored_.resize(out_.tensors.size());
    for (const hw::Step& s : mapping.link.steps)
      if (s.kind == hw::Step::Kind::wait_marks) awaited_[static_cast<size_t>(s.tensor)] = true;
    wait_before_first_loads(out_.body);
    for (size_t i = 0; i < stored_.size(); ++i)
      if (stored_[i]) out_.body.push_back({hw::Mark{false, hw::Queue::store, static_cast<int>(i)}});
  }
  hw::Program take() { return std::move(out_); }

 private:
  void wait_before_first_loads(std::vector<hw::Item>& body) {
    std::vector<hw::Item> out;
    for (hw::Item& item : body) {
      if (auto* loop = std::get_if<hw::Loop>(&item.node)) wait_before_first_loads(loop->body);
      if (const auto* command = std::get_if<hw::Command>(&item.node)) {
        if (const auto* load = std::get_if<hw::LoadCommand>(command)) wait(load->tensor, out);
        if (const auto* store = std::get_if<hw::StoreCommand>(command))
          stored_[static_cast<size_t>(store->tensor)] = true;
      }
      out.push_back(std::move(item));
    }
    body = std::move(out);
  }
  void wait(int tensor, std::vector<hw::Item>& to) {
    if (!awaited_[static_cast<size_t>(tensor)]) return;
    awaited_[static_cast<size_t>(tensor)] = false;
    to.push_back({hw::Mark{true, hw::Queue::load, tensor}});
  }

  hw::Program out_;
  std::vector<bool> awaited_, stored_;  ///< by tensor
};

class NetworkBuilder {
 public:
  void add(const std::string& layer, const Mapping& mapping, const LayerTensors& tensors) {
    std::vector<int> to;
    const std::vector<int32_t> network = numbers(mapping.link, tensors);
    for (size_t i = 0; i < network.size(); ++i) {
      const OperandPort::Side side = mapping.link.ports[i].side;
      const bool own = side == OperandPort::Side::own;
      to.push_back(tensor(own ? -1 : network[i], mapping.program.tensors[i]));
    }
    hw::append_layer(out_, MarkedProgram(mapping).take(), layer, to);
  }
  hw::Program take(const std::string& name) {
    out_.name = name;
    return std::move(out_);
  }
  /// What lives between ops of a layer isn't the next layer's.
  void end_layer(int32_t internal) { known_.erase(internal); }

 private:
  /// The program's tensor that is tensor `number` of the network; -1: a new one.
  int tensor(int32_t number, const hw::ProgramTensor& t) {
    const auto known = number >= 0 ? known_.find(number) : known_.end();
    if (known != known_.end()) {
      int64_t& bytes = out_.tensors[static_cast<size_t>(known->second)].bytes;
      bytes = std::max(bytes, t.bytes);
      return known->second;
    }
    const auto added = static_cast<int>(out_.tensors.size());
    out_.tensors.push_back(t);
    if (number >= 0) known_.emplace(number, added);
    return added;
  }

  hw::Program out_;
  std::map<int32_t, int> known_;
};

}  // namespace

hw::Program network_program(const Graph& graph, const CostedNetwork& network) {
  NetworkBuilder builder;
  for (size_t i = 0; i < network.mappings.size(); ++i) {
    const std::string& name = network.lowered.layers[i].name;
    for (const auto& mapping : network.mappings[i]) builder.add(name, *mapping, network.tensors[i]);
    builder.end_layer(network.tensors[i].internal);
  }
  return builder.take(graph.name);
}

}  // namespace accsim::sim
