#include "hw/random/random_program.h"

#include <algorithm>
#include <cstring>

#include "hw/program/contract.h"
#include "hw/random/random_gather.h"
#include "hw/random/random_regions.h"
#include "hw/random/random_rows.h"
#include "hw/random/random_weights.h"

namespace accsim::hw {
namespace {

/// Tensors are read only, or written by one of store and stage; what goes from queue to queue does
/// so over regions, which lie behind them.
enum Tensors {
  kInDram,
  kInShared,
  kParameters,
  kIndices,
  kOutDram,
  kOutShared,
  kRows,
  kStagedDram,
  kStagedShared,
  kLevel,
  kTensors
};
constexpr int64_t kInBytes = 1 << 13;
constexpr int64_t kLevelBytes = 1 << 12;
constexpr int64_t kParameterBytes = 12;

class Generator {
 public:
  Generator(const HwConfig& hw, Dataflow dataflow, std::mt19937& random)
      : hw_(hw), dataflow_(dataflow), random_(random) {}

  ProgramWithImage run() {
    for (int64_t parts = pick(2, 7); parts > 0; --parts) part();
    return finish();
  }
  ProgramWithImage run_products() {
    most_passes_ = 24;
    products(out_.program.body, -1, 1);
    return finish();
  }

 private:
  using Items = std::vector<Item>;

  ProgramWithImage finish() {
    Program& p = out_.program;
    p.name = "random";
    p.dataflow = dataflow_;
    p.loops = loops_;
    const Memory near = has_shared() ? Memory::shared : Memory::dram;
    p.tensors = {{"in", Memory::dram, kInBytes},
                 {"in, shared", near, kInBytes},
                 {"parameters", Memory::dram, kInBytes},
                 {"indices", Memory::dram, kInBytes},
                 {"out", Memory::dram, std::max<int64_t>(1, stored_[0])},
                 {"out, shared", near, std::max<int64_t>(1, stored_[1])},
                 {"parameters of rows", Memory::dram, 0},
                 {"staged", Memory::dram, std::max<int64_t>(1, staged_[0])},
                 {"staged, shared", near, std::max<int64_t>(1, staged_[1])},
                 {"level", Memory::dram, kLevelBytes}};
    p.tensors.insert(p.tensors.end(), regions_.begin(), regions_.end());
    for (const ProgramTensor& t : p.tensors) {
      out_.image.emplace_back(static_cast<size_t>(t.bytes));
      for (uint8_t& b : out_.image.back()) b = static_cast<uint8_t>(random_());
    }
    level(out_.image[kLevel]);
    if (one_in(4))
      for (const Tensors t : {kInDram, kInShared}) corners(out_.image[t]);
    parameters(out_.image[kParameters]);
    if (has_rows_)
      out_.image[kRows] = random_row_parameters(random_);
    else
      out_.image[kRows].push_back(0);
    p.tensors[kRows].bytes = std::ssize(out_.image[kRows]);
    out_.image[kIndices] = random_indices(kInBytes, random_);
    return std::move(out_);
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, std::max(low, high))(random_);
  }
  bool one_in(int64_t n) { return pick(1, n) == 1; }
  int64_t slot(Buffer b) const { return hw_.buffer(b).slot_bytes(); }

  static void sync(Items& to, SyncKind kind, Queue q, Buffer b) {
    to.push_back({Sync{kind, q, b}});
  }
  template <class C>
  static void command(Items& to, C c) {
    to.push_back({Command{std::move(c)}});
  }

  /// Nearly equal bytes: rows of small differences.
  void level(std::vector<uint8_t>& bytes) {
    const int64_t low = pick(0, 253), most = pick(1, 2);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(low + pick(0, most));
  }

  /// The ends of int8 among zeros: sums of few products, all of them the largest there are.
  void corners(std::vector<uint8_t>& bytes) {
    constexpr std::array<int8_t, 4> kEnds = {-128, -128, 127, 1};
    for (uint8_t& b : bytes)
      b = static_cast<uint8_t>(one_in(3) ? kEnds[static_cast<size_t>(pick(0, 3))] : 0);
  }
  /// What a sum of up to two of each of their products is short of a small number.
  int32_t corner_bias() {
    const int64_t sum = pick(0, 2) * 128 * 128 + pick(0, 2) * 127 * 127 - pick(0, 2) * 128 * 127;
    return static_cast<int32_t>(pick(-90, 90) - sum);
  }

  /// Scales that spread sums over int8, some short as those of groups, now and then extremes; some
  /// that leave sums as they are, so that the lowest bits show.
  void parameters(std::vector<uint8_t>& bytes) {
    for (size_t at = 0; at + kParameterBytes <= bytes.size(); at += kParameterBytes) {
      const bool extreme = one_in(16), brief = one_in(3);
      std::array<int32_t, 3> words = {
          static_cast<int32_t>(extreme ? pick(INT32_MIN, INT32_MAX) : pick(-5000, 5000)),
          static_cast<int32_t>(extreme ? pick(INT32_MIN, INT32_MAX)
                               : brief ? pick(-(1 << 15), 1 << 15)
                                       : pick(1 << 20, 1 << 24)),
          static_cast<int32_t>(extreme ? pick(0, 62)
                               : brief ? pick(16, 25)
                                       : pick(26, 34))};
      if (one_in(4)) words = {corner_bias(), one_in(3) ? -1 : 1, static_cast<int32_t>(pick(0, 1))};
      std::memcpy(&bytes[at], words.data(), kParameterBytes);
    }
  }

  /// Room for what lies in the shared buffer besides what is stored there.
  bool has_shared() const { return hw_.shared.kib * 1024 >= 4 * kInBytes; }
  bool fits_in_shared(int64_t bytes) const {
    return stored_[1] + staged_[1] + reserved_ + bytes <= hw_.shared.kib * 1024 - 2 * kInBytes;
  }

