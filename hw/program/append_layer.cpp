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

  void body(std::vector<Item>& items) {
    const auto loop = [this](Loop& l, const auto& inner) {
      l.id += loops_;
      inner();
    };
    const auto sync = [this](Sync& s) {
      if (s.region >= 0) tensor(s.region);
    };
    const auto mark = [this](Mark& m) { tensor(m.tensor); };
    const auto command = [this](Command& c) {
      std::visit([this](auto& kind) { this->rename(kind); }, c);
    };
    visit_nest(items, Overloaded{loop, sync, mark, command});
  }

 private:
  void rename(LoadCommand& c) {
    tensor(c.tensor);
    address(c.source);
    address(c.slot_offset);
    if (c.padded)
      for (Affine& a : c.padded->origin) address(a);
    if (c.gather) address(c.gather->index_offset);
  }
  void rename(GemmCommand& c) {
    for (Affine& a : c.window.origin) address(a);
    address(c.window.first);
    address(c.window.offset);
    address(c.weights.offset);
    address(c.weights.first_k);
    address(c.accumulator_row);
    ids(c.first_of);
  }
  void rename(DrainCommand& c) {
    address(c.accumulator_row);
    ids(c.first_of);
  }
  void rename(PostCommand& c) {
    address(c.accumulator_row);
    address(c.parameter_offset);
    address(c.slot_offset);
    address(c.group_offset);
  }
  void rename(SetTableCommand& c) { address(c.parameter_offset); }
  void rename(LaneCommand& c) {
    address(c.a.offset);
    if (c.b) address(c.b->offset);
    address(c.slot_offset);
  }
  void rename(RowCommand& c) {
    address(c.in.offset);
    if (c.mask) address(c.mask->offset);
    address(c.parameter_offset);
    address(c.out.offset);
    if (c.logarithm) address(c.logarithm->offset);
  }
  void rename(VectorCommand&) {}
  void rename(StoreCommand& c) {
    tensor(c.tensor);
    address(c.target);
    address(c.slot_offset);
  }
  void rename(StageCommand& c) {
    tensor(c.from);
    tensor(c.to);
    address(c.source);
    address(c.target);
  }

  void address(Affine& a) const {
    for (Affine::Term& t : a.terms) t.loop += loops_;
  }
  void ids(std::vector<int>& loops) const {
    for (int& id : loops) id += loops_;
  }
  void tensor(int& index) const { index = tensors_[static_cast<size_t>(index)]; }

  const int loops_;
  const std::span<const int> tensors_;
};

}  // namespace

void append_layer(Program& network, Program layer, std::string name, std::span<const int> tensors) {
  check(tensors.size() == layer.tensors.size(), "a layer has other tensors than it is given");
  Renumber(network.loops, tensors).body(layer.body);
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
