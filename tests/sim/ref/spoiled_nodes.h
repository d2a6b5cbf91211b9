#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "tests/sim/ref/node_case.h"

namespace accsim::sim::ref {

/// Changed copies of a node.
class Variants {
 public:
  explicit Variants(const NodeCase& good) : good_(good) {}

  const NodeCase& good() const { return good_; }

  template <class Change>
  void add(Change change) {
    NodeCase c = good_;
    change(c);
    // A constant is a scalar or a vector, and has elements.
    for (NodeInput& input : c.inputs)
      if (!input.values.empty() && (input.dims.size() > 1 || elements(input.dims) == 0))
        input.values.clear();
    all_.push_back(std::move(c));
  }

  std::vector<NodeCase> take() { return std::move(all_); }

 private:
  const NodeCase& good_;
  std::vector<NodeCase> all_;
};

/// The node with other outputs: none, unnamed ones, one alone, more than it has.
inline void spoil_outputs(Variants& of) {
  of.add([](NodeCase& c) { c.outputs.clear(); });
  of.add([](NodeCase& c) { c.outputs.assign(c.outputs.size(), false); });
  for (size_t o = 0; o < 5; ++o) {
    of.add([&](NodeCase& c) { c.outputs.resize(o + 1, true); });
    of.add([&](NodeCase& c) {
      c.outputs.resize(std::max(o + 1, c.outputs.size()), true);
      c.outputs[o] = false;
    });
    of.add([&](NodeCase& c) {  // this one alone
      c.outputs.assign(o + 1, false);
      c.outputs[o] = true;
    });
  }
}

/// The node with inputs that are absent, empty, scalars or of other sizes.
inline void spoil_inputs(Variants& of) {
  of.add([](NodeCase& c) {
    for (NodeInput& i : c.inputs) i.dims.assign(i.dims.size(), 0);
    for (NodeInput& i : c.inputs) i.values.clear();
  });
  for (size_t i = 0; i < of.good().inputs.size(); ++i) {
    of.add([&](NodeCase& c) { c.inputs[i].present = false; });
    of.add([&](NodeCase& c) { c.inputs.resize(i); });
    of.add([&](NodeCase& c) { c.inputs[i].dims.clear(); });
    of.add([&](NodeCase& c) { c.inputs[i].dims = {0}; });
    of.add([&](NodeCase& c) { c.inputs[i].values.clear(); });
    for (size_t d = 0; d < of.good().inputs[i].dims.size(); ++d) {
      const int64_t size = of.good().inputs[i].dims[d];
      of.add([&](NodeCase& c) { c.inputs[i].dims[d] = 0; });
      of.add([&](NodeCase& c) { c.inputs[i].dims[d] = 1; });
      // Dims of this size often mean the same thing in all inputs.
      of.add([&](NodeCase& c) {
        for (NodeInput& other : c.inputs)
          for (int64_t& dim : other.dims)
            if (dim == size) dim = 0;
      });
      of.add([&](NodeCase& c) {  // the place of the dim
        for (NodeInput& other : c.inputs)
          if (d < other.dims.size()) other.dims[d] = 0;
      });
    }
  }
}

/// The node with numbers that point outside, or that no arithmetic is done with.
inline void spoil_numbers(Variants& of) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < of.good().inputs.size(); ++i) {
    if (of.good().inputs[i].values.empty()) {
      for (const double v : {-1.0, 1e3, -1e18, kInfinity, -kInfinity, kInfinity - kInfinity})
        of.add([&](NodeCase& c) { c.inputs[i].data = {v}; });
    } else {
      for (const int64_t v : {-1, 0, 1, 9})
        of.add([&](NodeCase& c) { std::ranges::fill(c.inputs[i].values, v); });
    }
  }
}

/// The node with attributes that are gone, 0 or negative.
inline void spoil_attributes(Variants& of) {
  for (size_t a = 0; a < of.good().attributes.size(); ++a) {
    of.add(
        [&](NodeCase& c) { c.attributes.erase(c.attributes.begin() + static_cast<int64_t>(a)); });
    for (const int64_t v : {-1, 0, 7})
      of.add([&](NodeCase& c) {
        auto& value = c.attributes[a].value;
        if (auto* list = std::get_if<std::vector<int64_t>>(&value))
          std::ranges::fill(*list, v);
        else if (std::holds_alternative<int64_t>(value))
          value = v;
        else
          value = static_cast<double>(v);
      });
    of.add([&](NodeCase& c) { c.attributes[a].value = std::vector<int64_t>{}; });
  }
}

/// Variants of a node that runs, most of which nobody would write.
inline std::vector<NodeCase> spoiled(const NodeCase& good) {
  Variants of(good);
  spoil_outputs(of);
  spoil_inputs(of);
  spoil_numbers(of);
  spoil_attributes(of);
  return of.take();
}

}  // namespace accsim::sim::ref
