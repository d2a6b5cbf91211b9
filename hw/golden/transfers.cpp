#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/golden/machine.h"

namespace accsim::hw {
namespace {

/// Calls visit(address) for every run of a walk, in order, until it returns false.
template <class Visit>
void for_runs(const Walk& walk, int64_t first, Visit visit) {
  std::vector<int64_t> at(walk.levels.size(), 0);
  for (int64_t run = 0, runs = walk.run_count(); run < runs; ++run) {
    int64_t address = first;
    for (size_t i = 0; i < at.size(); ++i) address += at[i] * walk.levels[i].stride;
    if (!visit(address)) return;
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < walk.levels[i].count) break;
      at[i] = 0;
    }
  }
}

/// Does the `ordinal`-th tap of a padded window lie in the tensor? `origin` are the values of its
/// origins.
bool in_tensor(const PaddedWindow& w, const std::array<int64_t, 3>& origin, int64_t ordinal) {
  std::array<int64_t, 3> coordinate = origin;
  for (size_t d = 3; d-- > 0;) {
    coordinate[d] += ordinal % w.kernel[d] * w.dilation[d];
    ordinal /= w.kernel[d];
  }
  for (size_t d = 3; d-- > 0;) {
    coordinate[d] += ordinal % w.count[d] * w.stride[d];
    ordinal /= w.count[d];
  }
  for (size_t d = 0; d < 3; ++d)
    if (coordinate[d] < 0 || coordinate[d] >= w.extent[d]) return false;
  return true;
}

bool well_formed(const PaddedWindow& w, const Walk& walk) {
  const auto positive = [](int64_t v) { return v > 0; };
  return w.tap > 0 && w.images > 0 && std::all_of(w.count.begin(), w.count.end(), positive) &&
         std::all_of(w.kernel.begin(), w.kernel.end(), positive) && walk.run % w.tap == 0 &&
         w.bytes() == walk.bytes();
}

}  // namespace

/// Matrix by matrix: element j of row i is element i of row j.
void GoldenMachine::load_transposed(const LoadCommand& c) {
  const std::span<const uint8_t> from = reachable_bytes(c.tensor, false);
  const int64_t offset = affine_value(c.slot_offset), source = affine_value(c.source),
                element = c.transposed;
  if (has_failed()) return;
  if (c.padded || c.walk.levels.empty() || element < 0 || c.walk.run % element != 0)
    return fail(Errc::invalid, fmt::format("a transposed load of {}-byte elements in runs of {}",
                                           element, c.walk.run));
  SlotRing& to = slot_ring(c.buffer);
  if (!check_inside(offset, bytes_of(c.walk), to.slot_bytes(), "load into the slot")) return;
  const std::span<uint8_t> slot = to.slot_to_fill(poison_, offset + bytes_of(c.walk));
  const int64_t rows = c.walk.levels.back().count, cols = c.walk.run / element;
  int64_t run = 0;
  for_runs(c.walk, source, [&](int64_t address) {
    if (!check_inside(address, c.walk.run, std::ssize(from), "load from memory")) return false;
    const int64_t matrix = run / rows, row = run % rows;
    for (int64_t col = 0; col < cols; ++col)
      std::memcpy(slot.data() + offset + ((matrix * cols + col) * rows + row) * element,
                  from.data() + address + col * element, static_cast<size_t>(element));
    ++run;
    return true;
  });
  retired_.address = offset;
  retired_.slot = to.producer_slot();
  if (records_) retired_.bytes.assign(slot.data() + offset, slot.data() + offset + c.walk.bytes());
}

/// Item by item: what an index says is where the walk of one item begins.
void GoldenMachine::load_gathered(const LoadCommand& c) {
  const Gather& g = *c.gather;
  const std::span<const uint8_t> from = reachable_bytes(c.tensor, false);
  const int64_t offset = affine_value(c.slot_offset), source = affine_value(c.source);
  const int64_t first = affine_value(g.index_offset);
  if (has_failed()) return;
  if (c.padded || c.transposed != 0 || c.walk.levels.empty() || c.walk.levels[0].stride != 0 ||
      g.limit < 1)
    return fail(Errc::invalid, "a gathered load that is padded, transposed or without items");
  const int64_t items = c.walk.levels[0].count;
  Walk item = c.walk;
  item.levels.clear();
  for (size_t l = 1; l < c.walk.levels.size(); ++l) item.levels.push_back(c.walk.levels[l]);
  SlotRing& to = slot_ring(c.buffer);
  SlotRing& indices = slot_ring(Buffer::parameter);
  if (!check_inside(offset, bytes_of(c.walk), to.slot_bytes(), "load into the slot")) return;
  if (!check_inside(first, items * Gather::kIndexBytes, indices.slot_bytes(), "indices")) return;
  const std::span<const uint8_t> list = indices.slot_to_read(poison_);
  const std::span<uint8_t> slot = to.slot_to_fill(poison_, offset + bytes_of(c.walk));
  int64_t at = offset;
  for (int64_t i = 0; i < items && !has_failed(); ++i) {
    int64_t row = 0;
    for (int64_t b = Gather::kIndexBytes; b-- > 0;)
      row = row << 8 | list[index(first + i * Gather::kIndexBytes + b)];
    for_runs(item, source + std::min(row, g.limit - 1) * g.pitch, [&](int64_t address) {
      if (!check_inside(address, item.run, std::ssize(from), "load from memory")) return false;
      std::memcpy(slot.data() + at, from.data() + address, static_cast<size_t>(item.run));
      at += item.run;
      return true;
    });
  }
  retired_.address = offset;
  retired_.slot = to.producer_slot();
  if (records_) retired_.bytes.assign(slot.data() + offset, slot.data() + at);
}

