#include <fmt/format.h>

#include <algorithm>

#include "hw/program/verifier.h"

namespace accsim::hw {
namespace {

/// What strides, pitches and coordinates of a padded window reach, at most.
constexpr int64_t kFar = int64_t{1} << 40;

/// sum += a * factor; false when it leaves 64 bits.
bool add_product(Affine& sum, const Affine& a, int64_t factor) {
  Affine product = a;
  bool beyond = __builtin_mul_overflow(a.base, factor, &product.base);
  for (Affine::Term& t : product.terms)
    beyond = __builtin_mul_overflow(t.coeff, factor, &t.coeff) || beyond;
  beyond = __builtin_add_overflow(sum.base, product.base, &sum.base) || beyond;
  for (const Affine::Term& t : product.terms) {
    Affine::Term* same = nullptr;
    for (Affine::Term& mine : sum.terms)
      if (mine.loop == t.loop) same = &mine;
    if (same)
      beyond = __builtin_add_overflow(same->coeff, t.coeff, &same->coeff) || beyond;
    else
      sum.terms.push_back(t);
  }
  return !beyond;
}

/// The walk over the positions and taps of a padded window.
Walk walk_of(const PaddedWindow& w) {
  Walk out;
  out.run = w.tap;
  out.levels.push_back({w.images, w.image_pitch});
  for (size_t d = 0; d < 3; ++d)
    out.levels.push_back({w.count[d], multiply_far(w.stride[d], w.pitch[d])});
  for (size_t d = 0; d < 3; ++d)
    out.levels.push_back({w.kernel[d], multiply_far(w.dilation[d], w.pitch[d])});
  return out;
}

bool is_near(const Reach& r) { return r.low >= -kFar && r.high <= kFar; }

}  // namespace

const ProgramTensor* Verifier::find_tensor(int index) {
  if (index < 0 || static_cast<size_t>(index) >= program_.tensors.size()) {
    fail(fmt::format("tensor {} of {}", index, program_.tensors.size()));
    return nullptr;
  }
  return &program_.tensors[static_cast<size_t>(index)];
}

/// What other queues have done with bytes of a plain tensor is over where a mark says so. A queue's
/// own writes come in order, and behind its reads; only a stage reads what its queue wrote.
void Verifier::check_order(int index, const ProgramTensor& t, Queue q, bool writes,
                           const Bytes& bytes) {
  if (t.is_placed()) takes_bytes(index, t, q, writes);
  check_conflicts(index, q, true, writes, bytes);
  if (writes) check_conflicts(index, q, false, writes, bytes);
  std::vector<Use>& uses = uses_[static_cast<size_t>(index)].uses;
  // Of many blocks of a layer that don't touch each other, all that lies between them counts.
  constexpr int kMostBlocks = 64;
  int blocks = 0;
  const auto same = std::ranges::find_if(uses, [&](const Use& u) {
    if (u.queue != q || u.writes != writes || u.layer != layer_) return false;
    return ++blocks == kMostBlocks || u.bytes.is_contiguous_with(bytes);
  });
  if (same == uses.end()) return uses.push_back({q, writes, layer_, at_, bytes});
  same->at = at_;
  same->bytes.merge_with(bytes);
}

/// What queues have read or written of a tensor's bytes, and a queue reads or writes now.
void Verifier::check_conflicts(int index, Queue q, bool written, bool writes, const Bytes& bytes) {
  const TensorUses& tensor = uses_[static_cast<size_t>(index)];
  for (const Use& u : tensor.uses) {
    const bool in_order = u.queue == q && (writes || !written);
    if (u.writes != written || in_order || u.at <= tensor.seen[q][u.queue]) continue;
    if (!u.bytes.has_overlap_with(bytes)) continue;
    fail(
        fmt::format("'{}' is {} by the {} queue, then {} by the {} queue, and neither tokens of "
                    "a region nor marks order the two",
                    region_name(index), written ? "written" : "read", name(u.queue),
                    writes ? "written" : "read", name(q)));
  }
}

/// The bytes that a walk from an address goes over, whatever the loops' indices.
Verifier::Bytes Verifier::bytes_from(const Affine& at, const Walk& walk, int64_t pitch) const {
  if (!std::ranges::all_of(at.terms, [&](const auto& t) { return is_around(t.loop); }))
    return kAllBytes;
  const Range r = range_of(at);
  const Reach of = reach_over(walk);
  Bytes out{add_far(r.low, of.low), add_far(add_far(r.high, of.high), walk.run), 0, kEnd};
  if (pitch > 0 && out.first >= 0 && out.end <= kFar) bytes_of_rows(at, walk, pitch, out);
  return out;
}

/// Of rows, where all steps lead from one to another or stay in one.
void Verifier::bytes_of_rows(const Affine& at, const Walk& walk, int64_t pitch,
                             Bytes& bytes) const {
  int64_t low = at.base, high = at.base % pitch + walk.run;
  const auto step = [&](int64_t count, int64_t stride) {
    if (count < 2 || stride % pitch == 0) return true;
    high = add_far(high, multiply_far(count - 1, stride));
    return stride > 0;
  };
  bool inside = low >= 0;
  low %= pitch;
  for (const Affine::Term& t : at.terms)
    inside = inside && step(counts_[static_cast<size_t>(t.loop)], t.coeff);
  for (const Walk::Level& l : walk.levels) inside = inside && step(l.count, l.stride);
  if (!inside || high > pitch) return;
  bytes.low = low;
  bytes.high = high;
}

/// Bytes that a command of a queue can reach in a tensor: of a region, those of the slot that it
/// fills or reads. `touched`: of another tensor, those that it does reach.
int64_t Verifier::reachable_bytes(int index, const ProgramTensor& t, Queue q, bool fills,
                                  const Bytes& touched) {
  if (t.slots == 0) {
    check_order(index, t, q, fills, touched);
    return t.bytes;
  }
  const size_t p = place_of_region(index);
  if ((fills ? filling_ : held_)[p] != 1 || (fills ? filler_ : holder_)[p] != q)
    fail(fmt::format("{} {} region '{}' without a {} slot", name(q), fills ? "writes" : "reads",
                     t.name, fills ? "free" : "full"));
  return t.slot_bytes();
}

void Verifier::check_fields(const LoadCommand& c) {
  check_filling(c.buffer, Queue::load, "load");
  if (bytes_of(c.walk) == 0) return fail("load of nothing");
  check_within(c.slot_offset, bytes_of(c.walk), bytes_of_slot(c.buffer),
               fmt::format("load into {}", name(c.buffer)));
  const ProgramTensor* t = find_tensor(c.tensor);
  if (!t) return;
  if (c.transposed != 0) check_transposed(c);
  note_uses(Queue::load, {c.tensor});
  const Bytes touched = c.gather || c.padded ? kAllBytes : bytes_from(c.source, c.walk, t->pitch);
  const int64_t bytes = reachable_bytes(c.tensor, *t, Queue::load, false, touched);
  if (!errors_.empty()) return;
  if (c.gather) return check_gathered(c, *c.gather, *t, bytes);
  if (c.padded && t->slots > 0) return fail("padded load from region '" + t->name + "'");
  if (c.padded) return check_padded(c, *c.padded, *t);
  check_within(c.source, reach_over(c.walk), c.walk.run, bytes, "load from '" + t->name + "'");
}

void Verifier::check_transposed(const LoadCommand& c) {
  if (c.transposed < 0 || c.padded || c.walk.levels.empty() || c.walk.run % c.transposed != 0)
    return fail(fmt::format("transposed load of {}-byte elements in runs of {} bytes", c.transposed,
                            c.walk.run));
  if (c.buffer == Buffer::accumulator || c.buffer == Buffer::parameter)
    return fail(fmt::format("transposed load into {}", name(c.buffer)));
  const int64_t width = hw_.buffer(c.buffer).width;
  if (c.transposed > width)
    fail(fmt::format("transposed load of {}-byte elements through a port of {} bytes", c.transposed,
                     width));
}

/// `bytes`: that it can reach in the tensor.
void Verifier::check_gathered(const LoadCommand& c, const Gather& g, const ProgramTensor& t,
                              int64_t bytes) {
  check_held(Buffer::parameter, Queue::load, "gathered load");
  if (c.padded || c.transposed != 0) return fail("a gathered load that is padded or transposed");
  if (c.walk.levels.empty() || c.walk.levels[0].stride != 0)
    return fail("a gathered load's outermost level has no stride: indices say where items lie");
  constexpr int64_t kWord = int64_t{1} << 32;
  check_between(g.limit, 1, kWord, "limit of the indices");
  check_between(g.pitch, 0, kWord - 1, "pitch of the rows that indices name");
  if (!errors_.empty()) return;
  check_within(g.index_offset, c.walk.levels[0].count * Gather::kIndexBytes,
               bytes_of_slot(Buffer::parameter), "indices");
  if (g.pitch > 0 && g.limit - 1 > bytes / g.pitch)
    return fail(fmt::format("gathered load of row {}, {} bytes apart, from '{}' of {} bytes",
                            g.limit - 1, g.pitch, t.name, bytes));
  check_within(c.source, reach_over(c.walk).add_index(g.limit, g.pitch), c.walk.run, bytes,
               "gathered load from '" + t.name + "'");
}

/// The positions of a padded window that aren't padding lie in the tensor.
void Verifier::check_padded(const LoadCommand& c, const PaddedWindow& w, const ProgramTensor& t) {
  padded_walk(c, w);
  if (!errors_.empty()) return;
  Affine corner = c.source;  // the tensor's pixel (0, 0, 0)
  Reach pixels = Reach{}.add_index(w.images, w.image_pitch);
  for (size_t d = 0; d < 3; ++d) {
    check_between(w.origin[d], -kFar, kFar, "padded window's origin");
    if (!is_near(Reach{}.add_index(w.count[d], w.stride[d]).add_index(w.kernel[d], w.dilation[d])))
      fail(fmt::format("padded window of {} positions {} apart, {} taps {} apart", w.count[d],
                       w.stride[d], w.kernel[d], w.dilation[d]));
    if (!errors_.empty()) return;
    if (!add_product(corner, w.origin[d], -w.pitch[d]))
      return fail(fmt::format("padded window {} bytes apart", w.pitch[d]));
    pixels.add_index(w.extent[d], w.pitch[d]);
  }
  check_between(c.source, -kFar, t.bytes, "padded load's source");
  check_within(corner, pixels, w.tap, t.bytes, "padded load from '" + t.name + "'");
}

/// The load's walk is that over the window.
void Verifier::padded_walk(const LoadCommand& c, const PaddedWindow& w) {
  check_limit(w.images, kFar, "images of a padded window");
  check_between(w.image_pitch, 0, kFar, "pitch of a padded window's images");
  check_between(w.pad_value, INT8_MIN, INT8_MAX, "padding");
  for (size_t d = 0; d < 3; ++d) {
    for (const int64_t n : {w.extent[d], w.count[d], w.kernel[d]})
      check_limit(n, kFar, "a size of a padded window");
    for (const int64_t n : {w.stride[d], w.dilation[d], w.pitch[d]})
      check_between(n, 0, kFar, "a step of a padded window");
  }
  if (!errors_.empty()) return;
  Walk window = walk_of(w), walk = c.walk;
  if (bytes_of(window) != bytes_of(walk))
    return fail(fmt::format("a padded window of {} bytes on a walk of {}", bytes_of(window),
                            bytes_of(walk)));
  if (!is_near(reach_over(window)) || !is_near(reach_over(walk)) || walk.run % w.tap != 0 ||
      !(window.merge() == walk.merge()))
    fail("a padded window on a walk that goes elsewhere");
}

void Verifier::check_fields(const StoreCommand& c) {
  check_held(Buffer::output, Queue::store, "store");
  if (bytes_of(c.walk) == 0) return fail("store of nothing");
  check_within(c.slot_offset, bytes_of(c.walk), bytes_of_slot(Buffer::output), "store from output");
  const ProgramTensor* t = find_tensor(c.tensor);
  if (!t) return;
  note_uses(Queue::store, {c.tensor});
  const Bytes touched = bytes_from(c.target, c.walk, t->pitch);
  check_within(c.target, reach_over(c.walk), c.walk.run,
               reachable_bytes(c.tensor, *t, Queue::store, true, touched),
               "store to '" + t->name + "'");
}

void Verifier::check_fields(const StageCommand& c) {
  if (bytes_of(c.walk) == 0) return fail("stage of nothing");
  const ProgramTensor *from = find_tensor(c.from), *to = find_tensor(c.to);
  if (!from || !to) return;
  if (from->memory == to->memory)
    return fail(fmt::format("stage from '{}' to '{}', both in {}", from->name, to->name,
                            hw_.memory(from->memory).words));
  note_uses(Queue::stage, {c.from, c.to});
  const auto moves = [&](const Affine& at, const ProgramTensor& t, int index, bool fills) {
    const int64_t bytes = reachable_bytes(index, t, Queue::stage, fills, kAllBytes);
    const std::string what = fmt::format("stage {} '{}'", fills ? "to" : "from", t.name);
    if (t.memory == MemoryId::dram)
      check_within(at, reach_over(c.walk), c.walk.run, bytes, what);
    else
      check_within(at, bytes_of(c.walk), bytes, what);
  };
  moves(c.source, *from, c.from, false);
  moves(c.target, *to, c.to, true);
}

}  // namespace accsim::hw
