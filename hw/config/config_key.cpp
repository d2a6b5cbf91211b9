#include "hw/config/config_key.h"

#include "hw/config/engine_lists.h"
#include "sim/base/key_bytes.h"

namespace accsim::hw {

std::string config_key(const HwConfig& hw, Decides what) {
  KeyBytes key;
  // Also fields that a machine of this kind doesn't have: what follows from others (the peak rates
  // of a banked DRAM) lies in them.
  for (const Field& field : fields()) {
    if ((field.decides & what) == 0) continue;
    if (field.decides_if && !field.decides_if->holds(hw)) continue;
    std::visit(FieldCases{
                   [&](const Member<ByteRate>& m) { key.add(m.in(hw).milli); },
                   [&](const Member<std::vector<TypeMode>>& m) {
                     key.add(m.in(hw).size());
                     for (const auto& [activation, weight, rate, mac, group] : m.in(hw))
                       key.add(activation, weight, rate, mac.value, group);
                   },
                   [&]<EngineEntry T>(const Member<std::vector<T>>&) {
                     key.add(print_engine_list(field, hw));
                   },
                   // Given or not, it is the same energy.
                   [&](const Member<DerivableNumber>& m) { key.add(m.in(hw).value); },
                   [&](const auto& m) { key.add(m.in(hw)); },
               },
               field.target);
  }
  return key.take_bytes();
}

}  // namespace accsim::hw
