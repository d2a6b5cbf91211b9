#include "tests/fuzz/program_bytes.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "hw/random/random_program.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::test {
namespace {

using namespace hw;

constexpr size_t kMostTensors = 20, kMostItems = 120, kMostDepth = 6, kMostLoops = 60;

/// Walks over all of a case and does one thing to each number and list: writes it, reads it, counts
/// it, or changes one of them.
class Walker {
 public:
  static std::string write(ProgramCase& c) {
    Walker w(Does::write);
    w.all(c);
    return std::move(w.out_);
  }
  static void read(std::string_view bytes, ProgramCase& c) {
    Walker w(Does::read);
    w.in_ = bytes;
    w.all(c);
  }
  static void change(ProgramCase& c, std::mt19937& random) {
    Walker counts(Does::count);
    counts.all(c);
    Walker w(Does::change);
    w.random_ = &random;
    w.changed_ = w.below(counts.seen_);
    w.all(c);
  }

 private:
  enum class Does { write, read, count, change };
  explicit Walker(Does does) : does_(does) {}

  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(*random_); }

  // ---- numbers and lists -----------------------------------------------------------------------

  void put(int64_t v) {
    uint64_t left = static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63);
    for (; left >= 128; left >>= 7) out_ += static_cast<char>(left % 128 + 128);
    out_ += static_cast<char>(left);
  }
  int64_t get() {
    uint64_t v = 0;
    for (int at = 0; at < 64 && !in_.empty(); at += 7) {
      const auto byte = static_cast<uint8_t>(in_.front());
      in_.remove_prefix(1);
      v |= uint64_t{byte % 128U} << at;
      if (byte < 128) break;
    }
    return static_cast<int64_t>(v >> 1 ^ (~(v & 1) + 1));
  }
  int64_t other(int64_t v) {
    constexpr std::array<int64_t, 12> kEdges{
        0, 1, -1, 2, 127, INT32_MAX, INT32_MIN, int64_t{1} << 32, 255, 65536, 1 << 20, INT64_MAX};
    const auto step = static_cast<int64_t>(below(17)) - 8;
    const auto wrapped = [](int64_t a, int64_t b) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    };
    switch (below(5)) {
      case 0:
        return kEdges[below(kEdges.size())];
      case 1:
        return wrapped(v, v);
      case 2:
        return v / 2;
      default:
        return wrapped(v, step);
    }
  }
  bool is_changed() { return seen_++ == changed_ && does_ == Does::change; }

  int64_t number(int64_t v) {
    if (does_ == Does::write) put(v);
    if (does_ == Does::read) return get();
    return is_changed() ? other(v) : v;
  }
  template <class... T>
  void numbers(T&... values) {
    ((values = static_cast<T>(number(static_cast<int64_t>(values)))), ...);
  }
  template <class T, size_t N>
  void numbers(std::array<T, N>& values) {
    for (T& v : values) numbers(v);
  }
  /// One of `count`.
  template <class T>
  void choice(T& v, size_t count) {
    const auto n = static_cast<uint64_t>(number(static_cast<int64_t>(v)));
    v = static_cast<T>(n % count);
  }
  template <IsId T>
  void choice(T& id) {
    constexpr auto kAll = T::all();
    const auto n = static_cast<uint64_t>(number(std::ranges::find(kAll, id) - kAll.begin()));
    id = kAll[n % kAll.size()];
  }
  void flag(bool& v) { v = number(v ? 1 : 0) % 2 != 0; }
  template <class T>
  void within(T& v, int64_t low, int64_t high) {
    numbers(v);
    v = static_cast<T>(std::clamp<int64_t>(v, low, high));
  }

  /// Elements are visited by `each`.
  template <class List, class Each>
  void list(List& items, size_t most, const Each& each) {
    if (does_ == Does::write) put(std::ssize(items));
    if (does_ == Does::read) {
      const auto size = static_cast<size_t>(
          std::clamp<int64_t>(get(), 0, static_cast<int64_t>(std::min(most, in_.size()))));
      items.clear();
      while (items.size() < size) items.push_back({});
    }
    if (is_changed()) reorder(items, most);
    for (auto& item : items) each(item);
  }
  template <class List>
  void reorder(List& items, size_t most) {
    using T = typename List::value_type;
    if (items.empty()) {
      items.push_back(T{});
      return;
    }
    const size_t a = below(items.size()), b = below(items.size());
    switch (below(4)) {
      case 0:
        std::swap(items[a], items[b]);
        break;
      case 1:  // b leaves
        for (size_t i = b; i + 1 < items.size(); ++i) std::swap(items[i], items[i + 1]);
        items.pop_back();
        break;
      case 2:  // b goes to a
        std::rotate(items.begin() + static_cast<ptrdiff_t>(std::min(a, b)),
                    items.begin() + static_cast<ptrdiff_t>(std::max(a, b)), items.end());
        break;
      default:
        if (items.size() < most) items.push_back(T{items[a]});
    }
  }
  template <class T, class Each>
  void maybe(std::optional<T>& value, const Each& each) {
    bool there = value.has_value();
    flag(there);
    if (!there) return value.reset();
    if (!value) value.emplace();
    each(*value);
  }

  // ---- the machine ------------------------------------------------------------------------------

  void machine(HwConfig& hw) {
    within(hw.array.rows, 1, 17);
    within(hw.array.cols, 1, 17);
    within(hw.array.fill_rows, 1, hw.array.rows);
    for (BufferConfig& b : hw.buffers) {
      const bool sums = &b == &hw.buffers[static_cast<size_t>(Buffer::accumulator)];
      within(b.slots, 1, 5);
      int64_t slot = b.kib / std::max<int64_t>(1, b.slots);
      within(slot, 2, 6);
      b.kib = slot * b.slots;
      if (!sums) within(b.width, 1, 64);
    }
    for (ByteRate* rate : {&hw.dram.read, &hw.dram.write}) within(rate->milli, 200, 40'000);
    within(hw.dram.latency, 0, 200);
    within(hw.shared.kib, 0, 64);
    within(hw.shared.channel.read.milli, hw.dram.read.milli, 80'000);
    within(hw.shared.channel.write.milli, hw.dram.write.milli, 80'000);
    within(hw.shared.channel.latency, 0, hw.dram.latency);
    for (int64_t& lanes : hw.vector.lanes) within(lanes, 1, 32);
    within(hw.vector.mac_lanes, 0, 32);
    bool narrow = hw.narrow_weights();
    flag(narrow);
    hw.types.weight = narrow ? DType::int4 : DType::int8;
  }

  // ---- the program ------------------------------------------------------------------------------

  void affine(Affine& a) {
    numbers(a.base);
    list(a.terms, 4, [&](Affine::Term& t) { numbers(t.loop, t.coeff); });
  }
  void affines(std::array<Affine, 3>& all) {
    for (Affine& a : all) affine(a);
  }
  void walk(Walk& w) {
    list(w.levels, 8, [&](Walk::Level& l) { numbers(l.count, l.stride); });
    numbers(w.run);
  }
  void loops(std::vector<int>& ids) {
    list(ids, 4, [&](int& id) { numbers(id); });
  }

  void visit(LoadCommand& c) {
    choice(c.buffer, kBuffers);
    numbers(c.tensor);
    affine(c.source);
    affine(c.slot_offset);
    walk(c.walk);
    numbers(c.transposed);
    maybe(c.padded, [&](PaddedWindow& w) {
      for (auto* sizes : {&w.extent, &w.count, &w.kernel, &w.stride, &w.dilation, &w.pitch})
        numbers(*sizes);
      affines(w.origin);
      numbers(w.images, w.image_pitch, w.tap, w.pad_value);
    });
    maybe(c.gather, [&](Gather& g) {
      affine(g.index_offset);
      numbers(g.pitch, g.limit);
    });
  }
  void visit(GemmCommand& c) {
    numbers(c.m, c.k, c.n, c.useful_macs);
    OperandWindow& w = c.window;
    for (auto* sizes : {&w.tile, &w.count, &w.stride}) numbers(*sizes);
    affines(w.origin);
    affine(w.first);
    affine(w.offset);
    numbers(w.pixel, w.line, w.line_step, w.pad_value);
    WeightTile& t = c.weights;
    affine(t.offset);
    affine(t.first_k);
    int bits = t.encoding.bits();
    numbers(t.pitch, t.groups, t.group_k, t.group_n, bits);
    t.encoding = bits == 4 ? kPackedWeights : bits == 8 ? Encoding{} : Encoding{FormatId::int2};
    affine(c.accumulator_row);
    loops(c.first_of);
    flag(c.accumulate);
  }
  void visit(DrainCommand& c) {
    numbers(c.m, c.n);
    affine(c.accumulator_row);
    loops(c.first_of);
    flag(c.accumulate);
  }
  void visit(PostCommand& c) {
    numbers(c.rows, c.cols, c.pitch, c.epilogue.zero, c.epilogue.low, c.epilogue.high, c.groups,
            c.group_rows);
    for (Affine* a : {&c.accumulator_row, &c.parameter_offset, &c.slot_offset, &c.group_offset})
      affine(*a);
    for (bool* b : {&c.transposed, &c.has_parameters, &c.epilogue.relu, &c.epilogue.table})
      flag(*b);
    maybe(c.epilogue.residual,
          [&](Residual& r) { numbers(r.zero, r.multiplier, r.shift, r.low, r.high); });
  }
  void visit(SetTableCommand& c) {
    choice(c.unit);
    affine(c.parameter_offset);
  }
  void operand(LaneOperand& o) {
    choice(o.buffer, kBuffers);
    affine(o.offset);
    numbers(o.row_stride);
    flag(o.splat);
    numbers(o.zero, o.multiplier);
  }
  void visit(LaneCommand& c) {
    choice(c.op, kLaneOps);
    choice(c.tap_op, kTapOps);
    numbers(c.rows);
    numbers(c.taps);
    numbers(c.tap_stride);
    numbers(c.out_stride);
    numbers(c.run, c.slide, c.shift, c.epilogue.zero, c.epilogue.low, c.epilogue.high);
    flag(c.across);
    flag(c.epilogue.table);
    operand(c.a);
    maybe(c.b, [&](LaneOperand& o) { operand(o); });
    numbers(c.weight_stride);
    numbers(c.macs);
    affine(c.channel_offset);
    affine(c.slot_offset);
  }
  void rows(RowOperand& o) {
    affine(o.offset);
    numbers(o.row_stride);
    numbers(o.piece_stride);
  }
  void visit(RowCommand& c) {
    choice(c.op, kRowOps);
    numbers(c.rows);
    numbers(c.pieces, c.run, c.per_channel);
    rows(c.in);
    maybe(c.mask, [&](RowOperand& o) { rows(o); });
    affine(c.parameter_offset);
    numbers(c.parameter_stride);
    rows(c.out);
    numbers(c.row_multiplier, c.mask_multiplier, c.difference_shift, c.numerator, c.exponent);
    numbers(c.input_zero, c.unit_bits, c.epsilon, c.epilogue.zero, c.epilogue.low, c.epilogue.high);
    maybe(c.logarithm, [&](RowLogarithm& l) {
      affine(l.offset);
      numbers(l.row_multiplier, l.sum_multiplier, l.shift, l.addend);
    });
  }
  void visit(VectorCommand& c) {
    numbers(c.ops);
    numbers(c.in_bytes, c.out_bytes);
  }
  void visit(StoreCommand& c) {
    numbers(c.tensor);
    affine(c.target);
    affine(c.slot_offset);
    walk(c.walk);
  }
  void visit(StageCommand& c) {
    numbers(c.from, c.to);
    affine(c.source);
    affine(c.target);
    walk(c.walk);
  }
  void visit(Command& c) {
    alternative(c);
    std::visit([&](auto& command) { visit(command); }, c);
  }
  void visit(Sync& s) {
    choice(s.kind, kSyncKinds);
    choice(s.queue);
    choice(s.buffer, kBuffers);
    within(s.region, -1, static_cast<int64_t>(tensors_) - 1);
  }
  void visit(Mark& m) {
    flag(m.waits);
    choice(m.queue);
    within(m.tensor, 0, std::max<int64_t>(0, static_cast<int64_t>(tensors_) - 1));
  }
  void visit(LayerHead& h) { choice(h.dataflow, kDataflows); }
  void visit(Loop& l) {
    numbers(l.id, l.count);
    if (depth_ == kMostDepth) return l.body.clear();
    ++depth_;
    list(l.body, kMostItems, [&](Item& item) { visit(item); });
    --depth_;
  }
  void visit(Item& item) {
    alternative(item.node);
    std::visit([&](auto& node) { visit(node); }, item.node);
  }
  /// Which one a variant holds.
  template <class... T>
  void alternative(std::variant<T...>& v) {
    size_t at = v.index();
    choice(at, sizeof...(T));
    if (at == v.index()) return;
    size_t i = 0;
    ((i++ == at ? static_cast<void>(v.template emplace<T>()) : void()), ...);
  }

  void all(ProgramCase& c) {
    machine(c.hw);
    numbers(c.fill);
    Program& p = c.program;
    choice(p.dataflow, kDataflows);
    list(p.tensors, kMostTensors, [&](ProgramTensor& t) {
      choice(t.memory);
      numbers(t.bytes, t.slots, t.address, t.pitch);
      flag(t.given);
    });
    tensors_ = p.tensors.size();
    within(p.loops, 0, kMostLoops);
    list(p.body, kMostItems, [&](Item& item) { visit(item); });
  }

  Does does_;
  std::string out_;
  std::string_view in_;
  std::mt19937* random_ = nullptr;
  size_t seen_ = 0, changed_ = 0, depth_ = 0, tensors_ = 0;
};

}  // namespace

ProgramCase decode(std::string_view bytes) {
  ProgramCase out;
  out.hw = small_machine();
  Walker::read(bytes, out);
  return out;
}

std::string encode(const ProgramCase& c) {
  ProgramCase copy = c;
  return Walker::write(copy);
}

void change(ProgramCase& c, std::mt19937& random) { Walker::change(c, random); }

ProgramCase draw_case(std::mt19937& random) {
  while (true) {
    ProgramCase out;
    out.hw = random_machine(random);
    out.hw.shared.kib = std::min<int64_t>(out.hw.shared.kib, 64);
    out.fill = static_cast<int64_t>(random() % 3);
    const auto dataflow = static_cast<Dataflow>(random() % kDataflows);
    if (random() % 2 == 0) {
      auto drawn = hw::random_program(out.hw, dataflow, random);
      if (drawn) out.program = std::move(drawn->program);
    } else {
      out.program = test::random_program(random);
    }
    out = decode(encode(out));
    if (!out.program.body.empty() && verify(out.program, out.hw).ok()) return out;
  }
}

}  // namespace accsim::test