void GoldenMachine::execute(const LoadCommand& c) {
  if (c.gather) return load_gathered(c);
  if (c.transposed != 0) return load_transposed(c);
  const std::span<const uint8_t> from = reachable_bytes(c.tensor, false);
  const int64_t offset = affine_value(c.slot_offset), source = affine_value(c.source);
  std::array<int64_t, 3> origin{};
  int64_t piece = c.walk.run;
  if (c.padded) {
    if (!well_formed(*c.padded, c.walk))
      return fail(Errc::invalid, "a padded window that doesn't go with its walk");
    for (size_t d = 0; d < 3; ++d) origin[d] = affine_value(c.padded->origin[d]);
    piece = c.padded->tap;
  }
  SlotRing& to = slot_ring(c.buffer);
  if (has_failed() ||
      !check_inside(offset, bytes_of(c.walk), to.slot_bytes(), "load into the slot"))
    return;
  const std::span<uint8_t> slot = to.slot_to_fill(poison_, offset + bytes_of(c.walk));
  int64_t at = offset, ordinal = 0;
  for_runs(c.walk, source, [&](int64_t address) {
    for (int64_t i = 0; i < c.walk.run; i += piece, at += piece, ++ordinal) {
      uint8_t* target = slot.data() + at;
      if (c.padded && !in_tensor(*c.padded, origin, ordinal)) {
        std::fill_n(target, piece, static_cast<uint8_t>(c.padded->pad_value));
        continue;
      }
      if (!check_inside(address + i, piece, std::ssize(from), "load from memory")) return false;
      std::memcpy(target, from.data() + address + i, static_cast<size_t>(piece));
    }
    return true;
  });
  retired_.address = offset;
  retired_.slot = to.producer_slot();
  if (records_) retired_.bytes.assign(slot.data() + offset, slot.data() + at);
}

void GoldenMachine::execute(const StoreCommand& c) {
  const std::span<uint8_t> to = reachable_bytes(c.tensor, true);
  const int64_t offset = affine_value(c.slot_offset), target = affine_value(c.target);
  SlotRing& from = slot_ring(Buffer::output);
  if (has_failed() ||
      !check_inside(offset, bytes_of(c.walk), from.slot_bytes(), "store from the slot"))
    return;
  const std::span<const uint8_t> slot = from.slot_to_read(poison_);
  int64_t at = offset;
  for_runs(c.walk, target, [&](int64_t address) {
    if (!check_inside(address, c.walk.run, std::ssize(to), "store to memory")) return false;
    std::memcpy(to.data() + address, slot.data() + at, static_cast<size_t>(c.walk.run));
    at += c.walk.run;
    return true;
  });
  retired_.address = target;
  retired_.slot = from.consumer_slot();
  if (records_) retired_.bytes.assign(slot.data() + offset, slot.data() + at);
}

/// The bytes in the shared buffer are dense, those in DRAM in runs.
void GoldenMachine::execute(const StageCommand& c) {
  const std::span<const uint8_t> from = reachable_bytes(c.from, false);
  const std::span<uint8_t> to = reachable_bytes(c.to, true);
  const int64_t source = affine_value(c.source), target = affine_value(c.target);
  if (has_failed()) return;
  const bool in = program_.tensors[index(c.from)].memory == MemoryId::dram;
  int64_t at = in ? target : source;
  for_runs(c.walk, in ? source : target, [&](int64_t address) {
    const int64_t read = in ? address : at, written = in ? at : address;
    if (!check_inside(read, c.walk.run, std::ssize(from), "stage from memory") ||
        !check_inside(written, c.walk.run, std::ssize(to), "stage to memory"))
      return false;
    std::memmove(to.data() + written, from.data() + read, index(c.walk.run));
    if (records_)
      retired_.bytes.insert(retired_.bytes.end(), from.data() + read,
                            from.data() + read + c.walk.run);
    at += c.walk.run;
    return true;
  });
  retired_.address = target;
}

}  // namespace accsim::hw
