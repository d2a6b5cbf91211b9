#include <fmt/format.h>

#include "hw/program/verifier.h"

namespace accsim::hw {

/// Notes which tensors have bytes in common, and which have theirs from the start.
void Verifier::check_places() {
  const std::vector<ProgramTensor>& all = program_.tensors;
  for (size_t i = 0; i < all.size(); ++i) {
    uses_[i].used = all[i].given;
    for (size_t k = 0; k < i; ++k) {
      const ProgramTensor &a = all[i], &b = all[k];
      if (!a.is_placed() || !b.is_placed()) continue;
      if (a.address >= add_far(b.address, b.bytes) || b.address >= add_far(a.address, a.bytes))
        continue;
      if (a.given && b.given)
        fail(fmt::format("'{}' and '{}' are given and have bytes in common", b.name, a.name));
      uses_[i].neighbours.push_back(static_cast<int>(k));
      uses_[k].neighbours.push_back(static_cast<int>(i));
    }
  }
}

/// A tensor is written first into bytes that another one had; that one isn't used any more, and
/// what queues have done with it is over.
void Verifier::takes_bytes(int index, const ProgramTensor& t, Queue q, bool writes) {
  TensorUses& uses = uses_[static_cast<size_t>(index)];
  if (uses.gone >= 0)
    return fail(fmt::format("'{}' is {} when '{}' has its bytes", t.name,
                            writes ? "written" : "read", region_name(uses.gone)));
  if (!uses.used && !writes)
    return fail(fmt::format("'{}', which has an address, is read before it is written", t.name));
  uses.used = true;
  for (const int neighbour : uses.neighbours) {
    TensorUses& other = uses_[static_cast<size_t>(neighbour)];
    if (!other.used) continue;
    other.gone = index;
    if (!writes) continue;
    check_conflicts(neighbour, q, true, true, kAllBytes);
    check_conflicts(neighbour, q, false, true, kAllBytes);
  }
}

}  // namespace accsim::hw