  // ---- moving ---------------------------------------------------------------------------------

  /// Loads that fill bytes [at, at + bytes) of a slot. The first and the last are from the region
  /// whose slot the load queue holds, if it does.
  void loads(Items& to, Buffer b, int64_t at, int64_t bytes, int loop) {
    const int64_t pieces = bytes > 2 && one_in(3) ? pick(2, 3) : 1;
    for (int64_t i = 0, from = 0; i < pieces; ++i) {
      const int64_t behind = pieces - 1 - i;
      const int64_t size = behind == 0 ? bytes - from : pick(1, bytes - from - behind);
      const bool held = read_ >= 0 && (i == 0 || behind == 0 || one_in(2));
      LoadCommand c;
      c.buffer = b;
      c.tensor = held ? read_ : one_in(3) ? kInShared : kInDram;
      c.slot_offset = Affine(at + from);
      const int64_t room = held ? region(read_).slot_bytes() : kInBytes;
      int64_t reach = 0;
      if (indices_ > 0 && !one_in(4)) {
        reach = gather(c, size, held ? room : room / 2);
      } else {
        walk(c.walk, size);
        reach = fit_walk(c.walk, room, false);
        if (b != Buffer::parameter && !c.walk.levels.empty() && one_in(2)) c.transposed = 1;
      }
      c.source = source(c.tensor, reach, loop);
      command(to, std::move(c));
      from += size;
    }
  }
  /// Items of a gathered load; returns the bytes that it may reach over, at most `room`.
  int64_t gather(LoadCommand& c, int64_t bytes, int64_t room) {
    int64_t items = pick(1, std::min(bytes, indices_));
    while (bytes % items != 0) --items;
    Walk item;
    walk(item, bytes / items);
    fit_walk(item, room, false);
    return draw_gather(c, item, items, indices_, room, random_);
  }
  /// Loads in `filling` may be gathered: the load queue holds a slot of indices meanwhile.
  template <class Filling>
  void with_indices(Items& to, int loop, Filling filling) {
    const int64_t most = slot(Buffer::parameter) / Gather::kIndexBytes;
    const int64_t indices = pick(1, std::min<int64_t>(most, 24));
    sync(to, SyncKind::wait_free, Queue::load, Buffer::parameter);
    LoadCommand c;
    c.buffer = Buffer::parameter;
    c.tensor = kIndices;
    c.walk.run = indices * Gather::kIndexBytes;
    place(c.source, c.walk.run, loop, true);
    command(to, std::move(c));
    sync(to, SyncKind::signal_full, Queue::load, Buffer::parameter);
    sync(to, SyncKind::wait_full, Queue::load, Buffer::parameter);
    indices_ = indices;
    filling();
    indices_ = 0;
    sync(to, SyncKind::signal_free, Queue::load, Buffer::parameter);
  }
  /// As fill(), perhaps by gathered loads; where the queue's own slot of indices leaves room.
  void fill_anyhow(Items& to, Buffer b, int64_t bytes, int loop) {
    const bool room = b != Buffer::parameter || hw_.buffer(b).slots > 1;
    if (room && one_in(3))
      with_indices(to, loop, [&] { fill(to, b, bytes, loop); });
    else
      fill(to, b, bytes, loop);
  }
  /// Bias, multiplier and shift of so many channels, behind a table of `table` bytes.
  /// Behind them so many bytes of multipliers of groups.
  void fill_scales(Items& to, int64_t table, int64_t channels, int64_t groups, int loop) {
    sync(to, SyncKind::wait_free, Queue::load, Buffer::parameter);
    if (table > 0) loads(to, Buffer::parameter, 0, table, loop);
    LoadCommand c;
    c.buffer = Buffer::parameter;
    c.tensor = kParameters;
    c.slot_offset = Affine(table);
    c.walk.run = channels * kParameterBytes;
    place(c.source, c.walk.run, loop, true);
    command(to, std::move(c));
    if (groups > 0) loads(to, Buffer::parameter, table + channels * kParameterBytes, groups, loop);
    sync(to, SyncKind::signal_full, Queue::load, Buffer::parameter);
  }
  /// A walk of so many bytes: one run, or equal ones at a stride.
  void walk(Walk& w, int64_t bytes) {
    int64_t runs = one_in(2) ? 1 : pick(1, std::min<int64_t>(bytes, 6));
    while (bytes % runs != 0) --runs;
    w.run = bytes / runs;
    if (runs > 1) w.levels.push_back({runs, one_in(4) ? 0 : w.run + pick(0, 9)});
  }
  static int64_t extent(const Walk& w) {
    int64_t last = w.run;
    for (const Walk::Level& l : w.levels) last += (l.count - 1) * l.stride;
    return last;
  }
  /// A place for the bytes in a tensor that is read; parameters begin where their words do.
  void place(Affine& a, int64_t bytes, int loop, bool aligned) {
    const int64_t step = loop < 0 ? 0 : aligned ? kParameterBytes : pick(0, 50);
    const int64_t room = kInBytes - bytes - step * kMostIterations;
    a = Affine(aligned ? pick(0, room / kParameterBytes) * kParameterBytes : pick(0, room));
    if (step > 0) a.add_term(loop, step);
  }

  /// A place for the bytes in a tensor or in the slot of a region that is read.
  Affine source(int tensor, int64_t bytes, int loop) {
    Affine out;
    if (tensor < kTensors) {
      place(out, bytes, loop, false);
      return out;
    }
    const int64_t room = region(tensor).slot_bytes() - bytes;
    const int64_t step = loop < 0 ? 0 : pick(0, room / kMostIterations);
    out = Affine(pick(0, room - step * kMostIterations));
    if (step > 0) out.add_term(loop, step);
    return out;
  }

