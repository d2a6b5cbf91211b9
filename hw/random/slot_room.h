#pragma once
#include <cstdint>

namespace accsim::hw {

/// Bytes of an activation, an output and a parameter slot: what there is, or what commands take.
struct SlotRoom {
  int64_t in = 0, out = 0, parameters = 0;

  SlotRoom& operator+=(const SlotRoom& o) {
    in += o.in;
    out += o.out;
    parameters += o.parameters;
    return *this;
  }
  friend SlotRoom operator-(const SlotRoom& a, const SlotRoom& b) {
    return {a.in - b.in, a.out - b.out, a.parameters - b.parameters};
  }
};

}  // namespace accsim::hw
