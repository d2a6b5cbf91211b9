#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "hw/program/contract.h"
#include "hw/program/program.h"

namespace accsim::hw {
namespace {

/// Elements of one result of a LaneCommand: their sum stays within 32 bits.
constexpr int64_t kMostTaps = int64_t{1} << 20;

/// Inclusive range of an affine value over all iterations.
struct Range {
  int64_t low, high;
};

/// Walks the nest once for addresses and, for tokens, runs every body twice: a body that leaves the
/// tokens as it found them in its second run does so in every run.
class Verifier {
 public:
  Verifier(const Program& program, const HwConfig& hw)
      : program_(program), hw_(hw), dataflow_(program.dataflow), regions_(region_numbers(program)) {
    counts_.assign(static_cast<size_t>(program.loops), 0);
    for (size_t b = 0; b < kBuffers; ++b) slots_[b] = hw.buffers[b].slots;
  }

  Status run() {
    tensors();
    free_ = slots_;
    if (errors_.empty()) visit(program_.body);
    for (size_t p = 0; p < kPlaces && errors_.empty(); ++p)
      if (free_[p] != slots_[p])
        fail(fmt::format("{} of {} {} slots are free at the end", free_[p], slots_[p], place(p)));
    for (size_t q = 0; q < kQueues && errors_.empty(); ++q)
      if (!awaited_[q].empty())
        fail(fmt::format("the {} queue waits for '{}' and does nothing with it",
                         name(static_cast<Queue>(q)), region(*awaited_[q].begin())));
    if (errors_.empty()) return ok();
    return errors_;
  }

 private:
  /// What has tokens: the buffers, then the regions.
  static constexpr size_t kPlaces = kBuffers + kMostRegions;
  using Tokens = std::array<int64_t, kPlaces>;

  const std::string& region(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].name;
  }
  std::string place(size_t p) const {
    if (p < kBuffers) return std::string(name(static_cast<Buffer>(p)));
    const auto at = std::ranges::find(regions_, static_cast<int>(p - kBuffers));
    return fmt::format("region '{}'", region(static_cast<int>(at - regions_.begin())));
  }
  size_t place(const Sync& s) const {
    return s.region < 0 ? static_cast<size_t>(s.buffer) : place_of_region(s.region);
  }
  size_t place_of_region(int tensor) const {
    return kBuffers + static_cast<size_t>(regions_[static_cast<size_t>(tensor)]);
  }

