#include "hw/dram/address.h"

#include <bit>

#include "sim/base/check.h"

namespace accsim::hw {

AddressOrder address_order(DramMap map) {
  using enum AddressField;
  if (map == DramMap::bank_group_low) return {channel, bank_group, column, bank, row};
  return {channel, column, bank_group, bank, row};
}

AddressMap::AddressMap(const DramDevice& device, int64_t channels, AddressOrder order)
    : order_(order), banks_(device.banks) {
  check(channels > 0, "a DRAM needs a channel");
  const std::array<int64_t, 5> size = {channels, device.bank_groups, device.banks, device.columns(),
                                       device.rows};
  unsigned seen = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    seen |= 1U << static_cast<unsigned>(order[i]);
    sizes_[i] = static_cast<uint64_t>(size[static_cast<size_t>(order[i])]);
    shifts_[i] = std::has_single_bit(sizes_[i]) ? std::countr_zero(sizes_[i]) : -1;
    bursts_ *= size[static_cast<size_t>(order[i])];
  }
  check(seen == 31, "an address order names each field once");
}

DramPlace AddressMap::place_of_burst(int64_t burst) const {
  std::array<int64_t, 5> value;
  auto rest = static_cast<uint64_t>(burst < bursts_ ? burst : burst % bursts_);
  for (size_t i = 0; i < order_.size(); ++i) {
    // Every shipped size but the channels' is a power of two, for which this is a shift and a mask.
    const bool power = shifts_[i] >= 0;
    value[static_cast<size_t>(order_[i])] =
        static_cast<int64_t>(power ? rest & (sizes_[i] - 1) : rest % sizes_[i]);
    rest = power ? rest >> shifts_[i] : rest / sizes_[i];
  }
  const auto field = [&](AddressField f) { return value[static_cast<size_t>(f)]; };
  DramPlace out;
  out.channel = static_cast<int32_t>(field(AddressField::channel));
  out.group = static_cast<int32_t>(field(AddressField::bank_group));
  out.bank =
      static_cast<int32_t>(field(AddressField::bank_group) * banks_ + field(AddressField::bank));
  out.column = static_cast<int32_t>(field(AddressField::column));
  out.row = field(AddressField::row);
  return out;
}

}  // namespace accsim::hw
