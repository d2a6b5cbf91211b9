#include "hw/program/append_layer.h"

#include <iterator>
#include <utility>

#include "hw/program/visit.h"
#include "sim/base/check.h"

namespace accsim::hw {
namespace {

/// Gives a layer's text the network's numbers of loops and tensors.
class Renumber {
 public:
  Renumber(int loops, std::span<const int> tensors) : loops_(loops), tensors_(tensors) {}

  void renumber_body(std::vector<Item>& items) {
    const auto loop = [this](Loop& l, const auto& inner) {
      l.id += loops_;
      inner();
    };
    const auto sync = [this](Sync& s) {
      if (s.region >= 0) renumber_tensor(s.region);
    };
    const auto mark = [this](Mark& m) { renumber_tensor(m.tensor); };
    const auto command = [this](Command& c) {
      std::visit([this](auto& kind) { this->renumber_command(kind); }, c);
    };
    visit_nest(items, Overloaded{loop, sync, mark, command});
  }

 private:
  void renumber_command(LoadCommand& c) {
    renumber_tensor(c.tensor);
    renumber_address(c.source);
    renumber_address(c.slot_offset);
    if (c.padded)
      for (Affine& a : c.padded->origin) renumber_address(a);
    if (c.gather) renumber_address(c.gather->index_offset);
  }
  void renumber_command(GemmCommand& c) {
    for (Affine& a : c.window.origin) renumber_address(a);
    renumber_address(c.window.first);
    renumber_address(c.window.offset);
    renumber_address(c.weights.offset);
    renumber_address(c.weights.first_k);
    renumber_address(c.accumulator_row);
    renumber_loops(c.first_of);
  }
  void renumber_command(DrainCommand& c) {
    renumber_address(c.accumulator_row);
    renumber_loops(c.first_of);
  }
  void renumber_command(PostCommand& c) {
    renumber_address(c.accumulator_row);
    renumber_address(c.parameter_offset);
    renumber_address(c.slot_offset);
    renumber_address(c.group_offset);
  }
  void renumber_command(SetTableCommand& c) { renumber_address(c.parameter_offset); }
  void renumber_command(LaneCommand& c) {
    renumber_address(c.a.offset);
    if (c.b) renumber_address(c.b->offset);
    renumber_address(c.channel_offset);
    renumber_address(c.slot_offset);
  }
  void renumber_command(RowCommand& c) {
    renumber_address(c.in.offset);
    if (c.mask) renumber_address(c.mask->offset);
    renumber_address(c.parameter_offset);
    renumber_address(c.out.offset);
    if (c.logarithm) renumber_address(c.logarithm->offset);
  }
  void renumber_command(VectorCommand&) {}
  void renumber_command(StoreCommand& c) {
    renumber_tensor(c.tensor);
    renumber_address(c.target);
    renumber_address(c.slot_offset);
  }
  void renumber_command(StageCommand& c) {
    renumber_tensor(c.from);
    renumber_tensor(c.to);
    renumber_address(c.source);
    renumber_address(c.target);
  }

  void renumber_address(Affine& a) const {
    for (Affine::Term& t : a.terms) t.loop += loops_;
  }
  void renumber_loops(std::vector<int>& loops) const {
    for (int& id : loops) id += loops_;
  }
  void renumber_tensor(int& index) const { index = tensors_[static_cast<size_t>(index)]; }

  const int loops_;
  const std::span<const int> tensors_;
};

}  // namespace

void append_layer(Program& network, Program layer, std::string name, std::span<const int> tensors) {
  check(tensors.size() == layer.tensors.size(), "a layer has other tensors than it is given");
  Renumber(network.loops, tensors).renumber_body(layer.body);
  network.loops += layer.loops;
  network.body.push_back({LayerHead{std::move(name), layer.dataflow}});
  network.body.insert(network.body.end(), std::move_iterator(layer.body.begin()),
                      std::move_iterator(layer.body.end()));
}

void begin_at(std::span<const int64_t> offsets, std::vector<Item>& body) {
  const auto load = [&](LoadCommand& c) {
    c.source.base += offsets[static_cast<size_t>(c.tensor)];
  };
  const auto store = [&](StoreCommand& c) {
    c.target.base += offsets[static_cast<size_t>(c.tensor)];
  };
  visit_nest(body, Overloaded{load, store});
}

}  // namespace accsim::hw
