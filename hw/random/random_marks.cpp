#include "hw/random/random_marks.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "hw/random/draw.h"
#include "hw/random/random_regions.h"

namespace accsim::hw {
namespace {

class Copies {
 public:
  Copies(const HwConfig& hw, std::mt19937& random) : hw_(hw), random_(random) {}

  ProgramWithImage draw_copies(Dataflow dataflow) {
    out_.program.name = "random marks";
    out_.program.dataflow = dataflow;
    add_tensors(MemoryId::dram);
    if (hw_.memory(MemoryId::shared).bytes >= kTensorsOfMemory * kBytes)
      add_tensors(MemoryId::shared);
    uses_.resize(out_.program.tensors.size());
    written_.resize(out_.program.tensors.size());
    for (int64_t steps = draw_number(random_, 8, 30); steps > 0; --steps) draw_step();
    while (!filled_.empty()) store_slot();
    return std::move(out_);
  }

 private:
  static constexpr int64_t kBytes = 1024;  ///< of a tensor, before it is written beyond its end
  static constexpr int64_t kTensorsOfMemory = 3;
  static constexpr std::array kMovers{Queue::load, Queue::store, Queue::stage};

  /// The steps, counted from 1, of the last command of each queue on a tensor, of the last one with
  /// a mark behind it, and of each queue those of the others' that it has waited for.
  struct Uses {
    using ByQueue = PerQueue<int64_t>;
    ByQueue reads{}, writes{}, marked{};
    PerQueue<ByQueue> seen{};
  };

  bool one_in(int64_t n) { return draw_number(random_, 1, n) == 1; }

  void add_tensors(MemoryId memory) {
    for (int64_t i = draw_number(random_, 2, kTensorsOfMemory); i > 0; --i) {
      out_.program.tensors.push_back({"copied", memory, kBytes});
      std::vector<uint8_t>& image = out_.image.emplace_back(static_cast<size_t>(kBytes));
      for (uint8_t& b : image) b = static_cast<uint8_t>(random_());
    }
  }
  int any_tensor() {
    return static_cast<int>(draw_number(random_, 0, std::ssize(out_.program.tensors) - 1));
  }
  MemoryId memory_of(int tensor) const {
    return out_.program.tensors[static_cast<size_t>(tensor)].memory;
  }
  int64_t memory_latency(MemoryId m) const { return hw_.memory(m).channel.latency; }

  void draw_step() {
    const bool staged = memory_of(0) != memory_of(static_cast<int>(uses_.size()) - 1);
    const int64_t kind = draw_number(random_, 0, staged ? 6 : 4);
    const bool room = std::ssize(filled_) < hw_.buffer(Buffer::output).slots;
    if (kind > 4)
      stage_tensor();
    else if (room && (kind < 3 || filled_.empty()))
      fill_slot();
    else
      store_slot();
  }

  // ---- order ----------------------------------------------------------------------------------

  /// What other queues do with the tensor before this command is over when it begins.
  void wait_for_others(Queue q, int tensor, bool writes) {
    Uses& uses = uses_[static_cast<size_t>(tensor)];
    bool waits = one_in(8);
    for (const Queue other : kMovers) {
      int64_t last = other == q && writes ? 0 : uses.writes[other];
      if (writes && other != q) last = std::max(last, uses.reads[other]);
      if (last <= uses.seen[q][other]) continue;
      if (last > uses.marked[other]) add_mark(other, tensor);
      waits = true;
    }
    if (waits) {
      out_.program.body.push_back({Mark{true, q, tensor}});
      uses.seen[q] = uses.marked;
    }
    (writes ? uses.writes : uses.reads)[q] = ++now_;
  }

  void add_mark(Queue q, int tensor) {
    out_.program.body.push_back({Mark{false, q, tensor}});
    uses_[static_cast<size_t>(tensor)].marked[q] = now_;
  }

  /// Marks stand behind half of the commands at once, behind others when one is needed.
  void perhaps_mark(Queue q, int tensor) {
    if (one_in(2)) add_mark(q, tensor);
  }
  /// Stores to a faster memory may be done before those in front of them: these get their marks.
  void mark_before_store_to(MemoryId faster) {
    for (size_t t = 0; t < uses_.size(); ++t) {
      const auto tensor = static_cast<int>(t);
      const bool open = uses_[t].writes[Queue::store] > uses_[t].marked[Queue::store];
      if (open && memory_latency(memory_of(tensor)) > memory_latency(faster))
        add_mark(Queue::store, tensor);
    }
  }

  // ---- commands -------------------------------------------------------------------------------

  void add_sync(SyncKind kind, Queue q) {
    out_.program.body.push_back({Sync{kind, q, Buffer::output}});
  }