  void tensors() {
    int64_t shared = 0;
    const auto regions = std::ranges::count_if(regions_, [](int r) { return r >= 0; });
    if (regions > static_cast<int64_t>(kMostRegions))
      return fail(fmt::format("{} regions; at most {}", regions, kMostRegions));
    for (size_t i = 0; i < regions_.size(); ++i) {
      const ProgramTensor& t = program_.tensors[i];
      if (t.memory == Memory::shared) shared += t.bytes;
      if (t.slots < 0 || t.slots > kMostRegionSlots || (t.slots > 0 && t.bytes % t.slots != 0))
        return fail(fmt::format("region '{}' has {} bytes in {} slots", t.name, t.bytes, t.slots));
      if (t.slots > 0) slots_[place_of_region(static_cast<int>(i))] = t.slots;
    }
    if (shared > hw_.shared.kib * 1024)
      fail(fmt::format("tensors of {} bytes in a shared buffer of {} KiB", shared, hw_.shared.kib));
  }

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
      else if (const auto* mark = std::get_if<Mark>(&item.node))
        visit_mark(*mark);
      else if (const auto* head = std::get_if<LayerHead>(&item.node))
        begin(*head);
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
      const int64_t primed = primed_;
      visit(loop.body);
      if (errors_.empty() && (primed != primed_ || full != full_ || free != free_ ||
                              held != held_ || filled != filling_))
        fail(fmt::format("loop '{}' doesn't keep its tokens balanced", loop.name));
    }
    counts_[static_cast<size_t>(loop.id)] = 0;
    nest_.pop_back();
  }

  /// An array is built for sums that stay, or for operands that do.
  void begin(const LayerHead& head) {
    if (!nest_.empty()) return fail(fmt::format("layer '{}' begins in a loop", head.name));
    const auto stays = [](Dataflow d) { return d == Dataflow::output_stationary; };
    if (stays(head.dataflow) != stays(program_.dataflow))
      return fail(fmt::format("layer '{}' is {}, the program {}", head.name, name(head.dataflow),
                              name(program_.dataflow)));
    dataflow_ = head.dataflow;
  }

  void visit_mark(const Mark& m) {
    const auto says = [&] { return m.waits ? "wait for marks" : "mark"; };
    const ProgramTensor* t = tensor(m.tensor);
    if (!t) return;
    if (m.queue != Queue::load && m.queue != Queue::store && m.queue != Queue::stage)
      return fail(fmt::format("{} of the {} queue", says(), name(m.queue)));
    if (t->slots > 0) return fail(fmt::format("{} on '{}', which is a region", says(), t->name));
    if (m.waits) return;
    if (!nest_.empty()) return fail(fmt::format("mark on '{}' in a loop", t->name));
    const std::set<int>& used = used_[static_cast<size_t>(m.queue)];
    if (used.empty())
      return fail(
          fmt::format("mark on '{}' before any command of the {} queue", t->name, name(m.queue)));
    // The command before the mark is the last to be done, unless its memory is the faster one.
    const auto latency = [this](Memory at) {
      return at == Memory::dram ? hw_.dram.latency : hw_.shared.channel.latency;
    };
    const ProgramTensor& last = program_.tensors[static_cast<size_t>(*used.begin())];
    if (m.queue == Queue::store && latency(last.memory) < latency(t->memory))
      fail(fmt::format("mark on '{}' in {}: the command before it may be done earlier in {}",
                       t->name, name(t->memory), name(last.memory)));
  }

  /// The rules of a region's tokens that a buffer's don't have.
  void region_sync(const Sync& s) {
    const auto i = static_cast<size_t>(s.region);
    if (i >= regions_.size() || regions_[i] < 0)
      return fail(fmt::format("{} on tensor {}, which isn't a region", name(s.kind), s.region));
    if (s.kind == SyncKind::signal_primed || s.kind == SyncKind::wait_primed)
      return fail(fmt::format("{} on region '{}'", name(s.kind), region(s.region)));
    const bool fills = s.kind == SyncKind::wait_free || s.kind == SyncKind::signal_full;
    if (s.queue != Queue::stage && s.queue != (fills ? Queue::store : Queue::load))
      return fail(fmt::format("{} on region '{}' by the {} queue", name(s.kind), region(s.region),
                              name(s.queue)));
    std::optional<Queue>& user =
        (fills ? region_fillers_ : region_readers_)[static_cast<size_t>(regions_[i])];
    if (user.value_or(s.queue) != s.queue)
      return fail(fmt::format("region '{}' is {} by the {} and the {} queue", region(s.region),
                              fills ? "filled" : "read", name(*user), name(s.queue)));
    user = s.queue;
    const auto q = static_cast<size_t>(s.queue);
    if (is_wait(s.kind))
      awaited_[q].insert(s.region);
    else if (!used_[q].contains(s.region))
      fail(fmt::format("{} on region '{}': the {} queue's last command doesn't use it",
                       name(s.kind), region(s.region), name(s.queue)));
  }

  /// A command of a queue uses tensors: what was waited for is among them.
  void uses(Queue queue, std::initializer_list<int> used) {
    const auto q = static_cast<size_t>(queue);
    used_[q] = used;
    for (const int r : awaited_[q])
      if (!used_[q].contains(r))
        fail(fmt::format("the {} queue waits for region '{}', its next command doesn't use it",
                         name(queue), region(r)));
    awaited_[q].clear();
  }

  void visit_sync(const Sync& s) {
    if (s.region >= 0) {
      region_sync(s);
      if (!errors_.empty()) return;
    } else if (s.queue == Queue::stage) {
      return fail(fmt::format("{} on {} by the stage queue", name(s.kind), name(s.buffer)));
    }
    const size_t b = place(s);
    const bool output = s.region < 0 && s.buffer == Buffer::output;
    const bool primes = s.kind == SyncKind::signal_primed || s.kind == SyncKind::wait_primed;
    if (primes && !output)
      return fail(fmt::format("{} on {}: only output slots are primed", name(s.kind), place(b)));
    if (s.kind == SyncKind::wait_free && primed_ > 0 && output && s.queue != Queue::load)
      return fail(fmt::format("{} on {}: the slots before it are primed and have no results yet",
                              name(s.kind), place(b)));
    if (s.kind == SyncKind::signal_full && primed_ > 0 && s.queue == Queue::load && output)
      return fail("signal_full on output: the slots before it are primed and have no results yet");
    if ((s.kind == SyncKind::signal_primed && s.queue != Queue::load) ||
        (s.kind == SyncKind::wait_primed && s.queue != Queue::post))
      return fail(fmt::format("{} of the {} queue", name(s.kind), name(s.queue)));
    const bool fills = s.kind != SyncKind::wait_full && s.kind != SyncKind::signal_free;
    if (!fills && s.region < 0 && s.queue == Queue::load && s.buffer != Buffer::parameter)
      return fail(fmt::format("{} on {} by the load queue: it reads parameter slots only",
                              name(s.kind), name(s.buffer)));
    Queue& user = (fills ? filler_ : holder_)[b];
    if (is_wait(s.kind))
      user = s.queue;
    else if ((fills ? filling_ : held_)[b] > 0 && user != s.queue)
      return fail(fmt::format("{} on {} by the {} queue: the slot is the {} queue's", name(s.kind),
                              place(b), name(s.queue), name(user)));
    const auto take = [&](int64_t& from, int64_t& to) {
      if (from <= 0)
        return fail(fmt::format("{} on {}: no token can be there", name(s.kind), place(b)));
      --from;
      ++to;
    };
    switch (s.kind) {
      case SyncKind::wait_free:
        take(free_[b], filling_[b]);
        break;
      case SyncKind::signal_full:
        take(filling_[b], full_[b]);
        if (output) adds_ = false;
        break;
      case SyncKind::wait_full:
        take(full_[b], held_[b]);
        break;
      case SyncKind::signal_free:
        take(held_[b], free_[b]);
        break;
      case SyncKind::signal_primed:
        take(filling_[b], primed_);
        break;
      case SyncKind::wait_primed:
        take(primed_, filling_[b]);
        adds_ = true;
        break;
    }
    if (filling_[b] > 1 || held_[b] > 1)
      fail(fmt::format("{} on {}: a queue can use one slot at a time", name(s.kind), place(b)));
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

  void held(Buffer b, Queue q, std::string_view what) {
    if (held_[static_cast<size_t>(b)] != 1 || holder_[static_cast<size_t>(b)] != q)
      fail(fmt::format("{} reads {} without a full slot", what, name(b)));
  }
  void filling(Buffer b, Queue q, std::string_view what) {
    if (filling_[static_cast<size_t>(b)] != 1 || filler_[static_cast<size_t>(b)] != q)
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

  /// Bytes that a command of a queue can reach in a tensor: of a region, those of the slot that it
  /// fills or reads.
  int64_t reachable(int index, const ProgramTensor& t, Queue q, bool fills, std::string_view what) {
    if (t.slots == 0) return t.bytes;
    const size_t p = place_of_region(index);
    if ((fills ? filling_ : held_)[p] != 1 || (fills ? filler_ : holder_)[p] != q)
      fail(fmt::format("{} {} region '{}' without a {} slot", what, fills ? "writes" : "reads",
                       t.name, fills ? "free" : "full"));
    return t.slot_bytes();
  }

  void address(const LoadCommand& c) {
    filling(c.buffer, Queue::load, "load");
    if (c.walk.bytes() <= 0) return fail("load of nothing");
    within(c.slot_offset, c.walk.bytes(), slot(c.buffer),
           fmt::format("load into {}", name(c.buffer)));
    const ProgramTensor* t = tensor(c.tensor);
    if (!t) return;
    if (c.transposed != 0) transposed(c);
    uses(Queue::load, {c.tensor});
    const int64_t bytes = reachable(c.tensor, *t, Queue::load, false, "load");
    if (c.gather) return gathered(c, *c.gather, *t, bytes);
    if (c.padded && t->slots > 0) return fail("padded load from region '" + t->name + "'");
    if (c.padded) return padded(c, *c.padded, *t);
    within(c.source, extent(c.walk), bytes, "load from '" + t->name + "'");
  }

  void transposed(const LoadCommand& c) {
    if (c.transposed < 0 || c.padded || c.walk.levels.empty() || c.walk.run % c.transposed != 0)
      return fail(fmt::format("transposed load of {}-byte elements in runs of {} bytes",
                              c.transposed, c.walk.run));
    if (c.buffer == Buffer::accumulator || c.buffer == Buffer::parameter)
      return fail(fmt::format("transposed load into {}", name(c.buffer)));
    const int64_t width = hw_.buffer(c.buffer).width;
    if (c.transposed > width)
      fail(fmt::format("transposed load of {}-byte elements through a port of {} bytes",
                       c.transposed, width));
  }

  /// `bytes`: that it can reach in the tensor.
  void gathered(const LoadCommand& c, const Gather& g, const ProgramTensor& t, int64_t bytes) {
    held(Buffer::parameter, Queue::load, "gathered load");
    if (c.padded || c.transposed != 0) return fail("a gathered load that is padded or transposed");
    if (c.walk.levels.empty() || c.walk.levels[0].stride != 0)
      return fail("a gathered load's outermost level has no stride: indices say where items lie");
    constexpr int64_t kWord = int64_t{1} << 32;
    between(g.limit, 1, kWord, "limit of the indices");
    between(g.pitch, 0, kWord - 1, "pitch of the rows that indices name");
    if (!errors_.empty()) return;
    within(g.index_offset, c.walk.levels[0].count * Gather::kIndexBytes, slot(Buffer::parameter),
           "indices");
    if (g.pitch > 0 && g.limit - 1 > bytes / g.pitch)
      return fail(fmt::format("gathered load of row {}, {} bytes apart, from '{}' of {} bytes",
                              g.limit - 1, g.pitch, t.name, bytes));
    within(c.source, (g.limit - 1) * g.pitch + extent(c.walk), bytes,
           "gathered load from '" + t.name + "'");
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
    held(Buffer::output, Queue::store, "store");
    if (c.walk.bytes() <= 0) return fail("store of nothing");
    within(c.slot_offset, c.walk.bytes(), slot(Buffer::output), "store from output");
    const ProgramTensor* t = tensor(c.tensor);
    if (!t) return;
    uses(Queue::store, {c.tensor});
    within(c.target, extent(c.walk), reachable(c.tensor, *t, Queue::store, true, "store"),
           "store to '" + t->name + "'");
  }

  void address(const StageCommand& c) {
    if (c.walk.bytes() <= 0) return fail("stage of nothing");
    const ProgramTensor *from = tensor(c.from), *to = tensor(c.to);
    if (!from || !to) return;
    if (from->memory == to->memory)
      return fail(fmt::format("stage from '{}' to '{}', both in {}", from->name, to->name,
                              from->memory == Memory::dram ? "DRAM" : "the shared buffer"));
    uses(Queue::stage, {c.from, c.to});
    const bool in = from->memory == Memory::dram;
    const int64_t spread = extent(c.walk), dense = c.walk.bytes();
    within(c.source, in ? spread : dense, reachable(c.from, *from, Queue::stage, false, "stage"),
           "stage from '" + from->name + "'");
    within(c.target, in ? dense : spread, reachable(c.to, *to, Queue::stage, true, "stage"),
           "stage to '" + to->name + "'");
  }

  void lanes(int64_t value, int64_t limit, std::string_view what) {
    if (value < 1 || value > limit) fail(fmt::format("{} is {} of {}", what, value, limit));
  }

  void address(const GemmCommand& c) {
    held(Buffer::activation, Queue::execute, "gemm");
    held(Buffer::weight, Queue::execute, "gemm");
    const ArrayConfig& a = hw_.array;
    lanes(c.k, a.rows, "gemm k");
    const Dataflow d = dataflow_;
    lanes(c.n, d == Dataflow::input_stationary ? slot(Buffer::weight) : a.cols, "gemm n");
    lanes(c.m,
          d == Dataflow::weight_stationary  ? hw_.accumulator_rows()
          : d == Dataflow::input_stationary ? a.cols
                                            : a.rows,
          "gemm m");
    window(c.window, c.m);
    const int64_t tile = c.window.tile[0] * c.window.tile[1] * c.window.tile[2] * c.window.pixel;
    within(Affine(0), tile, slot(Buffer::activation), "gemm window");
    weights(c, d == Dataflow::input_stationary);
    if (d == Dataflow::output_stationary) return;
    filling(Buffer::accumulator, Queue::execute, "gemm");
    within(c.accumulator_row, d == Dataflow::weight_stationary ? c.m : c.n, hw_.accumulator_rows(),
           "gemm accumulator rows");
  }

  /// Rows that a window has, and whose positions differ: the core knows the end of a line by where
  /// it is.
  void window(const OperandWindow& w, int64_t m) {
    for (size_t d = 0; d < 3; ++d)
      if (w.count[d] < 1 || (w.count[d] > 1 && w.stride[d] < 1))
        fail(fmt::format("gemm window of {} positions, {} apart", w.count[d], w.stride[d]));
    if (w.pixel < 1) fail(fmt::format("gemm window of {}-byte pixels", w.pixel));
    within(w.first, m, w.positions(), "gemm rows of the window");
  }

  /// `turned`: the slot has a row for every n.
  void weights(const GemmCommand& c, bool turned) {
    const WeightTile& t = c.weights;
    int64_t row = turned ? c.k : c.n;  // elements of the last one, from the offset's column on
    if (t.bits != 8 && t.bits != 4) return fail(fmt::format("gemm weights of {} bits", t.bits));
    if (t.bits == 4 && t.groups > 1 && turned)
      return fail("input stationary packed groups of 4-bit weights");
    if (t.groups > 1) {
      if (t.group_k < 1 || t.group_n < 1 || c.n > t.groups * t.group_n ||
          t.groups * t.group_k > hw_.array.rows || t.groups * t.group_n > hw_.array.cols)
        return fail(fmt::format("gemm n is {}, its weights are {} groups of {}x{}", c.n, t.groups,
                                t.group_k, t.group_n));
      within(t.first_k, 0, INT64_MAX, "gemm weights' first row");
      if (!errors_.empty()) return;
      const int64_t taps = (range(t.first_k).high + c.k - 1) / (t.groups * t.group_k) + 1;
      row = turned ? taps * t.group_k : t.group_n;
    }
    within(t.offset,
           ((turned ? c.n : c.k) - 1) * t.pitch + weight_row_bytes(row, t.bits, hw_.weight_bytes()),
           slot(Buffer::weight), "gemm weights");
  }

  void address(const DrainCommand& c) {
    filling(Buffer::accumulator, Queue::execute, "drain");
    if (dataflow_ != Dataflow::output_stationary)
      fail("drain in a program that isn't output stationary");
    lanes(c.m, hw_.array.rows, "drain m");
    lanes(c.n, hw_.array.cols, "drain n");
    within(c.accumulator_row, c.m, hw_.accumulator_rows(), "drain accumulator rows");
  }

  /// Limits of what is clipped to, within those of an integer type.
  void clip(int32_t low, int32_t high, int32_t most, std::string_view what) {
    if (low > high || low < -most - 1 || high > most)
      fail(fmt::format("{} clips to [{}, {}]", what, low, high));
  }
  void between(int64_t value, int64_t low, int64_t high, std::string_view what) {
    if (value < low || value > high)
      fail(fmt::format("{} is {}, outside [{}, {}]", what, value, low, high));
  }

  void address(const Residual& r) {
    between(r.zero, INT8_MIN, INT8_MAX, "zero point of the residual");
    between(r.multiplier, INT16_MIN, INT16_MAX, "multiplier of the residual");
    between(r.shift, 0, 31, "shift of the residual");
    clip(r.low, r.high, INT8_MAX, "the residual's post");
  }

  void address(const PostCommand& c) {
    held(Buffer::accumulator, Queue::post, "post");
    filling(Buffer::output, Queue::post, "post");
    lanes(c.cols, hw_.array.cols, "post columns");
    clip(c.lowest(), c.high, c.residual && !c.table ? INT16_MAX : INT8_MAX, "post");
    if (c.residual && !adds_) fail("post adds a residual to a slot that wasn't primed");
    if (c.residual) address(*c.residual);
    lanes(c.groups, PostCommand::kMostGroups, "post groups");
    between(c.group_rows, 0, hw_.accumulator_rows(), "post rows of a group");
    if (!errors_.empty()) return;
    within(c.accumulator_row, (c.groups - 1) * c.group_rows + c.rows, hw_.accumulator_rows(),
           "post accumulator rows");
    const int64_t pixels = c.transposed ? c.cols : c.rows, channels = c.channels();
    within(c.slot_offset, (pixels - 1) * c.pitch + channels * hw_.activation_bytes(),
           slot(Buffer::output), "post output");
    if (!c.has_parameters && c.groups > 1) fail("post of several groups without parameters");
    if (!c.has_parameters) return;
    held(Buffer::parameter, Queue::post, "post");
    within(c.parameter_offset, channels * hw_.parameter_bytes(), slot(Buffer::parameter),
           "post parameters");
    if (c.groups > 1)
      within(c.group_offset, (c.groups - 1) * channels * PostCommand::kGroupBytes,
             slot(Buffer::parameter), "post parameters of groups");
  }

  void address(const SetTableCommand& c) {
    if (c.unit != Queue::post && c.unit != Queue::vector)
      return fail(fmt::format("a table of the {} queue", name(c.unit)));
    held(Buffer::parameter, c.unit, "table");
    within(c.parameter_offset, SetTableCommand::kBytes, slot(Buffer::parameter), "table");
  }

  /// Bytes [first, first + sum of (count - 1) * stride + bytes) lie in the slot.
  template <size_t N>
  void strided(Affine first, const std::array<int64_t, N>& counts,
               const std::array<int64_t, N>& strides, int64_t bytes, Buffer b,
               std::string_view what) {
    for (size_t i = 0; i < N; ++i) {
      const int64_t last = (counts[i] - 1) * strides[i];
      if (last < 0) first += Affine(last);
      bytes += std::abs(last);
    }
    within(first, bytes, slot(b), what);
  }

  void operand(const LaneCommand& c, const LaneOperand& o, int64_t taps, std::string_view what) {
    held(o.buffer, Queue::vector, what);
    between(o.zero, INT8_MIN, INT8_MAX, fmt::format("zero point of the {}", what));
    between(o.multiplier, INT16_MIN, INT16_MAX, fmt::format("multiplier of the {}", what));
    strided(o.offset, c.rows, o.row_stride, (o.splat ? 1 : c.run) + taps, o.buffer, what);
  }

  void address(const LaneCommand& c) {
    filling(Buffer::output, Queue::vector, "lane command");
    for (const int64_t n : c.rows) lanes(n, INT32_MAX, "a count of rows");
    for (const int64_t n : c.taps) lanes(n, kMostTaps, "a count of taps");
    lanes(c.run, slot(Buffer::activation), "run");
    if (!errors_.empty()) return;
    lanes(c.tap_count() * (c.across ? c.run : 1), kMostTaps, "elements of one result");
    if (contract::lane_beat(c, hw_) < 1) return fail("two operands through a port of one byte");
    if (c.b.has_value() != (c.op != LaneOp::copy))
      return fail(fmt::format("{} with {} operands", name(c.op), c.b ? 2 : 1));
    if (c.a.buffer != Buffer::activation) return fail("the first operand lies in activation slots");
    if (c.a.splat) return fail("the first operand has a byte for each element");
    if (c.b && c.b->buffer != Buffer::activation && c.b->buffer != Buffer::parameter)
      return fail("the second operand lies in activation or parameter slots");
    if (c.b && c.across && !c.b->splat) return fail("a row across has one second operand");
    between(c.shift, 0, 62, "shift of the lane command");
    between(c.output_zero, INT16_MIN, INT16_MAX, "zero point of the lane command");
    clip(c.low, c.high, INT8_MAX, "lane command");
    Affine first = c.a.offset;
    int64_t reach = 0;
    for (size_t i = 0; i < kTapLevels; ++i) {
      const int64_t last = (c.taps[i] - 1) * c.tap_stride[i];
      if (last < 0) first += Affine(last);
      reach += std::abs(last);
    }
    LaneOperand a = c.a;
    a.offset = std::move(first);
    operand(c, a, reach, "first operand");
    if (c.b) operand(c, *c.b, 0, "second operand");
    strided(c.slot_offset, c.rows, c.out_stride, c.across ? 1 : c.run, Buffer::output,
            "output of the lane command");
  }

  /// The rows of an operand, all pieces of them, in a slot of its buffer.
  void rows(const RowCommand& c, RowOperand o, Buffer b, std::string_view what) {
    const int64_t last = (c.pieces - 1) * o.piece_stride;
    if (last < 0) o.offset += Affine(last);
    strided(std::move(o.offset), c.rows, o.row_stride, c.run + std::abs(last), b, what);
  }

  void constants(const RowCommand& c) {
    between(c.output_zero, INT8_MIN, INT8_MAX, "zero point of the rows");
    if (c.op == RowOp::softmax) {
      between(c.row_multiplier, 0, UINT16_MAX, "multiplier of the rows");
      between(c.mask_multiplier, 0, c.mask ? UINT16_MAX : 0, "multiplier of the mask");
      between(c.difference_shift, 0, 15, "difference shift");
      between(c.numerator, 1 << 30, INT32_MAX, "numerator");
      between(c.exponent, 0, 16, "exponent");
      if (c.low != INT8_MIN || c.high != INT8_MAX) fail("a softmax has all of int8");
      return;
    }
    int bits = 0;  // that the length takes, or its root
    while (int64_t{1} << bits < c.length()) ++bits;
    between(c.unit_bits, 30 - (bits + 1) / 2, 30 - (bits + 1) / 2, "unit bits");
    between(c.input_zero, INT8_MIN, INT8_MAX, "zero point of what is normalised");
    between(c.epsilon, 0, int64_t{1} << 62, "epsilon");
    clip(c.low, c.high, INT8_MAX, name(c.op));
  }

  void address(const RowCommand& c) {
    filling(Buffer::output, Queue::vector, name(c.op));
    held(Buffer::activation, Queue::vector, name(c.op));
    held(Buffer::parameter, Queue::vector, name(c.op));
    for (const int64_t n : c.rows) lanes(n, INT32_MAX, "a count of rows");
    lanes(c.pieces, RowCommand::kElements, "pieces of a row");
    lanes(c.run, RowCommand::kElements, "run");
    if (!errors_.empty()) return;
    lanes(c.length(), RowCommand::kElements, "elements of a row");
    if (contract::row_beat(c, hw_) < 1) return fail("rows and a mask through a port of one byte");
    const bool softmax = c.op == RowOp::softmax;
    if (c.mask && !softmax) return fail(fmt::format("{} with a mask", name(c.op)));
    if (c.per_channel < 1 || c.run % c.per_channel != 0 || (softmax && c.per_channel != 1))
      return fail(fmt::format("{} of runs of {} with {} elements a channel", name(c.op), c.run,
                              c.per_channel));
    constants(c);
    rows(c, c.in, Buffer::activation, "rows");
    if (c.mask) rows(c, *c.mask, Buffer::activation, "mask of the rows");
    rows(c, c.out, Buffer::output, "output of the rows");
    if (softmax)
      within(c.parameter_offset, RowCommand::kTableBytes, slot(Buffer::parameter),
             "tables of the softmax");
    else
      strided(c.parameter_offset, c.rows, c.parameter_stride, c.channels() * hw_.parameter_bytes(),
              Buffer::parameter, "channels of the rows");
  }

  void address(const VectorCommand& c) {
    if (c.in_bytes > 0) held(Buffer::activation, Queue::vector, "vector");
    if (c.out_bytes > 0) filling(Buffer::output, Queue::vector, "vector");
    within(Affine(0), c.in_bytes, slot(Buffer::activation), "vector input");
    within(Affine(0), c.out_bytes, slot(Buffer::output), "vector output");
  }

  const Program& program_;
  const HwConfig& hw_;
  Dataflow dataflow_;               ///< of the layer
  const std::vector<int> regions_;  ///< numbers, by tensor
  Errors errors_;
  std::vector<const Loop*> nest_;
  std::vector<int64_t> counts_;
  int at_ = 0;
  Tokens slots_{}, free_{}, full_{}, filling_{}, held_{};
  std::array<Queue, kPlaces> filler_{}, holder_{};  ///< whose the slot is that is in use
  std::array<std::optional<Queue>, kMostRegions> region_fillers_{}, region_readers_{};
  /// By queue: regions that its next command is to use; tensors that its last one did.
  std::array<std::set<int>, kQueues> awaited_, used_;
  int64_t primed_ = 0;  ///< output slots
  bool adds_ = false;   ///< the output slot that is being filled was primed
};

}  // namespace

Status verify(const Program& program, const HwConfig& hw) { return Verifier(program, hw).run(); }

}  // namespace accsim::hw
