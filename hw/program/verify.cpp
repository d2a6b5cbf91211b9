#include <fmt/format.h>

#include <algorithm>

#include "hw/program/contract.h"
#include "hw/program/program.h"

namespace accsim::hw {
namespace {

/// Inclusive range of an affine value over all iterations.
struct Range {
  int64_t low, high;
};

/// Walks the nest once for addresses and, for tokens, runs every body twice: a body that leaves the
/// tokens as it found them in its second run does so in every run.
class Verifier {
 public:
  Verifier(const Program& program, const HwConfig& hw) : program_(program), hw_(hw) {
    counts_.assign(static_cast<size_t>(program.loops), 0);
    for (size_t b = 0; b < kBuffers; ++b) free_[b] = hw.buffers[b].slots;
  }

  Status run() {
    visit(program_.body);
    for (size_t b = 0; b < kBuffers && errors_.empty(); ++b)
      if (free_[b] != hw_.buffers[b].slots)
        fail(fmt::format("{} of {} {} slots are free at the end", free_[b], hw_.buffers[b].slots,
                         name(static_cast<Buffer>(b))));
    if (errors_.empty()) return ok();
    return errors_;
  }

 private:
  using Tokens = std::array<int64_t, kBuffers>;

  void fail(std::string message) {
    if (!errors_.empty()) return;  // the first is the cause, the rest mostly follow from it
    std::string where = "program " + program_.name;
    for (const Loop* l : nest_) where += fmt::format(" / {}<{}", l->name, l->count);
    errors_.push_back({Errc::invalid, std::move(message), where + fmt::format(" #{}", at_)});
  }

  void visit(const std::vector<Item>& body) {
    for (const Item& item : body) {
      ++at_;
      if (const auto* loop = std::get_if<Loop>(&item.node))
        visit_loop(*loop);
      else if (const auto* sync = std::get_if<Sync>(&item.node))
        visit_sync(*sync);
      else
        std::visit([this](const auto& c) { address(c); }, std::get<Command>(item.node));
      if (!errors_.empty()) return;
    }
  }

  void visit_loop(const Loop& loop) {
    if (loop.id < 0 || loop.id >= program_.loops || loop.count < 1)
      return fail(fmt::format("loop '{}' has id {} and count {}", loop.name, loop.id, loop.count));
    if (counts_[static_cast<size_t>(loop.id)] != 0)
      return fail(fmt::format("loop id {} is used twice on one path", loop.id));
    nest_.push_back(&loop);
    counts_[static_cast<size_t>(loop.id)] = loop.count;
    visit(loop.body);
    if (loop.count > 1 && errors_.empty()) {
      const Tokens full = full_, free = free_, held = held_, filled = filling_;
      visit(loop.body);
      if (errors_.empty() &&
          (full != full_ || free != free_ || held != held_ || filled != filling_))
        fail(fmt::format("loop '{}' doesn't keep its tokens balanced", loop.name));
    }
    counts_[static_cast<size_t>(loop.id)] = 0;
    nest_.pop_back();
  }

  void visit_sync(const Sync& s) {
    const auto b = static_cast<size_t>(s.buffer);
    const auto take = [&](int64_t& from, int64_t& to) {
      if (from <= 0)
        return fail(fmt::format("{} on {}: no token can be there", name(s.kind), name(s.buffer)));
      --from;
      ++to;
    };
    switch (s.kind) {
      case SyncKind::wait_free:
        take(free_[b], filling_[b]);
        break;
      case SyncKind::signal_full:
        take(filling_[b], full_[b]);
        break;
      case SyncKind::wait_full:
        take(full_[b], held_[b]);
        break;
      case SyncKind::signal_free:
        take(held_[b], free_[b]);
        break;
    }
    if (filling_[b] > 1 || held_[b] > 1)
      fail(fmt::format("{} on {}: a queue can use one slot at a time", name(s.kind),
                       name(s.buffer)));
  }

  Range range(const Affine& a) const {
    Range r{a.base, a.base};
    for (const Affine::Term& t : a.terms) {
      const int64_t last = t.coeff * (counts_[static_cast<size_t>(t.loop)] - 1);
      r.low += std::min<int64_t>(0, last);
      r.high += std::max<int64_t>(0, last);
    }
    return r;
  }

  /// [a, a + extent) within [0, limit) at every iteration?
  void within(const Affine& a, int64_t extent, int64_t limit, std::string_view what) {
    for (const Affine::Term& t : a.terms)
      if (t.loop < 0 || t.loop >= program_.loops || counts_[static_cast<size_t>(t.loop)] == 0)
        return fail(fmt::format("{} depends on loop {}, which isn't around it", what, t.loop));
    const Range r = range(a);
    if (r.low < 0 || r.high + extent > limit)
      fail(fmt::format("{} reaches [{}, {}) of {}", what, r.low, r.high + extent, limit));
  }

  void held(Buffer b, std::string_view what) {
    if (held_[static_cast<size_t>(b)] != 1)
      fail(fmt::format("{} reads {} without a full slot", what, name(b)));
  }
  void filling(Buffer b, std::string_view what) {
    if (filling_[static_cast<size_t>(b)] != 1)
      fail(fmt::format("{} writes {} without a free slot", what, name(b)));
  }

  static int64_t extent(const Walk& w) {
    int64_t last = w.run;
    for (const Walk::Level& l : w.levels) last += (l.count - 1) * l.stride;
    return last;
  }

  const ProgramTensor* tensor(int index) {
    if (index < 0 || static_cast<size_t>(index) >= program_.tensors.size()) {
      fail(fmt::format("tensor {} of {}", index, program_.tensors.size()));
      return nullptr;
    }
    return &program_.tensors[static_cast<size_t>(index)];
  }