  /// Claims a slot and fills it; from a region that is full, if one waits to be read and is large
  /// enough.
  void fill_slot(Items& to, Buffer b, int64_t bytes, int loop, SyncKind signal) {
    const int from = next_read_ >= 0 && bytes <= region(next_read_).slot_bytes() ? next_read_ : -1;
    const bool early = one_in(2);
    if (from >= 0 && early) region_sync(to, SyncKind::wait_full, Queue::load, from);
    sync(to, SyncKind::wait_free, Queue::load, b);
    if (from >= 0 && !early) region_sync(to, SyncKind::wait_full, Queue::load, from);
    if (from >= 0) next_read_ = -1;
    read_ = from;
    loads(to, b, 0, bytes, loop);
    read_ = -1;
    const bool given = one_in(2);
    if (from >= 0 && given) region_sync(to, SyncKind::signal_free, Queue::load, from);
    sync(to, signal, Queue::load, b);
    if (from >= 0 && !given) region_sync(to, SyncKind::signal_free, Queue::load, from);
  }
  void fill(Items& to, Buffer b, int64_t bytes, int loop) {
    fill_slot(to, b, bytes, loop, SyncKind::signal_full);
  }

  /// Stores bytes [at, at + bytes) of the output slot, behind what was stored before.
  void store(Items& to, int64_t at, int64_t bytes, int loop, int64_t iterations) {
    // As many bytes as it may spread over.
    const bool shared = one_in(3) && (!has_shared() || fits_in_shared((bytes + 5) * iterations));
    StoreCommand c;
    c.tensor = shared ? kOutShared : kOutDram;
    c.slot_offset = Affine(at);
    c.target = Affine(stored_[shared]);
    c.walk.run = bytes;
    int64_t step = bytes;
    if (bytes % 2 == 0 && one_in(3)) {
      c.walk.run = bytes / 2;
      c.walk.levels.push_back({2, bytes / 2 + pick(0, 5)});
      step = extent(c.walk);
    }
    if (loop >= 0) c.target.add_term(loop, step);
    stored_[shared] += step * iterations;
    command(to, std::move(c));
  }
  void drain(Items& to, int64_t at, int64_t bytes, int loop, int64_t iterations) {
    sync(to, SyncKind::wait_full, Queue::store, Buffer::output);
    store(to, at, bytes, loop, iterations);
    sync(to, SyncKind::signal_free, Queue::store, Buffer::output);
  }

  // ---- parts ----------------------------------------------------------------------------------

  /// Tiles, with or without a loop around them.
  void part() {
    const bool looped = one_in(2);
    const int64_t iterations = looped ? pick(2, kMostIterations) : 1;
    const int loop = looped ? loops_++ : -1;
    Items body;
    for (int64_t tiles = pick(1, 3); tiles > 0; --tiles) tile(body, loop, iterations);
    if (!looped) {
      for (Item& i : body) out_.program.body.push_back(std::move(i));
      return;
    }
    out_.program.body.push_back({Loop{loop, "l", iterations, std::move(body)}});
  }

  void tile(Items& to, int loop, int64_t iterations) {
    const int64_t kind = pick(0, 13);
    if (kind < 11)
      work(to, loop, iterations, kind);
    else if (kind < 13)
      through_regions(to, loop, iterations);
    else
      copy(to, loop, iterations);
  }
  /// A tile that computes: 0 .. 10.
  void work(Items& to, int loop, int64_t iterations, int64_t kind) {
    if (kind < 4)
      products(to, loop, iterations);
    else if (kind < 8)
      lanes(to, loop, iterations);
    else
      rows(to, loop, iterations);
  }

  void copy(Items& to, int loop, int64_t iterations) {
    const int64_t bytes = pick(1, std::min<int64_t>(slot(Buffer::output), 300));
    fill_anyhow(to, Buffer::output, bytes, loop);
    drain(to, 0, bytes, loop, iterations);
  }

  // ---- regions --------------------------------------------------------------------------------

  static void region_sync(Items& to, SyncKind kind, Queue q, int tensor) {
    to.push_back({Sync{kind, q, Buffer::activation, tensor}});
  }
  const ProgramTensor& region(int tensor) const {
    return regions_[static_cast<size_t>(tensor - kTensors)];
  }
  Memory memory(int tensor) const {
    if (tensor >= kTensors) return region(tensor).memory;
    return tensor == kInShared || tensor == kStagedShared ? Memory::shared : Memory::dram;
  }

  /// A ring in memory for parts of so many bytes; none when there are too many.
  int new_region(Memory memory, int64_t bytes) {
    if (regions_.size() == kMostRegions) return -1;
    const int64_t slots = one_in(8) ? pick(4, kMostRegionSlots) : pick(1, 3);
    const int64_t slot = bytes + (one_in(2) ? pick(0, 9) : pick(0, 90));
    if (memory == Memory::shared) {
      if (!fits_in_shared(slots * slot)) return -1;
      reserved_ += slots * slot;
    }
    regions_.push_back({"region", memory, slots * slot, slots});
    return kTensors + static_cast<int>(regions_.size()) - 1;
  }

  /// Up to three, one memory's after the other's.
  std::vector<int> new_chain(int64_t bytes) {
    std::vector<int> out;
    bool shared = has_shared() && !one_in(3);
    for (int64_t most = has_shared() && one_in(2) ? pick(2, 3) : 1; most > 0; --most) {
      const int next = new_region(shared ? Memory::shared : Memory::dram, bytes);
      if (next < 0) break;
      out.push_back(next);
      shared = !shared;
    }
    return out;
  }

