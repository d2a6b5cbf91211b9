#include "hw/program/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

class Walker {
 public:
  Walker(const Program& program, Coverage& to)
      : program_(program), to_(to), dataflow_(program.dataflow) {}

  void run() {
    for (size_t d = 0; d < kDataflows; ++d)
      hit(fmt::format("dataflow {}", name(static_cast<Dataflow>(d))),
          static_cast<Dataflow>(d) == dataflow_);
    none();
    visit();
  }

 private:
  void hit(const std::string& what, bool is) { to_[what] += is ? times_ : 0; }

  /// An entry for every kind of command, whether or not there are any.
  void none() {
    const int64_t times = std::exchange(times_, 0);
    add(LoadCommand{});
    add(GemmCommand{});
    add(DrainCommand{});
    add(PostCommand{});
    add(SetTableCommand{});
    add(LaneCommand{});
    add(RowCommand{});
    add(StoreCommand{});
    add(StageCommand{});
    for (const Memory m : {Memory::dram, Memory::shared}) add(Mark{}, m);
    hit("layer of another dataflow", true);
    times_ = times;
    loads_from_region_ = {};
  }

  void visit() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      times_ *= l.count;
      inner();
      times_ /= l.count;
    };
    const auto command = [this](const Command& c) {
      std::visit([this](const auto& kind) { this->add(kind); }, c);
    };
    const auto head = [this](const LayerHead& h) {
      hit("layer of another dataflow", h.dataflow != dataflow_);
      dataflow_ = h.dataflow;
    };
    const auto mark = [this](const Mark& m) {
      add(m, shared(m.tensor) ? Memory::shared : Memory::dram);
    };
    const auto sync = [this](const Sync& s) {
      if (s.kind == SyncKind::wait_free && s.queue == Queue::load)
        loads_from_region_[static_cast<size_t>(s.buffer)] = 0;
    };
    visit_nest(program_.body, Overloaded{loop, command, head, mark, sync});
  }

  void add(const Mark& m, Memory memory) {
    for (const Queue q : {Queue::load, Queue::store, Queue::stage})
      for (const bool waits : {false, true})
        hit(fmt::format("{} {} in {}", name(q), waits ? "wait for marks" : "mark", name(memory)),
            m.queue == q && m.waits == waits);
  }

  bool shared(int tensor) const {
    const auto i = static_cast<size_t>(tensor);
    return i < program_.tensors.size() && program_.tensors[i].memory == Memory::shared;
  }

  bool region(int tensor) const {
    const auto i = static_cast<size_t>(tensor);
    return i < program_.tensors.size() && program_.tensors[i].slots > 0;
  }

  void add(const LoadCommand& c) {
    for (size_t b = 0; b < kBuffers; ++b)
      if (static_cast<Buffer>(b) != Buffer::accumulator)
        hit(fmt::format("load to {}", name(static_cast<Buffer>(b))),
            c.buffer == static_cast<Buffer>(b));
    hit("load from shared", shared(c.tensor));
    from_region(c);
    hit("load of several runs", c.walk.runs() > 1);
    hit("load transposed", c.transposed > 0);
    hit("load transposed to output", c.transposed > 0 && c.buffer == Buffer::output);
    hit("load gathered", c.gather.has_value());
    hit("load gathered to parameter", c.gather && c.buffer == Buffer::parameter);
  }
  void from_region(const LoadCommand& c) {
    const bool is = region(c.tensor);
    const auto to = static_cast<size_t>(c.buffer);
    if (is) ++loads_from_region_[to];
    hit("load from a region", is);
    for (size_t b = 0; b < kBuffers; ++b)
      if (static_cast<Buffer>(b) != Buffer::accumulator)
        hit(fmt::format("load from a region to {}", name(static_cast<Buffer>(b))), is && b == to);
    hit("load from a region in dram", is && !shared(c.tensor));
    hit("load from a region of several runs", is && c.walk.runs() > 1);
    hit("load from a region transposed", is && c.transposed > 0);
    hit("load from a region gathered", is && c.gather);
    hit("load from a region, not the slot's first", is && loads_from_region_[to] > 1);
  }
  void add(const GemmCommand& c) {
    hit("gemm", true);
    hit("gemm of packed groups", c.weights.groups > 1);
    hit("gemm of 4-bit weights", c.weights.bits == 4);
    hit("gemm of an odd row of 4-bit weights",
        c.weights.bits == 4 && (dataflow_ == Dataflow::input_stationary ? c.k : c.n) % 2 == 1);
    hit("gemm with padding", c.window.pad_value != 0);
    hit("gemm of several kernel lines", c.window.line > 0 && c.k > c.window.line);
    hit("gemm of several output lines", c.window.count[1] > 1);
    hit("gemm of a part of its window", c.m < c.window.positions());
  }
  void add(const DrainCommand&) { hit("drain", true); }
  void add(const PostCommand& c) {
    hit("post", true);
    hit("post transposed", c.transposed);
    hit("post relu", c.relu);
    hit("post table", c.table);
    hit("post of groups", c.groups > 1);
    hit("post of groups transposed", c.groups > 1 && c.transposed);
    hit("post of groups and residual", c.groups > 1 && c.residual);
    hit("post residual", c.residual.has_value());
    hit("post table and residual", c.table && c.residual);
    hit("post residual beyond int8", c.residual && !c.table && (c.low < -128 || c.high > 127));
  }
  void add(const SetTableCommand& c) {
    hit("table of post", c.unit == Queue::post);
    hit("table of vector", c.unit == Queue::vector);
  }
  void add(const LaneCommand& c) {
    for (size_t i = 0; i < kLaneOps; ++i)
      hit(fmt::format("lane {}", name(static_cast<LaneOp>(i))), c.op == static_cast<LaneOp>(i));
    for (size_t i = 0; i < kTapOps; ++i) {
      const auto op = static_cast<TapOp>(i);
      hit(fmt::format("lane taps: {}", name(op)), c.tap_count() > 1 && c.tap_op == op);
      hit(fmt::format("lane across: {}", name(op)), c.across && c.tap_op == op);
      hit(fmt::format("lane slides: {}", name(op)), c.slide > 0 && c.tap_op == op);
    }
    hit("lane slides by several columns", c.slide > 1);
    hit("lane slides over one row", c.slide > 0 && c.rows[kLaneLevels - 1] == 1);
    hit("lane table", c.table);
    hit("lane b: activation", c.b && c.b->buffer == Buffer::activation);
    hit("lane b: parameter", c.b && c.b->buffer == Buffer::parameter);
    hit("lane b: splat", c.b && c.b->splat);
    hit("lane b: broadcast", c.b && repeats(c.rows, c.b->row_stride));
    hit("lane a: broadcast", repeats(c.rows, c.a.row_stride));
    hit("lane negative stride",
        std::ranges::any_of(c.a.row_stride, [](int64_t s) { return s < 0; }));
  }
  /// Does a level of several rows read the same again?
  static bool repeats(const std::array<int64_t, kLaneLevels>& counts,
                      const std::array<int64_t, kLaneLevels>& strides) {
    for (size_t i = 0; i < kLaneLevels; ++i)
      if (counts[i] > 1 && strides[i] == 0) return true;
    return false;
  }
  void add(const RowCommand& c) {
    for (size_t i = 0; i < kRowOps; ++i)
      hit(std::string(name(static_cast<RowOp>(i))), c.op == static_cast<RowOp>(i));
    hit("softmax with a mask", c.mask.has_value());
    hit("softmax with a logarithm", c.logarithm.has_value());
    hit("rows in pieces", c.pieces > 1);
    hit("rows with elements of one channel", c.per_channel > 1);
    hit("rows by the dozen", c.row_count() > 12);
    hit("rows that aren't all int8", c.low > INT8_MIN || c.high < INT8_MAX);
    hit("row of one element", c.length() == 1);
    hit("row of more than 100 elements", c.length() > 100);
  }
  void add(const VectorCommand&) { hit("vector operations", true); }
  void add(const StoreCommand& c) {
    hit("store", true);
    hit("store to shared", shared(c.tensor));
    hit("store to a region", region(c.tensor));
    hit("store to a region of several runs", region(c.tensor) && c.walk.runs() > 1);
    hit("store of several runs", c.walk.runs() > 1);
  }

  void add(const StageCommand& c) {
    hit("stage from dram", !shared(c.from));
    hit("stage to dram", shared(c.from));
    hit("stage of several runs", c.walk.runs() > 1);
    hit("stage to a region", region(c.to));
    hit("stage from a region", region(c.from));
    hit("stage to a region in dram", region(c.to) && shared(c.from));
    hit("stage from a region in dram", region(c.from) && !shared(c.from));
    const bool both = region(c.from) && region(c.to);
    hit("stage from region to region in dram", both && shared(c.from));
    hit("stage from region to region in shared", both && !shared(c.from));
  }

  const Program& program_;
  Coverage& to_;
  Dataflow dataflow_;  ///< of the layer
  int64_t times_ = 1;
  std::array<int64_t, kBuffers> loads_from_region_{};  ///< into the slot that is being filled
};

}  // namespace

void add_coverage(const Program& program, Coverage& to) { Walker(program, to).run(); }

}  // namespace accsim::hw
