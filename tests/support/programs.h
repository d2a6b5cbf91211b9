#pragma once
#include <algorithm>
#include <random>

#include "hw/program/program.h"
#include "tests/support/random_layers.h"

namespace accsim::test {

inline hw::Item sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer buffer) {
  return {hw::Sync{kind, queue, buffer}};
}

/// `bytes` in `runs` pieces, all at the same place.
inline hw::Walk walk(int64_t bytes, int64_t runs = 1) {
  hw::Walk out{{}, bytes / runs};
  if (runs > 1) out.levels.push_back({runs, 0});
  return out;
}

/// From program()'s tensor of this number: 0 lies in DRAM, 2 in the shared buffer.
inline hw::Item load(hw::Buffer buffer, int64_t bytes, int tensor = 0, int64_t runs = 1) {
  return {hw::Command{hw::LoadCommand{buffer, tensor, 0, 0, walk(bytes, runs), {}}}};
}

/// `matrices` of `rows` rows of `bytes` each, turned.
inline hw::Item transposed_load(hw::Buffer buffer, int64_t matrices, int64_t rows, int64_t bytes,
                                int64_t element = 1, int tensor = 0) {
  hw::LoadCommand c{buffer, tensor, 0, 0, {{{matrices, 0}, {rows, bytes}}, bytes}, {}};
  c.transposed = element;
  return {hw::Command{c}};
}

/// `items` of `runs` pieces of `bytes`, where the indices at the beginning of a parameter slot say.
inline hw::Item gathered_load(hw::Buffer buffer, int64_t items, int64_t runs, int64_t bytes,
                              int tensor = 0) {
  hw::LoadCommand c{buffer, tensor, 0, 0, {{{items, 0}, {runs, 0}}, bytes}, {}};
  c.gather.emplace();
  return {hw::Command{c}};
}

/// m pixels of k bytes, one accumulator block.
inline hw::Item gemm(int64_t m, int64_t k, int64_t n) {
  hw::GemmCommand c;
  c.m = m;
  c.k = k;
  c.n = n;
  c.useful_macs = m * k * n;
  c.window.tile = {1, 1, m};
  c.window.count = {1, 1, m};
  c.window.pixel = c.window.line = k;
  c.weights.pitch = n;
  return {hw::Command{c}};
}

inline hw::Item post(int64_t rows, int64_t cols) {
  hw::PostCommand c;
  c.rows = rows;
  c.cols = c.pitch = cols;
  return {hw::Command{c}};
}

/// To program()'s tensor of this number.
inline hw::Item store(int64_t bytes, int tensor = 1, int64_t runs = 1) {
  return {hw::Command{hw::StoreCommand{tensor, 0, 0, walk(bytes, runs)}}};
}

inline void append(std::vector<hw::Item>& to, std::vector<hw::Item> items) {
  for (hw::Item& i : items) to.push_back(std::move(i));
}

inline std::vector<hw::Item> fill(hw::Buffer b, int64_t bytes) {
  return {sync(hw::SyncKind::wait_free, hw::Queue::load, b), load(b, bytes),
          sync(hw::SyncKind::signal_full, hw::Queue::load, b)};
}

/// One tile from memory to memory: loads, `passes` gemms, post, store. Weights of `k` x `n`.
inline std::vector<hw::Item> tile(int64_t m, int64_t k, int64_t n, int64_t passes = 1) {
  std::vector<hw::Item> out = fill(hw::Buffer::weight, k * n);
  out.push_back(sync(hw::SyncKind::wait_full, hw::Queue::execute, hw::Buffer::weight));
  append(out, fill(hw::Buffer::activation, m * k));
  out.push_back(sync(hw::SyncKind::wait_full, hw::Queue::execute, hw::Buffer::activation));
  out.push_back(sync(hw::SyncKind::wait_free, hw::Queue::execute, hw::Buffer::accumulator));
  for (int64_t i = 0; i < passes; ++i) out.push_back(gemm(m, k, n));
  append(out, {sync(hw::SyncKind::signal_free, hw::Queue::execute, hw::Buffer::weight),
               sync(hw::SyncKind::signal_free, hw::Queue::execute, hw::Buffer::activation),
               sync(hw::SyncKind::signal_full, hw::Queue::execute, hw::Buffer::accumulator),
               sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::accumulator),
               sync(hw::SyncKind::wait_free, hw::Queue::post, hw::Buffer::output), post(m, n),
               sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::accumulator),
               sync(hw::SyncKind::signal_full, hw::Queue::post, hw::Buffer::output),
               sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output), store(m * n),
               sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output)});
  return out;
}