  /// Bytes of a region's slot.
  struct Room {
    int64_t at, bytes;
  };
  /// The loop around a command (-1: none), and how often it runs.
  struct Around {
    int loop;
    int64_t iterations;
  };
  /// A stage of so many bytes: into a region, `room` at most; or behind what was staged before.
  /// Returns how many bytes it reaches over there.
  int64_t stage(Items& to, int from, int target, int64_t bytes, Room room, Around around) {
    const bool in = memory(from) == Memory::dram;
    StageCommand c;
    c.from = from;
    c.to = target;
    walk(c.walk, bytes);
    const int64_t reach =
        in ? fit_walk(c.walk, from < kTensors ? kInBytes : region(from).slot_bytes(), false)
           : fit_walk(c.walk, room.bytes, true);
    c.source = source(from, in ? reach : bytes, around.loop);
    const int64_t written = in ? bytes : reach;
    c.target = target < kTensors ? behind_staged(in, written, around) : Affine(room.at);
    command(to, std::move(c));
    return written;
  }
  Affine behind_staged(bool shared, int64_t bytes, Around around) {
    Affine out(staged_[shared]);
    if (around.loop >= 0) out.add_term(around.loop, bytes);
    staged_[shared] += bytes * around.iterations;
    return out;
  }

  /// The stages, or stores of bytes [from, ..) of an output slot, that fill a region's slot: one or
  /// several, one behind the other.
  template <class Piece>
  void pieces(int ring, int64_t bytes, Piece piece) {
    const int64_t most = bytes > 1 && one_in(3) ? pick(2, std::min<int64_t>(bytes, 3)) : 1;
    int64_t at = 0, from = 0;
    for (int64_t behind = most - 1; behind >= 0; --behind) {
      const int64_t size = behind == 0 ? bytes - from : pick(1, bytes - from - behind);
      const int64_t room = region(ring).slot_bytes() - at - (bytes - from - size);
      at += piece(from, size, at, room);
      from += size;
    }
  }

  /// From the other memory into a region by a stage command, or through an output slot by a store.
  void fill_region(Items& to, int ring, int64_t bytes, int loop, bool staged) {
    if (!staged) {
      fill(to, Buffer::output, bytes, loop);
      sync(to, SyncKind::wait_full, Queue::store, Buffer::output);
    }
    const Queue queue = staged ? Queue::stage : Queue::store;
    region_sync(to, SyncKind::wait_free, queue, ring);
    pieces(ring, bytes, [&](int64_t from, int64_t size, int64_t at, int64_t room) {
      if (staged) {
        const int source = memory(ring) == Memory::shared ? kInDram : kInShared;
        return stage(to, source, ring, size, {at, room}, {loop, 1});
      }
      StoreCommand c;
      c.tensor = ring;
      c.slot_offset = Affine(from);
      c.target = Affine(at);
      walk(c.walk, size);
      const int64_t reach = fit_walk(c.walk, room, true);
      command(to, std::move(c));
      return reach;
    });
    region_sync(to, SyncKind::signal_full, queue, ring);
    if (!staged) sync(to, SyncKind::signal_free, Queue::store, Buffer::output);
  }

  /// From one region into another one; perhaps from the first one elsewhere besides.
  void between_regions(Items& to, int from, int ring, int64_t bytes, int loop, int64_t iterations) {
    const bool ahead = one_in(2);
    if (ahead) region_sync(to, SyncKind::wait_free, Queue::stage, ring);
    region_sync(to, SyncKind::wait_full, Queue::stage, from);
    const bool fits = memory(from) == Memory::shared || fits_in_shared(bytes * iterations);
    if (!ahead && fits && one_in(4)) stage_out(to, from, bytes, loop, iterations);
    if (!ahead) region_sync(to, SyncKind::wait_free, Queue::stage, ring);
    pieces(ring, bytes, [&](int64_t, int64_t size, int64_t at, int64_t room) {
      return stage(to, from, ring, size, {at, room}, {loop, iterations});
    });
    region_sync(to, SyncKind::signal_full, Queue::stage, ring);
    region_sync(to, SyncKind::signal_free, Queue::stage, from);
  }
  /// Out of a region's slot to the other memory.
  void stage_out(Items& to, int ring, int64_t bytes, int loop, int64_t iterations) {
    const int target = memory(ring) == Memory::shared ? kStagedDram : kStagedShared;
    stage(to, ring, target, bytes, {0, bytes + pick(0, 60)}, {loop, iterations});
  }

  /// Out of a region to the other memory by a stage command, or into slots by loads: into those of
  /// a tile that computes, or of copies, one or two for the region's slot.
  void empty_region(Items& to, int ring, int64_t bytes, int loop, int64_t iterations, bool staged) {
    if (staged) {
      region_sync(to, SyncKind::wait_full, Queue::stage, ring);
      stage_out(to, ring, bytes, loop, iterations);
      region_sync(to, SyncKind::signal_free, Queue::stage, ring);
      return;
    }
    next_read_ = ring;
    if (one_in(2)) work(to, loop, iterations, pick(0, 10));
    if (next_read_ < 0) return;
    if (one_in(2)) {
      fill_anyhow(to, Buffer::output, bytes, loop);
      drain(to, 0, bytes, loop, iterations);
      return;
    }
    next_read_ = -1;
    region_sync(to, SyncKind::wait_full, Queue::load, ring);
    for (int64_t slots = 2; slots > 0; --slots) {
      sync(to, SyncKind::wait_free, Queue::load, Buffer::output);
      read_ = ring;
      loads(to, Buffer::output, 0, bytes, loop);
      read_ = -1;
      if (slots == 1) region_sync(to, SyncKind::signal_free, Queue::load, ring);
      sync(to, SyncKind::signal_full, Queue::load, Buffer::output);
      drain(to, 0, bytes, loop, iterations);
    }
  }

