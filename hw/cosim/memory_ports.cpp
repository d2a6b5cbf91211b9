#include "hw/cosim/memory_ports.h"

#include <fmt/format.h>

#include <cstring>

namespace accsim::hw {
namespace {

/// The core's ports to each memory.
constexpr PerMemory<size_t> kPort = {0, 1};

MemoryId memory_of(const rtl::Request& r) { return r.shared ? MemoryId::shared : MemoryId::dram; }

}  // namespace

MemoryPorts::MemoryPorts(const Program& program, const HwConfig& hw, MemoryImage& image)
    : hw_(hw),
      memory_(program, image),
      reads_{PacedChannel(hw.dram.read), PacedChannel(hw.shared.channel.read)},
      writes_{PacedChannel(hw.dram.write), PacedChannel(hw.shared.channel.write)},
      returns_{ReturnPath(hw.dram.latency), ReturnPath(hw.shared.channel.latency)} {}

/// A request that wasn't taken must stay as it is.
template <class T>
void MemoryPorts::check_stable(const T& now, bool taken, T& untaken, std::string_view what,
                               int64_t cycle) {
  if (untaken.valid && !(now == untaken) && changed_.empty())
    changed_ = fmt::format("the core changes {} in cycle {}", what, cycle);
  untaken = taken ? T{} : now;
}

std::string_view MemoryPorts::take_write(rtl::Cycle& io, int64_t cycle) {
  const rtl::Request& w = io.write;
  io.write_ready = w.valid && writes_[memory_of(w)].try_take(w, cycle);
  check_stable(w, io.write_ready, untaken_write_, "a request", cycle);
  if (!io.write_ready) return {};
  stored_to_ = memory_of(w);
  if (!memory_.bytes_at(w.address, w.bytes)) return "writes outside its tensors";
  stored_[stored_to_].push({cycle + latency(stored_to_),
                            w.address,
                            {io.write_data.begin(), io.write_data.begin() + w.bytes},
                            w.last,
                            w.tag[0]});
  return {};
}

std::string_view MemoryPorts::take_copy(rtl::Cycle& io, int64_t cycle) {
  const rtl::Copy& c = io.copy;
  const rtl::Request beat{c.valid, c.to_dram, c.last, c.bytes, c.source, {c.tag}};
  PacedChannel& channel = (c.to_dram ? writes_ : reads_)[MemoryId::dram];
  io.copy_ready = c.valid && channel.try_take(beat, cycle);
  check_stable(c, io.copy_ready, untaken_copy_, "a request for a copy", cycle);
  if (!io.copy_ready) return {};
  const uint8_t* from = memory_.bytes_at(c.source, c.bytes);
  if (!from || !memory_.bytes_at(c.target, c.bytes)) return "copies outside its tensors";
  copied_.push({cycle + 1 + copy_latency(), c.target, {from, from + c.bytes}, c.last, c.tag});
  return {};
}

std::string_view MemoryPorts::take_read(rtl::Cycle& io, int64_t cycle) {
  const rtl::Request& r = io.read;
  io.read_ready = r.valid && reads_[memory_of(r)].try_take(r, cycle);
  check_stable(r, io.read_ready, untaken_read_, "a request", cycle);
  if (!io.read_ready) return {};
  const uint8_t* from = memory_.bytes_at(r.address, r.bytes);
  if (!from) return "reads outside its tensors";
  returns_[memory_of(r)].push({from, r.bytes}, r.tag, cycle);
  return {};
}

void MemoryPorts::deliver_writes(rtl::Cycle& io, int64_t cycle) {
  const auto put = [&](const WritePath::Beat& b) {
    std::memcpy(memory_.bytes_at(b.address, static_cast<uint32_t>(b.data.size())), b.data.data(),
                b.data.size());
  };
  io.write_done = {};
  io.copy_done = false;
  for (const MemoryId m : MemoryId::all())
    while (const auto beat = stored_[m].take_arrived(cycle)) {
      put(*beat);
      io.write_done[kPort[m]] = beat->last;
      io.write_done_tag[kPort[m]] = beat->tag;
    }
  while (const auto beat = copied_.take_arrived(cycle)) {
    put(*beat);
    io.copy_done = beat->last;
    io.copy_done_tag = beat->tag;
  }
}

void MemoryPorts::return_data(rtl::Cycle& io, int64_t cycle) {
  for (const MemoryId m : MemoryId::all()) {
    const ReturnPath::Beat* beat = returns_[m].arrived_beat(cycle);
    io.data_valid[kPort[m]] = beat != nullptr;
    if (!beat) continue;
    std::memcpy(io.data[kPort[m]].data(), beat->data.data(), beat->data.size());
    io.data_tag[kPort[m]] = beat->tag;
    returns_[m].pop();
  }
}

}  // namespace accsim::hw
