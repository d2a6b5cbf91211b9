#include "hw/random/program_contents.h"

#include <fmt/format.h>

#include <cstring>

#include "hw/golden/row_math.h"
#include "hw/program/reach.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

/// What a tensor's bytes become.
struct Use {
  enum Kind : uint8_t { bytes, words, tables } kind = bytes;
  int64_t phase = 0;  ///< of tables: where in the tensor one begins
};

/// Goes over a program's text and finds out what tensors are used as: a command's parameters come
/// from the loads into the slot that is being filled, the last of those that have its bytes.
class UseFinder {
 public:
  explicit UseFinder(const Program& program) : uses_(program.tensors.size()) {
    visit_nest(program.body, Overloaded{
                                 [this](const Sync& s) { note_sync(s); },
                                 [this](const LoadCommand& c) { note_load(c); },
                                 [this](const StageCommand& c) { stages_.push_back(&c); },
                                 [this](const PostCommand& c) { note_post(c); },
                                 [this](const LaneCommand& c) { note_lanes(c); },
                                 [this](const RowCommand& c) { note_rows(c); },
                             });
    for (size_t i = 0; i < kMostRegions; ++i) pass_stages();  // copies of copies
  }
  const std::vector<Use>& uses() const { return uses_; }

 private:
  void note_sync(const Sync& s) {
    if (s.kind == SyncKind::wait_free && s.region < 0 && s.buffer == Buffer::parameter)
      loads_.clear();
  }
  void note_load(const LoadCommand& c) {
    if (c.gather) note_use(c.gather->index_offset, Use::words);
    if (c.buffer == Buffer::parameter) loads_.push_back(&c);
  }
  void note_post(const PostCommand& c) {
    if (c.has_parameters) note_use(c.parameter_offset, Use::words);
    if (c.groups > 1) note_use(c.group_offset, Use::words);
  }
  void note_lanes(const LaneCommand& c) {
    if (c.weighs()) note_use(c.channel_offset, Use::words);
  }
  void note_rows(const RowCommand& c) {
    note_use(c.parameter_offset, c.op == RowOp::softmax ? Use::tables : Use::words);
  }

  void note_use(const Affine& offset, Use::Kind kind) {
    for (size_t i = loads_.size(); i-- > 0;) {
      const LoadCommand& load = *loads_[i];
      const int64_t within = add_far(offset.base, -load.slot_offset.base);
      if (i > 0 && (within < 0 || within >= bytes_of(load.walk))) continue;
      return raise(load.tensor, {kind, add_far(load.source.base, within)});
    }
  }
  void raise(int tensor, const Use& use) {
    Use& to = uses_[static_cast<size_t>(tensor)];
    if (use.kind > to.kind) to = use;
  }
  /// What is copied is used as its copy.
  void pass_stages() {
    for (const StageCommand* c : stages_) {
      const Use& use = uses_[static_cast<size_t>(c->to)];
      const int64_t from = add_far(c->source.base, -c->target.base);
      raise(c->from, {use.kind, add_far(use.phase, from)});
    }
  }

  std::vector<Use> uses_;
  std::vector<const LoadCommand*> loads_;  ///< into the parameter slot that is being filled
  std::vector<const StageCommand*> stages_;
};

void draw_words(std::vector<uint8_t>& bytes, std::mt19937& random) {
  constexpr uint32_t kMost = 24;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i % 4 == 0 ? static_cast<uint8_t>(random() % (kMost + 1)) : uint8_t{0};
}

void draw_tables(std::vector<uint8_t>& bytes, int64_t phase, std::mt19937& random) {
  const double scale = std::uniform_real_distribution<double>(0.01, 0.1)(random);
  const SoftmaxTables t = *softmax_tables({.input = scale});
  std::array<uint8_t, RowCommand::kTableBytes> table{};
  constexpr size_t kHalf = sizeof t.coarse;
  static_assert(2 * kHalf == table.size());
  std::memcpy(table.data(), t.coarse.data(), kHalf);
  std::memcpy(table.data() + kHalf, t.fine.data(), kHalf);
  const auto first = static_cast<size_t>(phase & (RowCommand::kTableBytes - 1));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = table[(i + table.size() - first) % table.size()];
}

}  // namespace

Result<MemoryImage> random_contents(const Program& program, std::mt19937& random, int64_t most) {
  int64_t all = 0;
  for (const ProgramTensor& t : program.tensors) all = add_far(all, t.bytes);
  if (all > most)
    return Error{Errc::capacity,
                 fmt::format("tensors of {} bytes; operands are drawn for up to {} more, {} in all",
                             all, most, kMostDrawnBytes),
                 program.name};
  const UseFinder finder(program);
  MemoryImage out;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    std::vector<uint8_t>& bytes = out.emplace_back(static_cast<size_t>(program.tensors[i].bytes));
    const Use& use = finder.uses()[i];
    if (use.kind == Use::words)
      draw_words(bytes, random);
    else if (use.kind == Use::tables)
      draw_tables(bytes, use.phase, random);
    else
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  }
  return out;
}

}  // namespace accsim::hw
