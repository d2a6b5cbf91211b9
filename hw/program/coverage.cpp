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

  void cover_program() {
    for (size_t d = 0; d < kDataflows; ++d)
      add_hit(fmt::format("dataflow {}", name(static_cast<Dataflow>(d))),
              static_cast<Dataflow>(d) == dataflow_);
    add_empty_entries();
    cover_body();
  }

 private:
  void add_hit(const std::string& what, bool is) { to_[what] += is ? times_ : 0; }

  /// An entry for every kind of command, whether or not there are any.
  void add_empty_entries() {
    const int64_t times = std::exchange(times_, 0);
    cover_item(LoadCommand{});
    cover_item(GemmCommand{});
    cover_item(DrainCommand{});
    cover_item(PostCommand{});
    cover_item(SetTableCommand{});
    cover_item(LaneCommand{});
    cover_item(RowCommand{});
    cover_item(StoreCommand{});
    cover_item(StageCommand{});
    for (const MemoryId m : MemoryId::all()) cover_item(Mark{}, m);
    add_hit("layer of another dataflow", true);
    times_ = times;
    loads_from_region_ = {};
  }

  void cover_body() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      times_ *= l.count;
      inner();
      times_ /= l.count;
    };
    const auto command = [this](const Command& c) {
      std::visit([this](const auto& kind) { this->cover_item(kind); }, c);
    };
    const auto head = [this](const LayerHead& h) {
      add_hit("layer of another dataflow", h.dataflow != dataflow_);
      dataflow_ = h.dataflow;
    };
    const auto mark = [this](const Mark& m) {
      cover_item(m, is_shared(m.tensor) ? MemoryId::shared : MemoryId::dram);
    };
    const auto sync = [this](const Sync& s) {
      if (s.kind == SyncKind::wait_free && s.queue == Queue::load)
        loads_from_region_[static_cast<size_t>(s.buffer)] = 0;
    };
    visit_nest(program_.body, Overloaded{loop, command, head, mark, sync});
  }

  void cover_item(const Mark& m, MemoryId memory) {
    for (const Queue q : {Queue::load, Queue::store, Queue::stage})
      for (const bool waits : {false, true})
        add_hit(
            fmt::format("{} {} in {}", name(q), waits ? "wait for marks" : "mark", name(memory)),
            m.queue == q && m.waits == waits);
  }

  bool is_shared(int tensor) const {
    const auto i = static_cast<size_t>(tensor);
    return i < program_.tensors.size() && program_.tensors[i].memory == MemoryId::shared;
  }

  bool is_region(int tensor) const {
    const auto i = static_cast<size_t>(tensor);
    return i < program_.tensors.size() && program_.tensors[i].slots > 0;
  }

  void cover_item(const LoadCommand& c) {
    for (size_t b = 0; b < kBuffers; ++b)
      if (static_cast<Buffer>(b) != Buffer::accumulator)
        add_hit(fmt::format("load to {}", name(static_cast<Buffer>(b))),
                c.buffer == static_cast<Buffer>(b));
    add_hit("load from shared", is_shared(c.tensor));
    from_region(c);
    add_hit("load of several runs", c.walk.run_count() > 1);
    add_hit("load transposed", c.transposed > 0);
    add_hit("load transposed to output", c.transposed > 0 && c.buffer == Buffer::output);
    add_hit("load gathered", c.gather.has_value());
    add_hit("load gathered to parameter", c.gather && c.buffer == Buffer::parameter);
  }
  void from_region(const LoadCommand& c) {
    const bool is = is_region(c.tensor);
    const auto to = static_cast<size_t>(c.buffer);
    if (is) ++loads_from_region_[to];
    add_hit("load from a region", is);
    for (size_t b = 0; b < kBuffers; ++b)
      if (static_cast<Buffer>(b) != Buffer::accumulator)
        add_hit(fmt::format("load from a region to {}", name(static_cast<Buffer>(b))),
                is && b == to);
    add_hit("load from a region in dram", is && !is_shared(c.tensor));
    add_hit("load from a region of several runs", is && c.walk.run_count() > 1);
    add_hit("load from a region transposed", is && c.transposed > 0);
    add_hit("load from a region gathered", is && c.gather);
    add_hit("load from a region, not the slot's first", is && loads_from_region_[to] > 1);
  }
  void cover_item(const GemmCommand& c) {
    add_hit("gemm", true);
    add_hit("gemm of packed groups", c.weights.groups > 1);
    add_hit("gemm of 4-bit weights", c.weights.encoding.is_packed());
    add_hit("gemm of an odd row of 4-bit weights",
            c.weights.encoding.is_packed() &&
                (dataflow_ == Dataflow::input_stationary ? c.k : c.n) % 2 == 1);
    add_hit("gemm with padding", c.window.pad_value != 0);
    add_hit("gemm of several kernel lines", c.window.line > 0 && c.k > c.window.line);
    add_hit("gemm of several output lines", c.window.count[1] > 1);
    add_hit("gemm of a part of its window", c.m < c.window.position_count());
  }
  void cover_item(const DrainCommand&) { add_hit("drain", true); }
  void cover_item(const PostCommand& c) {
    add_hit("post", true);
    add_hit("post transposed", c.transposed);
    add_hit("post relu", c.epilogue.relu);
    add_hit("post table", c.epilogue.table);
    add_hit("post of groups", c.groups > 1);
    add_hit("post of groups transposed", c.groups > 1 && c.transposed);
    add_hit("post of groups and residual", c.groups > 1 && c.epilogue.residual);
    add_hit("post residual", c.epilogue.residual.has_value());
    add_hit("post table and residual", c.epilogue.table && c.epilogue.residual);
    add_hit("post residual beyond int8", c.epilogue.low < INT8_MIN || c.epilogue.high > INT8_MAX);
  }
  void cover_item(const SetTableCommand& c) {
    add_hit("table of post", c.unit == Queue::post);
    add_hit("table of vector", c.unit == Queue::vector);
  }
  void cover_item(const LaneCommand& c) {
    for (size_t i = 0; i < kLaneOps; ++i)
      add_hit(fmt::format("lane {}", kLaneOpRows[i].name), c.op == static_cast<LaneOp>(i));
    for (size_t i = 0; i < kTapOps; ++i) {
      const auto op = static_cast<TapOp>(i);
      add_hit(fmt::format("lane taps: {}", name(op)), c.tap_count() > 1 && c.tap_op == op);
      add_hit(fmt::format("lane across: {}", name(op)), c.across && c.tap_op == op);
      add_hit(fmt::format("lane slides: {}", name(op)), c.slide > 0 && c.tap_op == op);
    }
    add_hit("lane weighs one tap", c.weighs() && c.tap_count() == 1);
    add_hit("lane weighs taps", c.weighs() && c.tap_count() > 1);
    add_hit("lane slides by several columns", c.slide > 1);
    add_hit("lane slides over one row", c.slide > 0 && c.rows[kLaneLevels - 1] == 1);
    add_hit("lane table", c.epilogue.table);
    add_hit("lane b: activation", c.b && c.b->buffer == Buffer::activation);
    add_hit("lane b: parameter", c.b && c.b->buffer == Buffer::parameter);
    add_hit("lane b: splat", c.b && c.b->splat);
    add_hit("lane b: broadcast", c.b && has_broadcast(c.rows, c.b->row_stride));
    add_hit("lane a: broadcast", has_broadcast(c.rows, c.a.row_stride));
    add_hit("lane negative stride",
            std::ranges::any_of(c.a.row_stride, [](int64_t s) { return s < 0; }));
  }
  /// Does a level of several rows read the same again?
  static bool has_broadcast(const std::array<int64_t, kLaneLevels>& counts,
                            const std::array<int64_t, kLaneLevels>& strides) {
    for (size_t i = 0; i < kLaneLevels; ++i)
      if (counts[i] > 1 && strides[i] == 0) return true;
    return false;
  }
  void cover_item(const RowCommand& c) {
    for (size_t i = 0; i < kRowOps; ++i)
      add_hit(std::string(name(static_cast<RowOp>(i))), c.op == static_cast<RowOp>(i));
    add_hit("softmax with a mask", c.mask.has_value());
    add_hit("softmax with a logarithm", c.logarithm.has_value());
    add_hit("rows in pieces", c.pieces > 1);
    add_hit("rows with elements of one channel", c.per_channel > 1);
    add_hit("rows by the dozen", c.row_count() > 12);
    add_hit("rows that aren't all int8", c.epilogue.low > INT8_MIN || c.epilogue.high < INT8_MAX);
    add_hit("row of one element", c.length() == 1);
    add_hit("row of more than 100 elements", c.length() > 100);
  }
  void cover_item(const VectorCommand&) { add_hit("vector operations", true); }
  void cover_item(const StoreCommand& c) {
    add_hit("store", true);
    add_hit("store to shared", is_shared(c.tensor));
    add_hit("store to a region", is_region(c.tensor));
    add_hit("store to a region of several runs", is_region(c.tensor) && c.walk.run_count() > 1);
    add_hit("store of several runs", c.walk.run_count() > 1);
  }

  void cover_item(const StageCommand& c) {
    add_hit("stage from dram", !is_shared(c.from));
    add_hit("stage to dram", is_shared(c.from));
    add_hit("stage of several runs", c.walk.run_count() > 1);
    add_hit("stage to a region", is_region(c.to));
    add_hit("stage from a region", is_region(c.from));
    add_hit("stage to a region in dram", is_region(c.to) && is_shared(c.from));
    add_hit("stage from a region in dram", is_region(c.from) && !is_shared(c.from));
    const bool both = is_region(c.from) && is_region(c.to);
    add_hit("stage from region to region in dram", both && is_shared(c.from));
    add_hit("stage from region to region in shared", both && !is_shared(c.from));
  }

  const Program& program_;
  Coverage& to_;
  Dataflow dataflow_;  ///< of the layer
  int64_t times_ = 1;
  std::array<int64_t, kBuffers> loads_from_region_{};  ///< into the slot that is being filled
};

}  // namespace

void add_coverage(const Program& program, Coverage& to) { Walker(program, to).cover_program(); }

}  // namespace accsim::hw