inline hw::Program program(std::vector<hw::Item> body, int loops = 0) {
  hw::Program p;
  p.name = "test";
  p.tensors = {{"in", hw::MemoryId::dram, int64_t{1} << 20},
               {"out", hw::MemoryId::dram, int64_t{1} << 20},
               {"near", hw::MemoryId::shared, int64_t{1} << 10}};
  p.body = std::move(body);
  p.loops = loops;
  return p;
}

/// A random program: what the mapper would never write, but a machine must run. Tiles in nests of
/// loops; passes and posts in loops of their own; operands kept over several tiles; slots that are
/// filled by several loads, from both memories, gathered ones among them, or handed on unfilled (so
/// that a loop reads moments it doesn't write); lane tiles, rows and vector commands, by turns with
/// products on activation and parameter slots; tables of both units; residuals in primed slots that
/// run ahead; copies; all three dataflows. Every other one has marks and waits for them, and half
/// of those that hold an operand then have layers of both dataflows that do.
class RandomProgram {
 public:
  /// `weighs`: the machine has lanes that weigh taps.
  explicit RandomProgram(std::mt19937& random, bool weighs)
      : random_(random),
        rows_random_(random),
        layers_random_(random),
        slides_random_(random),
        weighs_random_(random),
        weighs_(weighs) {}