  /// Parts that take a way over regions, in turns; those that fill one may be some slots ahead.
  void through_regions(Items& to, int loop, int64_t iterations) {
    const int64_t bytes = pick(1, std::min<int64_t>(slot(Buffer::output), one_in(4) ? 900 : 300));
    const std::vector<int> chain = new_chain(bytes);
    if (chain.empty()) return copy(to, loop, iterations);
    const int64_t parts = pick(1, 4);
    const int64_t out = memory(chain.back()) == Memory::dram ? parts * bytes * iterations : 0;
    const bool staged_in = has_shared() && one_in(2);
    const bool staged_out = has_shared() && one_in(2) && fits_in_shared(out);
    if (staged_out) reserved_ += out;
    std::vector<int64_t> slots;
    for (const int ring : chain) slots.push_back(region(ring).slots);
    for (const size_t hop : draw_hops(slots, parts, random_)) {
      if (hop == 0)
        fill_region(to, chain[0], bytes, loop, staged_in);
      else if (hop < chain.size())
        between_regions(to, chain[hop - 1], chain[hop], bytes, loop, iterations);
      else
        empty_region(to, chain.back(), bytes, loop, iterations, staged_out);
    }
    if (staged_out) reserved_ -= out;
  }

  /// Bytes of a table in front of what else is in a parameter slot; 0 when it doesn't fit.
  int64_t table_bytes(int64_t others) {
    const bool fits = SetTableCommand::kBytes + others <= slot(Buffer::parameter);
    return fits && one_in(2) ? SetTableCommand::kBytes : 0;
  }

  // ---- products -------------------------------------------------------------------------------

  struct Product {
    int64_t m, k, n;
    int64_t accumulators;  ///< rows of a group
    int64_t groups;        ///< along k, each with a scale
    int64_t group_rows;    ///< from one to the next
    RandomWeights weights;
    int64_t pitch;  ///< of the output's pixels
    int64_t table;  ///< bytes
    bool adds, uses_table;
    int64_t out_bytes() const { return (m - 1) * pitch + n; }
    int64_t group_bytes() const { return (groups - 1) * n * PostCommand::kGroupBytes; }
  };

  Product product() {
    Product p{};
    const bool turned = dataflow_ == Dataflow::input_stationary;
    const bool stays = dataflow_ == Dataflow::output_stationary;
    const int64_t rows = hw_.accumulator_rows();
    p.k = pick(1, hw_.array.rows);
    p.n = turned ? pick(1, std::min<int64_t>(rows, 20)) : pick(1, hw_.array.cols);
    p.n = std::min(p.n, slot(Buffer::parameter) / kParameterBytes);
    p.m = pick(1, turned ? hw_.array.cols : std::min<int64_t>(rows, stays ? hw_.array.rows : 24));
    p.m = std::min({p.m, slot(Buffer::activation) / p.k, slot(Buffer::output) / p.n});
    p.n = std::min(p.n, slot(Buffer::weight) / p.k);
    p.accumulators = turned ? p.n : p.m;
    p.weights = random_weights(hw_, dataflow_, p.k, p.n, slot(Buffer::weight), random_);
    draw_groups(p);
    p.table = table_bytes(p.n * kParameterBytes + p.group_bytes());
    p.uses_table = p.table > 0 && !one_in(4);
    p.adds = one_in(3);
    const int64_t spare = p.m > 1 ? (slot(Buffer::output) - p.n) / (p.m - 1) - p.n : 0;
    p.pitch = p.n + (p.adds && one_in(2) ? std::min<int64_t>(spare, pick(0, 7)) : 0);
    return p;
  }

  void draw_groups(Product& p) {
    const int64_t room = slot(Buffer::parameter) - p.n * kParameterBytes;
    const int64_t most = std::min({hw_.accumulator_rows() / p.accumulators, int64_t{5},
                                   1 + room / (p.n * PostCommand::kGroupBytes)});
    p.groups = one_in(2) ? 1 : pick(1, most);
    const int64_t spare =
        p.groups > 1 ? (hw_.accumulator_rows() - p.groups * p.accumulators) / (p.groups - 1) : 0;
    p.group_rows = p.accumulators + (one_in(3) ? std::min<int64_t>(spare, pick(0, 3)) : 0);
  }

  GemmCommand gemm(const Product& p, int64_t first_row, bool accumulate) {
    GemmCommand c;
    c.m = p.m;
    c.k = p.k;
    c.n = p.n;
    c.useful_macs = p.m * p.weights.useful;
    c.window.tile = c.window.count = {1, 1, p.m};
    c.window.pixel = c.window.line = p.k;
    c.weights = p.weights.tile;
    c.accumulator_row = Affine(first_row);
    c.accumulate = accumulate;
    return c;
  }

  void products(Items& to, int loop, int64_t iterations) {
    const Product p = product();
    const bool weights_first = one_in(3);  // before the post holds its parameters
    if (weights_first) fill_anyhow(to, Buffer::weight, p.weights.bytes, loop);
    const int64_t ahead = p.adds && hw_.buffer(Buffer::output).slots > 1 && one_in(2) ? 2 : 1;
    fill_scales(to, p.table, p.n, p.group_bytes(), loop);
    sync(to, SyncKind::wait_full, Queue::post, Buffer::parameter);
    if (p.table > 0) command(to, SetTableCommand{Queue::post, Affine(0)});
    const bool early = one_in(2);
    if (p.adds && early)
      for (int64_t i = 0; i < ahead; ++i) prime(to, p, loop);
    for (int64_t i = 0; i < ahead; ++i) {
      sums(to, p, loop, weights_first && i == 0);
      if (p.adds && !early) prime(to, p, loop);
      results(to, p);
      drain(to, 0, p.out_bytes(), loop, iterations);
      if (!early || !p.adds) break;
    }
    sync(to, SyncKind::signal_free, Queue::post, Buffer::parameter);
  }

