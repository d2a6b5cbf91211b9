#pragma once
#include <array>
#include <cstdint>

#include "hw/config/dram_device.h"

namespace accsim::hw {

/// A burst's place. `bank` counts over all groups: group * banks a group + bank in the group.
struct DramPlace {
  int32_t channel = 0, group = 0, bank = 0, column = 0;
  int64_t row = 0;
  friend bool operator==(const DramPlace&, const DramPlace&) = default;
};

/// The parts of a burst's address.
enum class AddressField : uint8_t { channel, bank_group, bank, column, row };
/// Fields from the least significant up; each once.
using AddressOrder = std::array<AddressField, 5>;
/// The order of fields that a machine file's `map` word means.
AddressOrder address_order(DramMap map);

/// Cuts burst numbers (byte address / burst bytes) into fields. Field sizes need not be powers of
/// two; addresses beyond the capacity wrap around.
class AddressMap {
 public:
  AddressMap(const DramDevice& device, int64_t channels, AddressOrder order);

  /// `burst` >= 0.
  DramPlace place_of_burst(int64_t burst) const;
  /// Bursts of all channels together.
  int64_t total_bursts() const { return bursts_; }

 private:
  std::array<uint64_t, 5> sizes_{};  ///< in the order of order_
  std::array<int, 5> shifts_{};      ///< of those that are powers of two; else -1
  AddressOrder order_;
  int64_t banks_ = 1, bursts_ = 1;
};

}  // namespace accsim::hw
