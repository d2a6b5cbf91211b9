#include "hw/config/buffer_memory.h"

#include <algorithm>

namespace accsim::hw {
namespace {

/// Bytes of a row of sums.
int64_t sum_row(const HwConfig& hw) { return hw.array.cols * hw.accumulator_bytes(); }

/// Bytes of the widest port of a slot.
int64_t widest_port(const HwConfig& hw, Buffer b) {
  const int64_t port = hw.buffer(b).width;
  // A dot product reads entries of both operands, each as many bytes as it has channels.
  const int64_t weights = hw.has_dot_products() ? hw.array.rows : hw.array.cols;
  switch (b) {
    case Buffer::activation:
      return std::max(port, hw.array.rows * hw.activation_bytes());
    case Buffer::weight:
      return std::max(port, weights * hw.weight_bytes());
    case Buffer::accumulator:
      return sum_row(hw);
    case Buffer::parameter:
    case Buffer::output:
      break;
  }
  return port;
}

}  // namespace

int64_t buffer_bytes(const HwConfig& hw, Buffer b) {
  const BufferConfig& buffer = hw.buffer(b);
  if (b == Buffer::accumulator && hw.has_dot_products())
    return buffer.slots * hw.array.engine.places * sum_row(hw);
  return buffer.kib * 1024;
}

int64_t buffer_copies(const HwConfig& hw, Buffer b) {
  return b == Buffer::weight ? hw.array.fill_rows : 1;
}

MemoryShape slot_memory(const HwConfig& hw, Buffer b) {
  return {buffer_bytes(hw, b) / hw.buffer(b).slots, static_cast<double>(widest_port(hw, b))};
}

MemoryShape shared_memory(const HwConfig& hw) {
  const ChannelConfig& c = hw.shared.channel;
  return {hw.shared.kib * 1024, std::max({c.read.value(), c.write.value(), 8.0})};
}

}  // namespace accsim::hw