  void prime(Items& to, const Product& p, int loop) {
    fill_slot(to, Buffer::output, p.out_bytes(), loop, SyncKind::signal_primed);
  }

  /// One or two gemms a group, or more, into an accumulator slot.
  void sums(Items& to, const Product& p, int loop, bool has_weights) {
    if (!has_weights) fill(to, Buffer::weight, p.weights.bytes, loop);
    fill(to, Buffer::activation, p.m * p.k, loop);
    sync(to, SyncKind::wait_full, Queue::execute, Buffer::weight);
    sync(to, SyncKind::wait_full, Queue::execute, Buffer::activation);
    const bool stays = dataflow_ == Dataflow::output_stationary;
    sync(to, SyncKind::wait_free, Queue::execute, Buffer::accumulator);
    for (int64_t g = 0; g < p.groups; ++g) {
      const int64_t row = g * p.group_rows, passes = pick(1, most_passes_);
      for (int64_t i = 0; i < passes; ++i) command(to, gemm(p, row, i > 0));
      if (stays) command(to, DrainCommand{p.m, p.n, Affine(row), {}, false});
    }
    sync(to, SyncKind::signal_free, Queue::execute, Buffer::weight);
    sync(to, SyncKind::signal_free, Queue::execute, Buffer::activation);
    sync(to, SyncKind::signal_full, Queue::execute, Buffer::accumulator);
  }

  std::pair<int32_t, int32_t> limits(int64_t most) {
    if (!one_in(3)) return {static_cast<int32_t>(-most - 1), static_cast<int32_t>(most)};
    const auto low = static_cast<int32_t>(pick(-most - 1, 20));
    return {low, static_cast<int32_t>(pick(low, most))};
  }
  int32_t zero_point() { return static_cast<int32_t>(pick(-128, 127)); }

  void results(Items& to, const Product& p) {
    sync(to, SyncKind::wait_full, Queue::post, Buffer::accumulator);
    sync(to, p.adds ? SyncKind::wait_primed : SyncKind::wait_free, Queue::post, Buffer::output);
    PostCommand c;
    c.transposed = dataflow_ == Dataflow::input_stationary;
    c.rows = p.accumulators;
    c.cols = c.transposed ? p.m : p.n;
    c.parameter_offset = Affine(p.table);
    c.pitch = p.pitch;
    c.groups = p.groups;
    c.group_rows = p.group_rows;
    c.group_offset = Affine(p.table + p.n * kParameterBytes);
    c.has_parameters = true;
    c.table = p.uses_table;
    c.relu = one_in(4);
    c.output_zero = zero_point();
    std::tie(c.low, c.high) = limits(p.adds && !c.table ? INT16_MAX : INT8_MAX);
    if (c.lowest() > c.high) c.relu = false;
    if (p.adds) c.residual = residual();
    command(to, std::move(c));
    sync(to, SyncKind::signal_free, Queue::post, Buffer::accumulator);
    sync(to, SyncKind::signal_full, Queue::post, Buffer::output);
  }

  Residual residual() {
    Residual r;
    r.zero = zero_point();
    r.multiplier = static_cast<int32_t>(one_in(8) ? pick(INT16_MIN, INT16_MAX)
                                                  : pick(INT16_MAX / 2, INT16_MAX));
    r.shift = static_cast<int32_t>(one_in(8) ? pick(0, 31) : pick(13, 17));
    std::tie(r.low, r.high) = limits(INT8_MAX);
    return r;
  }

  // ---- lane commands --------------------------------------------------------------------------

  /// First and last byte that strides reach from a row's or tap's first one.
  template <size_t N>
  static std::pair<int64_t, int64_t> reach(const std::array<int64_t, N>& counts,
                                           const std::array<int64_t, N>& strides) {
    std::pair<int64_t, int64_t> out{0, 0};
    for (size_t i = 0; i < N; ++i) {
      const int64_t last = (counts[i] - 1) * strides[i];
      (last < 0 ? out.first : out.second) += last;
    }
    return out;
  }

  template <size_t N>
  void draw_strides(std::array<int64_t, N>& strides, int64_t run) {
    for (int64_t& s : strides) {
      const int64_t kind = pick(0, 5);
      s = kind == 0 ? 0 : kind == 1 ? -pick(1, run) : kind == 2 ? run : pick(1, 2 * run);
    }
  }

  /// Gives the operand the offset that keeps it within `room` bytes from `at`; false when it
  /// doesn't fit.
  template <class Reach>
  static bool put(LaneOperand& o, Reach r, int64_t bytes, int64_t at, int64_t room) {
    o.offset = Affine(at - r.first);
    return r.second - r.first + bytes <= room;
  }

  struct LaneTile {
    LaneCommand command;
    int64_t in_bytes = 0;         ///< of the activation slot
    int64_t parameter_bytes = 0;  ///< of the parameter slot, without a table
  };

  void draw_scales(LaneCommand& c) {
    const bool product = c.op == LaneOp::mul;
    for (LaneOperand* o : {&c.a, c.b ? &*c.b : nullptr})
      if (o) {
        o->zero = zero_point();
        o->multiplier =
            static_cast<int32_t>(one_in(8) ? pick(INT16_MIN, INT16_MAX) : pick(1 << 12, INT16_MAX));
      }
    const int64_t taps = c.tap_count() * (c.across ? c.run : 1);
    int64_t shift = product ? 21 : 14;
    for (int64_t n = c.tap_op == TapOp::sum ? taps : 1; n > 1; n /= 2) ++shift;
    c.shift = static_cast<int32_t>(one_in(8) ? pick(0, 62) : shift + pick(-1, 2));
    c.output_zero = one_in(6) ? static_cast<int32_t>(pick(-1000, 1000)) : zero_point();
    std::tie(c.low, c.high) = limits(INT8_MAX);
  }