  hw::Program run() {
    hw::Program p = program({});
    p.dataflow = static_cast<hw::Dataflow>(pick(0, 2));
    drains_ = p.dataflow == hw::Dataflow::output_stationary;
    columns_ = p.dataflow == hw::Dataflow::input_stationary;
    layers_random_.discard(100);  // other numbers than those of rows
    const bool marks = layers_random_() % 2 == 1;
    turns_ = marks && !drains_ && layers_random_() % 2 == 1;
    p.body = nest(3);
    for (int64_t more = marks ? pick(1, 3) : 0; more > 0; --more)
      append(p.body, one_in(3) ? region_tile() : nest(1));
    p.loops = loops_;
    // What one queue writes no other reads or writes.
    p.tensors.push_back({"near out", hw::MemoryId::shared, 128});
    p.tensors.push_back({"staged out", hw::MemoryId::dram, 1024});
    p.tensors.push_back({"near staged", hw::MemoryId::shared, 512});
    p.tensors.insert(p.tensors.end(), regions_.begin(), regions_.end());
    if (marks) RandomLayers(p, layers_random_).run(turns_);
    return p;
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool one_in(int64_t n) { return pick(1, n) == 1; }

  hw::Item loop(int64_t count, std::vector<hw::Item> body) {
    return {hw::Loop{loops_++, "l", count, std::move(body)}};
  }
  /// The same now and then, now and then in a loop.
  std::vector<hw::Item> maybe_looped(std::vector<hw::Item> body) {
    if (!one_in(3)) return body;
    std::vector<hw::Item> out;
    out.push_back(loop(pick(1, 12), std::move(body)));
    return out;
  }

  std::vector<hw::Item> nest(int depth) {
    std::vector<hw::Item> out;
    for (int64_t parts = pick(1, 3); parts > 0; --parts) {
      if (depth > 0 && one_in(2))
        out.push_back(loop(pick(1, depth == 3 ? 40 : 9), nest(depth - 1)));
      else
        append(out, one_in(3)   ? vector_tile()
                    : one_in(8) ? copy_tile()
                    : one_in(8) ? region_tile()
                                : gemm_tile());
    }
    return out;
  }

  int64_t runs(int64_t bytes) { return one_in(2) ? 1 : pick(1, std::min<int64_t>(bytes, 8)); }

  hw::Item one_load(hw::Buffer b, int64_t bytes, int tensor) {
    if (gathers_ && one_in(2)) {
      const int64_t items = pick(1, std::min<int64_t>(bytes, 8)), pieces = pick(1, 3);
      return gathered_load(b, items, pieces, std::max<int64_t>(1, bytes / items / pieces), tensor);
    }
    if (b == hw::Buffer::parameter || !one_in(3)) return load(b, bytes, tensor, runs(bytes));
    const int64_t matrices = one_in(2) ? 1 : pick(1, 4);
    const int64_t rows = pick(1, std::min<int64_t>(40, std::max<int64_t>(1, bytes / matrices)));
    const int64_t columns = std::max<int64_t>(1, bytes / matrices / rows);
    const int64_t element = columns % 2 == 0 && one_in(3) ? 2 : 1;
    return transposed_load(b, matrices, rows, columns, element, tensor);
  }

  hw::Item some(hw::Buffer b, int64_t bytes) { return one_load(b, bytes, one_in(3) ? 2 : 0); }
  /// A slot that loads claim, fill with up to so many bytes each, and hand on.
  std::vector<hw::Item> claimed(hw::Buffer b, int64_t bytes, hw::SyncKind handed_on) {
    std::vector<hw::Item> out = {sync(hw::SyncKind::wait_free, hw::Queue::load, b)};
    if (!one_in(12))
      for (int64_t parts = pick(1, 2); parts > 0; --parts)
        append(out, maybe_looped({some(b, pick(1, bytes))}));
    out.push_back(sync(handed_on, hw::Queue::load, b));
    return out;
  }
  /// The same; now and then by gathered loads, with a slot of indices that the queue holds
  /// meanwhile.
  std::vector<hw::Item> gathered(hw::Buffer b, int64_t bytes) {
    if (!one_in(5)) return claimed(b, bytes, hw::SyncKind::signal_full);
    std::vector<hw::Item> out =
        claimed(hw::Buffer::parameter, pick(32, 64), hw::SyncKind::signal_full);
    out.push_back(sync(hw::SyncKind::wait_full, hw::Queue::load, hw::Buffer::parameter));
    gathers_ = true;
    append(out, claimed(b, bytes, hw::SyncKind::signal_full));
    gathers_ = false;
    out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::load, hw::Buffer::parameter));
    return out;
  }
  std::vector<hw::Item> filled(hw::Buffer b, hw::Queue reader, int64_t bytes) {
    std::vector<hw::Item> out = gathered(b, bytes);
    out.push_back(sync(hw::SyncKind::wait_full, reader, b));
    return out;
  }
  std::vector<hw::Item> primed(int64_t bytes) {
    return claimed(hw::Buffer::output, bytes, hw::SyncKind::signal_primed);
  }

  hw::Item table(hw::Queue unit) { return {hw::Command{hw::SetTableCommand{unit, hw::Affine(0)}}}; }

  std::vector<hw::Item> passes() {
    std::vector<hw::Item> out;
    for (int64_t parts = pick(1, 2); parts > 0; --parts)
      append(out, maybe_looped({gemm(pick(1, turns_ ? 8 : 40), pick(1, 8),
                                     pick(1, columns_ && !turns_ ? 30 : 8))}));
    if (drains_) {
      hw::DrainCommand d;
      d.m = pick(1, 2);
      d.n = pick(1, 2);
      append(out, maybe_looped({{hw::Command{d}}}));
    }
    return maybe_looped(std::move(out));
  }

  std::vector<hw::Item> stored(int64_t bytes) {
    std::vector<hw::Item> out = {
        sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output)};
    if (!one_in(12))
      append(out, maybe_looped({store(bytes, one_in(3) ? kNearOut : 1, runs(bytes))}));
    out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output));
    return out;
  }

  std::vector<hw::Item> gemm_tile() {
    std::vector<hw::Item> out = filled(hw::Buffer::weight, hw::Queue::execute, pick(1, 64));
    std::vector<hw::Item> inner;
    if (one_in(3)) {  // residuals, in slots that run ahead of their products or come behind
      const int64_t tiles = pick(1, 3), ahead = pick(0, tiles);
      for (int64_t i = 0; i < ahead; ++i) append(inner, primed(pick(1, 600)));
      for (int64_t i = 0; i < tiles; ++i)
        append(inner, product(i < ahead ? Adds::primed_before : Adds::primed_behind));
    } else {
      inner = product(Adds::no);
    }
    append(out, maybe_looped(std::move(inner)));  // weights that stay over several tiles
    out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::execute, hw::Buffer::weight));
    return out;
  }

  /// What a product is added to: nothing, or a slot that was primed before its sums or is behind.
  enum class Adds { no, primed_before, primed_behind };

  /// From an activation slot to memory, with the weights that are held.
  std::vector<hw::Item> product(Adds adds) {
    std::vector<hw::Item> out = filled(hw::Buffer::activation, hw::Queue::execute, pick(1, 300));
    out.push_back(sync(hw::SyncKind::wait_free, hw::Queue::execute, hw::Buffer::accumulator));
    append(out, passes());
    append(out, {sync(hw::SyncKind::signal_free, hw::Queue::execute, hw::Buffer::activation),
                 sync(hw::SyncKind::signal_full, hw::Queue::execute, hw::Buffer::accumulator)});
    if (adds == Adds::primed_behind) append(out, primed(pick(1, 600)));
    append(out, {sync(hw::SyncKind::wait_full, hw::Queue::post, hw::Buffer::accumulator),
                 sync(adds == Adds::no ? hw::SyncKind::wait_free : hw::SyncKind::wait_primed,
                      hw::Queue::post, hw::Buffer::output)});
    const bool parameters = one_in(3);
    if (parameters) append(out, filled(hw::Buffer::parameter, hw::Queue::post, pick(1, 100)));
    if (parameters && one_in(3)) append(out, maybe_looped({table(hw::Queue::post)}));
    hw::Item last = post(pick(1, 40), pick(1, 8));
    auto& sums = std::get<hw::PostCommand>(std::get<hw::Command>(last.node));
    if (adds != Adds::no) sums.epilogue.residual.emplace();
    if (parameters) {
      sums.has_parameters = true;
      sums.groups = 1 + sums.rows % 4;  // of rows that lie over one another
    }
    append(out, maybe_looped({last}));
    if (parameters)
      out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::parameter));
    append(out, {sync(hw::SyncKind::signal_free, hw::Queue::post, hw::Buffer::accumulator),
                 sync(hw::SyncKind::signal_full, hw::Queue::post, hw::Buffer::output)});
    append(out, stored(pick(1, 80)));
    return out;
  }

  std::vector<hw::Item> copy_tile() {
    std::vector<hw::Item> out = gathered(hw::Buffer::output, pick(1, 80));
    append(out, stored(pick(1, 80)));
    return out;
  }

  hw::Item region_sync(hw::SyncKind kind, hw::Queue queue, int region) {
    return {hw::Sync{kind, queue, hw::Buffer::activation, region}};
  }

  /// Behind program()'s tensors.
  enum More { kNearOut = 3, kStagedOut, kNearStaged, kFirstRegion };

  /// A region of 600 bytes a slot in DRAM or the shared buffer.
  int new_region() {
    const int64_t slots = pick(1, 4);
    const int number = static_cast<int>(regions_.size());
    regions_.push_back({"region " + std::to_string(number),
                        one_in(2) ? hw::MemoryId::shared : hw::MemoryId::dram, 600 * slots, slots});
    return kFirstRegion + number;
  }

  /// To a region, or from it: the other side is the tensor of the other memory.
  hw::Item stage(int region, bool into) {
    const bool shared =
        regions_[static_cast<size_t>(region - kFirstRegion)].memory == hw::MemoryId::shared;
    const int other = shared ? (into ? 0 : kStagedOut) : into ? 2 : kNearStaged;
    const int64_t bytes = pick(1, 500);
    return {hw::Command{hw::StageCommand{into ? other : region, into ? region : other, 0, 0,
                                         walk(bytes, runs(bytes))}}};
  }

  std::vector<hw::Item> region_filled(int region, bool staged) {
    const hw::Queue queue = staged ? hw::Queue::stage : hw::Queue::store;
    std::vector<hw::Item> out;
    if (!staged) out = claimed(hw::Buffer::output, pick(1, 80), hw::SyncKind::signal_full);
    if (!staged) out.push_back(sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output));
    out.push_back(region_sync(hw::SyncKind::wait_free, queue, region));
    const int64_t bytes = pick(1, 80);
    append(out, maybe_looped({staged ? stage(region, true) : store(bytes, region, runs(bytes))}));
    out.push_back(region_sync(hw::SyncKind::signal_full, queue, region));
    if (!staged)
      out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output));
    return out;
  }

  std::vector<hw::Item> region_emptied(int region, bool staged) {
    if (staged) {
      std::vector<hw::Item> out = {region_sync(hw::SyncKind::wait_full, hw::Queue::stage, region)};
      append(out, maybe_looped({stage(region, false)}));
      out.push_back(region_sync(hw::SyncKind::signal_free, hw::Queue::stage, region));
      return out;
    }
    std::vector<hw::Item> out = {sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::output),
                                 region_sync(hw::SyncKind::wait_full, hw::Queue::load, region)};
    const int64_t bytes = pick(1, 80);
    append(out, maybe_looped({load(hw::Buffer::output, bytes, region, runs(bytes))}));
    append(out, {region_sync(hw::SyncKind::signal_free, hw::Queue::load, region),
                 sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::output)});
    append(out, stored(pick(1, 80)));
    return out;
  }

  /// Through a region that is filled some slots ahead; or a stage between plain tensors.
  std::vector<hw::Item> region_tile() {
    if (regions_.size() == hw::kMostRegions || one_in(5))
      return maybe_looped(
          {{hw::Command{hw::StageCommand{2, kStagedOut, 0, 0, walk(pick(1, 900))}}}});
    const int region = new_region();
    const int64_t ahead = pick(1, regions_.back().slots);
    const bool staged_in = one_in(2), staged_out = one_in(2);
    std::vector<hw::Item> out;
    for (int64_t i = 0; i < ahead; ++i) append(out, region_filled(region, staged_in));
    for (int64_t i = 0; i < ahead; ++i) append(out, region_emptied(region, staged_out));
    return out;
  }

  /// All rows and taps lie at the same place: how long it takes doesn't depend on it.
  hw::Item lanes(bool parameters) {
    hw::LaneCommand c;
    const auto plain_ops = std::ranges::count(hw::kLaneOpRows, false, &hw::LaneOpRow::weighs);
    c.op = static_cast<hw::LaneOp>(pick(0, plain_ops - 1));
    for (size_t i = 0; i < 2; ++i) c.rows[static_cast<size_t>(pick(0, 3))] = pick(1, 5);
    c.run = pick(1, 150);
    if (one_in(2))
      for (int64_t& n : c.taps) n = pick(1, 3);
    c.across = one_in(3);
    // Drawn from numbers of their own, so that the programs around them stay as they are.
    if (!row_of(c.op).has_b && !c.across && c.taps[0] > 1) {
      std::uniform_int_distribution<int64_t> slide(0, 4), line(1, 3);
      c.slide = std::min(slide(slides_random_), c.taps[0] - 1);
      if (c.slide > 0) c.rows.back() = line(slides_random_);
    }
    if (row_of(c.op).has_b) {
      c.b.emplace();
      if (parameters && one_in(2)) c.b->buffer = hw::Buffer::parameter;
      c.b->splat = c.across || one_in(3);
    }
    if (parameters && weighs_ && c.slide == 0 && weighs_random_() % 4 == 0) {
      c.op = hw::LaneOp::mac;
      c.across = false;
      c.run = std::min<int64_t>(c.run, 20);  // the parameter slot has scales of so many
      c.b = hw::LaneOperand{};
      c.b->buffer = hw::Buffer::parameter;
    }
    return {hw::Command{c}};
  }

  /// All rows at the same place, too. Drawn from numbers of their own, so that the programs around
  /// them stay as they are.
  std::vector<hw::Item> maybe_rows() {
    const auto draw = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(rows_random_);
    };
    const auto rarely = [&](int64_t n) { return draw(1, n) == 1; };
    if (rarely(4)) return {};
    hw::RowCommand c;
    const bool one = rarely(2);
    c.op = static_cast<hw::RowOp>(draw(0, hw::kRowOps - 1));
    c.numerator = 1 << 30;
    for (size_t i = 0; i < 2; ++i)
      if (!one && rarely(2))
        c.rows[static_cast<size_t>(draw(0, 3))] = rarely(8) ? draw(1, 20) : draw(2, 4);
    c.pieces = rarely(3) ? draw(2, 3) : 1;
    c.run = rarely(3) ? draw(1, 20) : draw(20, 300);
    if (c.op == hw::RowOp::softmax) {
      if (rarely(2)) c.mask.emplace();
      if (rarely(3)) c.logarithm.emplace();
    } else {
      c.per_channel = rarely(2) ? 1 : draw(2, 40);
      if (c.per_channel > 1 || c.run > 80) c.run = c.per_channel * draw(1, 4);
      int bits = 0;
      while (int64_t{1} << bits < c.length()) ++bits;
      c.unit_bits = 30 - (bits + 1) / 2;
    }
    hw::Item item{hw::Command{c}};
    std::vector<hw::Item> out;
    out.push_back(rarely(4) ? loop(draw(1, 4), {item}) : item);
    return out;
  }

  hw::Item operations() {
    hw::VectorCommand c;
    for (int64_t classes = pick(1, 3); classes > 0; --classes)
      c.ops[static_cast<size_t>(pick(0, 6))] = pick(1, 500);
    c.in_bytes = pick(0, 300);
    c.out_bytes = pick(1, 80);
    return {hw::Command{c}};
  }

  std::vector<hw::Item> vector_tile() {
    std::vector<hw::Item> out = filled(hw::Buffer::activation, hw::Queue::vector, pick(1, 300));
    const bool parameters = one_in(2);
    if (parameters) append(out, filled(hw::Buffer::parameter, hw::Queue::vector, pick(1, 300)));
    if (parameters && one_in(2)) append(out, maybe_looped({table(hw::Queue::vector)}));
    out.push_back(sync(hw::SyncKind::wait_free, hw::Queue::vector, hw::Buffer::output));
    for (int64_t parts = pick(1, 2); parts > 0; --parts)
      append(out, maybe_looped({one_in(3) ? operations() : lanes(parameters)}));
    if (parameters) append(out, maybe_rows());
    if (parameters)
      out.push_back(sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter));
    append(out, {sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::activation),
                 sync(hw::SyncKind::signal_full, hw::Queue::vector, hw::Buffer::output)});
    append(out, stored(pick(1, 80)));
    return out;
  }

  std::mt19937& random_;
  std::mt19937 rows_random_, layers_random_, slides_random_, weighs_random_;
  const bool weighs_;
  int loops_ = 0;
  bool gathers_ = false;                   ///< the load queue holds a slot of indices
  bool drains_ = false, columns_ = false;  ///< output stationary; input stationary
  bool turns_ = false;                     ///< gemms fit both dataflows that hold an operand
  std::vector<hw::ProgramTensor> regions_;
};

inline hw::Program random_program(std::mt19937& random, bool weighs = false) {
  return RandomProgram(random, weighs).run();
}

}  // namespace accsim::test