  int64_t slot(Buffer b) const { return hw_.buffer(b).slot_bytes(); }

  void address(const LoadCommand& c) {
    filling(c.buffer, "load");
    if (c.walk.bytes() <= 0) return fail("load of nothing");
    within(c.slot_offset, c.walk.bytes(), slot(c.buffer),
           fmt::format("load into {}", name(c.buffer)));
    const ProgramTensor* t = tensor(c.tensor);
    if (!t) return;
    if (c.padded) return padded(c, *c.padded, *t);
    within(c.source, extent(c.walk), t->bytes, "load from '" + t->name + "'");
  }

  /// The positions of a padded window that aren't padding lie in the tensor.
  void padded(const LoadCommand& c, const PaddedWindow& w, const ProgramTensor& t) {
    if (w.bytes() != c.walk.bytes())
      return fail(
          fmt::format("a padded window of {} bytes on a walk of {}", w.bytes(), c.walk.bytes()));
    Affine corner = c.source;  // the tensor's pixel (0, 0, 0)
    int64_t bytes = (w.images - 1) * w.image_pitch + w.tap;
    for (size_t d = 0; d < 3; ++d) {
      corner += w.origin[d] * -w.pitch[d];
      bytes += (w.extent[d] - 1) * w.pitch[d];
    }
    within(corner, bytes, t.bytes, "padded load from '" + t.name + "'");
  }

  void address(const StoreCommand& c) {
    held(Buffer::output, "store");
    if (c.walk.bytes() <= 0) return fail("store of nothing");
    within(c.slot_offset, c.walk.bytes(), slot(Buffer::output), "store from output");
    const ProgramTensor* t = tensor(c.tensor);
    if (t) within(c.target, extent(c.walk), t->bytes, "store to '" + t->name + "'");
  }

  void lanes(int64_t value, int64_t limit, std::string_view what) {
    if (value < 1 || value > limit) fail(fmt::format("{} is {} of {}", what, value, limit));
  }

  void address(const GemmCommand& c) {
    held(Buffer::activation, "gemm");
    held(Buffer::weight, "gemm");
    const ArrayConfig& a = hw_.array;
    lanes(c.k, a.rows, "gemm k");
    const Dataflow d = program_.dataflow;
    lanes(c.n, d == Dataflow::input_stationary ? slot(Buffer::weight) : a.cols, "gemm n");
    lanes(c.m,
          d == Dataflow::weight_stationary  ? hw_.accumulator_rows()
          : d == Dataflow::input_stationary ? a.cols
                                            : a.rows,
          "gemm m");
    if (c.window.rows() != c.m)
      fail(fmt::format("gemm m is {}, its window has {} rows", c.m, c.window.rows()));
    const int64_t tile = c.window.tile[0] * c.window.tile[1] * c.window.tile[2] * c.window.pixel;
    within(Affine(0), tile, slot(Buffer::activation), "gemm window");
    const bool turned = d == Dataflow::input_stationary;
    const int64_t weights =
        ((turned ? c.n : c.k) - 1) * c.weights.pitch + (turned ? c.k : c.n) * hw_.weight_bytes();
    within(c.weights.offset, weights, slot(Buffer::weight), "gemm weights");
    if (d == Dataflow::output_stationary) return;
    filling(Buffer::accumulator, "gemm");
    within(c.accumulator_row, d == Dataflow::weight_stationary ? c.m : c.n, hw_.accumulator_rows(),
           "gemm accumulator rows");
  }

  void address(const DrainCommand& c) {
    filling(Buffer::accumulator, "drain");
    if (program_.dataflow != Dataflow::output_stationary)
      fail("drain in a program that isn't output stationary");
    lanes(c.m, hw_.array.rows, "drain m");
    lanes(c.n, hw_.array.cols, "drain n");
    within(c.accumulator_row, c.m, hw_.accumulator_rows(), "drain accumulator rows");
  }

  void address(const PostCommand& c) {
    held(Buffer::accumulator, "post");
    filling(Buffer::output, "post");
    lanes(c.cols, hw_.array.cols, "post columns");
    if (c.lowest() > c.high) fail(fmt::format("post clips to [{}, {}]", c.lowest(), c.high));
    within(c.accumulator_row, c.rows, hw_.accumulator_rows(), "post accumulator rows");
    const int64_t pixels = c.transposed ? c.cols : c.rows;
    const int64_t channels = c.transposed ? c.rows : c.cols;
    within(c.slot_offset, (pixels - 1) * c.pitch + channels * hw_.activation_bytes(),
           slot(Buffer::output), "post output");
    if (!c.has_parameters) return;
    held(Buffer::parameter, "post");
    within(c.parameter_offset, channels * hw_.parameter_bytes(), slot(Buffer::parameter),
           "post parameters");
  }

  void address(const VectorCommand& c) {
    if (c.in_bytes > 0) held(Buffer::activation, "vector");
    if (c.out_bytes > 0) filling(Buffer::output, "vector");
    within(Affine(0), c.in_bytes, slot(Buffer::activation), "vector input");
    within(Affine(0), c.out_bytes, slot(Buffer::output), "vector output");
  }

  const Program& program_;
  const HwConfig& hw_;
  Errors errors_;
  std::vector<const Loop*> nest_;
  std::vector<int64_t> counts_;
  int at_ = 0;
  Tokens free_{}, full_{}, filling_{}, held_{};
};

}  // namespace

Status verify(const Program& program, const HwConfig& hw) { return Verifier(program, hw).run(); }

}  // namespace accsim::hw