  /// Rows of the output one behind the other, the levels in any order.
  static void draw_output(LaneCommand& c, std::mt19937& random) {
    std::array<size_t, kLaneLevels> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    int64_t step = c.across ? 1 : c.run;
    for (const size_t level : order) {
      c.out_stride[level] = step;
      step *= c.rows[level];
    }
  }

  /// Rows whose windows overlap.
  void draw_slide(LaneCommand& c) {
    c.taps = {pick(2, one_in(2) ? 3 : LaneCommand::kMostColumns), pick(1, one_in(4) ? 9 : 3)};
    c.slide = pick(1, one_in(2) ? 1 : c.taps[0] - 1);
    if (one_in(2)) c.rows.back() = pick(1, 9);
    c.a.row_stride.back() = c.slide * c.tap_stride[0];
  }

  std::optional<LaneTile> draw_lanes(int64_t in_room, int64_t out_room, int64_t parameter_room) {
    LaneTile t;
    LaneCommand& c = t.command;
    c.op = static_cast<LaneOp>(pick(0, kLaneOps - 1));
    c.tap_op = static_cast<TapOp>(pick(0, kTapOps - 1));
    for (int64_t& n : c.rows) n = one_in(2) ? 1 : pick(1, 4);
    if (one_in(3))
      for (int64_t& n : c.taps) n = pick(1, one_in(3) ? 14 : 3);
    c.across = one_in(4);
    c.run = pick(1, one_in(c.across ? 2 : 3) ? 150 : 30);
    draw_strides(c.a.row_stride, c.run);
    draw_strides(c.tap_stride, c.run);
    if (c.op == LaneOp::copy && !c.across && one_in(2)) draw_slide(c);
    if (c.op != LaneOp::copy) {
      c.b.emplace();
      c.b->buffer = one_in(3) ? Buffer::parameter : Buffer::activation;
      c.b->splat = c.across || one_in(3);
      draw_strides(c.b->row_stride, c.run);
    }
    draw_scales(c);
    draw_output(c, random_);
    if (c.out_bytes() > out_room) return std::nullopt;
    if (contract::lane_beat(c, hw_) < 1) return std::nullopt;
    const auto rows = reach(c.rows, c.a.row_stride), taps = reach(c.taps, c.tap_stride);
    const std::pair both{rows.first + taps.first, rows.second + taps.second};
    if (!put(c.a, both, c.run, 0, in_room)) return std::nullopt;
    t.in_bytes = both.second - both.first + c.run;
    if (!c.b) return t;
    const auto other = reach(c.rows, c.b->row_stride);
    const int64_t bytes = c.b->splat ? 1 : c.run, span = other.second - other.first + bytes;
    const bool parameter = c.b->buffer == Buffer::parameter;
    if (!put(*c.b, other, bytes, parameter ? 0 : t.in_bytes,
             parameter ? parameter_room : in_room - t.in_bytes))
      return std::nullopt;
    (parameter ? t.parameter_bytes : t.in_bytes) += span;
    return t;
  }

  /// One or two lane commands from one activation slot to one output slot.
  void lanes(Items& to, int loop, int64_t iterations) {
    std::vector<LaneTile> tiles;
    int64_t in = 0, out = 0, parameter = 0;
    const int64_t table = table_bytes(0);
    const int64_t room = std::min<int64_t>(slot(Buffer::activation), 2500);
    for (int64_t tries = 0, most = pick(1, 2); tries < 20 && std::ssize(tiles) < most; ++tries) {
      auto t = draw_lanes(room - in, std::min<int64_t>(slot(Buffer::output), 900) - out,
                          slot(Buffer::parameter) - table - parameter);
      if (!t) continue;
      LaneCommand& c = t->command;
      c.a.offset += Affine(in);
      if (c.b) c.b->offset += Affine(c.b->buffer == Buffer::parameter ? table + parameter : in);
      c.slot_offset = Affine(out);
      c.table = table > 0 && one_in(2);
      in += t->in_bytes;
      parameter += t->parameter_bytes;
      out += c.out_bytes();
      tiles.push_back(std::move(*t));
    }
    if (tiles.empty()) return;
    const bool reads = table + parameter > 0;
    fill_anyhow(to, Buffer::activation, in, loop);
    if (reads) {
      fill_anyhow(to, Buffer::parameter, table + parameter, loop);
      sync(to, SyncKind::wait_full, Queue::vector, Buffer::parameter);
      if (table > 0) command(to, SetTableCommand{Queue::vector, Affine(0)});
    }
    sync(to, SyncKind::wait_full, Queue::vector, Buffer::activation);
    sync(to, SyncKind::wait_free, Queue::vector, Buffer::output);
    for (LaneTile& t : tiles) command(to, std::move(t.command));
    sync(to, SyncKind::signal_free, Queue::vector, Buffer::activation);
    sync(to, SyncKind::signal_full, Queue::vector, Buffer::output);
    if (reads) sync(to, SyncKind::signal_free, Queue::vector, Buffer::parameter);
    drain(to, 0, out, loop, iterations);
  }

  // ---- row commands ---------------------------------------------------------------------------