  /// A walk of so many bytes; returns how many it reaches over, at most kBytes.
  int64_t draw_walk(Walk& walk, int64_t bytes, bool apart) {
    int64_t runs = one_in(2) ? 1 : draw_number(random_, 1, std::min<int64_t>(bytes, 12));
    while (bytes % runs != 0) --runs;
    walk.run = bytes / runs;
    if (runs > 1) walk.levels.push_back({runs, walk.run + draw_number(random_, 0, 9)});
    return fit_walk(walk, kBytes, apart);
  }
  /// A place for so many bytes that are read: some of the first ones, which are written first.
  Affine draw_source(int64_t reach) { return draw_number(random_, 0, kBytes - reach); }
  /// And for those that are written: each byte once.
  Affine claim_target(int tensor, int64_t reach) {
    int64_t& written = written_[static_cast<size_t>(tensor)];
    const int64_t at = std::exchange(written, written + reach);
    std::vector<uint8_t>& image = out_.image[static_cast<size_t>(tensor)];
    while (std::ssize(image) < written) image.push_back(static_cast<uint8_t>(random_()));
    out_.program.tensors[static_cast<size_t>(tensor)].bytes = std::ssize(image);
    return at;
  }

  void fill_slot() {
    const int64_t most = std::min(hw_.buffer(Buffer::output).slot_bytes(), kBytes);
    const int64_t bytes = draw_number(random_, 1, one_in(2) ? std::min<int64_t>(most, 40) : most);
    add_sync(SyncKind::wait_free, Queue::load);
    for (int64_t from = 0; from < bytes;) {
      const int64_t left = bytes - from;
      const int64_t size = one_in(4) ? left : draw_number(random_, 1, std::min<int64_t>(left, 40));
      LoadCommand c;
      c.buffer = Buffer::output;
      c.tensor = any_tensor();
      c.slot_offset = Affine(from);
      c.source = draw_source(draw_walk(c.walk, size, false));
      wait_for_others(Queue::load, c.tensor, false);
      const int tensor = c.tensor;
      out_.program.body.push_back({Command{std::move(c)}});
      perhaps_mark(Queue::load, tensor);
      from += size;
    }
    add_sync(SyncKind::signal_full, Queue::load);
    filled_.push_back(bytes);
  }

  void store_slot() {
    const int64_t bytes = filled_.front();
    filled_.pop_front();
    add_sync(SyncKind::wait_full, Queue::store);
    for (int64_t from = 0, left = draw_number(random_, 1, 14); from < bytes; --left) {
      const int64_t most = bytes - from;
      const int64_t size = left <= 1 ? most : draw_number(random_, 1, std::min<int64_t>(most, 8));
      StoreCommand c;
      c.tensor = any_tensor();
      c.slot_offset = Affine(from);
      c.target = claim_target(c.tensor, draw_walk(c.walk, size, true));
      mark_before_store_to(memory_of(c.tensor));
      wait_for_others(Queue::store, c.tensor, true);
      const int tensor = c.tensor;
      out_.program.body.push_back({Command{std::move(c)}});
      perhaps_mark(Queue::store, tensor);
      from += size;
    }
    add_sync(SyncKind::signal_free, Queue::store);
  }

  void stage_tensor() {
    StageCommand c;
    c.from = c.to = any_tensor();
    while (memory_of(c.to) == memory_of(c.from)) c.to = any_tensor();
    const int64_t bytes = draw_number(random_, 1, one_in(2) ? 40 : kBytes);
    const bool in = memory_of(c.from) == MemoryId::dram;
    const int64_t reach = draw_walk(c.walk, bytes, !in);
    c.source = draw_source(in ? reach : bytes);
    c.target = claim_target(c.to, in ? bytes : reach);
    wait_for_others(Queue::stage, c.from, false);
    wait_for_others(Queue::stage, c.to, true);
    const int from = c.from, to = c.to;
    out_.program.body.push_back({Command{std::move(c)}});
    perhaps_mark(Queue::stage, from);
    perhaps_mark(Queue::stage, to);
  }

  const HwConfig& hw_;
  std::mt19937& random_;
  ProgramWithImage out_;
  std::vector<Uses> uses_;        ///< by tensor
  std::vector<int64_t> written_;  ///< bytes so far, by tensor
  std::deque<int64_t> filled_;    ///< bytes of the output slots that wait to be stored
  int64_t now_ = 0;               ///< commands so far
};

}  // namespace

ProgramWithImage random_marks(const HwConfig& hw, Dataflow dataflow, std::mt19937& random) {
  return Copies(hw, random).draw_copies(dataflow);
}

}  // namespace accsim::hw