  /// The parameters of a row command, to where it has been put.
  void load_rows(Items& to, const RandomRows& rows, const RowRoom& at, int loop) {
    has_rows_ = true;
    const RowParameters from = row_parameters(rows.command);
    LoadCommand c;
    c.buffer = Buffer::parameter;
    c.tensor = kRows;
    c.slot_offset = Affine(at.parameters);
    c.walk.run = rows.room.parameters;
    const int64_t step = loop < 0 ? 0 : pick(0, 1), units = rows.room.parameters / from.unit;
    c.source =
        Affine(from.begin + from.unit * pick(0, from.count - units - step * (kMostIterations - 1)));
    if (step > 0) c.source.add_term(loop, from.unit);
    command(to, std::move(c));
  }

  /// Rows of nearly equal elements, of which a large epsilon makes even smaller ones: the last bits
  /// of a normalised element count.
  void fill_level(Items& to, int64_t bytes) {
    sync(to, SyncKind::wait_free, Queue::load, Buffer::activation);
    LoadCommand c;
    c.tensor = kLevel;
    c.source = Affine(pick(0, kLevelBytes - bytes));
    c.walk.run = bytes;
    command(to, std::move(c));
    sync(to, SyncKind::signal_full, Queue::load, Buffer::activation);
  }

  /// Up to three row commands, now and then with lane commands, from one activation slot to one
  /// output slot.
  void rows(Items& to, int loop, int64_t iterations) {
    std::vector<Command> commands;
    Items parameters;
    const RowRoom slots{std::min<int64_t>(slot(Buffer::activation), 4000),
                        std::min<int64_t>(slot(Buffer::output), 1500), slot(Buffer::parameter)};
    RowRoom at;
    const bool is_level = one_in(3);
    const auto left = [&] {
      return RowRoom{slots.in - at.in, slots.out - at.out, slots.parameters - at.parameters};
    };
    for (int64_t tries = 0, most = pick(1, 3); tries < 20 && std::ssize(commands) < most; ++tries) {
      if (one_in(4)) {
        auto t = draw_lanes(left().in, left().out, 0);
        if (!t) continue;
        t->command.a.offset += Affine(at.in);
        if (t->command.b) t->command.b->offset += Affine(at.in);
        t->command.slot_offset = Affine(at.out);
        at.in += t->in_bytes;
        at.out += t->command.out_bytes();
        commands.emplace_back(std::move(t->command));
        continue;
      }
      auto r = random_rows(hw_, left(), random_);
      if (!r) continue;
      const bool norm = r->command.op != RowOp::softmax;
      if (is_level && norm) r->command.epsilon = pick(int64_t{1} << 61, int64_t{1} << 62);
      load_rows(parameters, *r, at, loop);
      r->move(at);
      at.in += r->room.in;
      at.out += r->room.out;
      at.parameters += r->room.parameters;
      commands.emplace_back(std::move(r->command));
    }
    if (commands.empty()) return;
    if (!parameters.empty()) {
      sync(to, SyncKind::wait_free, Queue::load, Buffer::parameter);
      for (Item& i : parameters) to.push_back(std::move(i));
      sync(to, SyncKind::signal_full, Queue::load, Buffer::parameter);
      sync(to, SyncKind::wait_full, Queue::vector, Buffer::parameter);
    }
    if (is_level)
      fill_level(to, at.in);
    else
      fill(to, Buffer::activation, at.in, loop);
    sync(to, SyncKind::wait_full, Queue::vector, Buffer::activation);
    sync(to, SyncKind::wait_free, Queue::vector, Buffer::output);
    for (Command& c : commands) to.push_back({std::move(c)});
    sync(to, SyncKind::signal_free, Queue::vector, Buffer::activation);
    sync(to, SyncKind::signal_full, Queue::vector, Buffer::output);
    if (!parameters.empty()) sync(to, SyncKind::signal_free, Queue::vector, Buffer::parameter);
    drain(to, 0, at.out, loop, iterations);
  }

  static constexpr int64_t kMostIterations = 5;

  const HwConfig& hw_;
  const Dataflow dataflow_;
  std::mt19937& random_;
  ProgramWithImage out_;
  int loops_ = 0;
  int64_t most_passes_ = 2;             ///< over a group's sums
  bool has_rows_ = false;               ///< row commands
  int64_t indices_ = 0;                 ///< in the parameter slot that the load queue holds
  std::vector<ProgramTensor> regions_;  ///< behind the other tensors
  int64_t reserved_ = 0;                ///< bytes of the shared buffer besides, for regions
  int read_ = -1;                       ///< region whose slot the load queue holds
  int next_read_ = -1;                  ///< region that the next slot is to be filled from
  std::array<int64_t, 2> stored_{};     ///< bytes so far, in DRAM and in the shared buffer
  std::array<int64_t, 2> staged_{};     ///< the same by stages, that no region has
};

bool has_room(const HwConfig& hw) {
  return hw.buffer(Buffer::activation).slot_bytes() >= 64 &&
         hw.buffer(Buffer::weight).slot_bytes() >= hw.array.rows &&
         hw.buffer(Buffer::parameter).slot_bytes() >= kParameterBytes &&
         hw.buffer(Buffer::output).slot_bytes() >= 64 && hw.accumulator_rows() >= 1 &&
         hw.buffer(Buffer::activation).slot_bytes() >= hw.array.rows &&
         hw.parameter_bytes() == kParameterBytes;
}

}  // namespace

std::optional<ProgramWithImage> random_program(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random) {
  if (!has_room(hw)) return std::nullopt;
  return Generator(hw, dataflow, random).run();
}

std::optional<ProgramWithImage> random_products(const HwConfig& hw, Dataflow dataflow,
                                                std::mt19937& random) {
  if (!has_room(hw)) return std::nullopt;
  return Generator(hw, dataflow, random).run_products();
}

}  // namespace accsim::hw
