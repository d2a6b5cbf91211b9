#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hw/program/program.h"
#include "hw/program/reach.h"

namespace accsim::hw {

/// The checks behind verify(). Walks the nest once for addresses and, for tokens, runs every body
/// twice: a body that leaves the tokens as it found them in its second run does so in every run.
class Verifier {
 public:
  Verifier(const Program& program, const HwConfig& hw);
  Status verify_program();

 private:
  /// What has tokens: the buffers, then the regions.
  static constexpr size_t kPlaces = kBuffers + kMostRegions;
  using Tokens = std::array<int64_t, kPlaces>;
  /// Inclusive range of an affine value over all iterations.
  struct Range {
    int64_t low, high;
  };
  /// Bytes [first, end) of a tensor, of its rows (ProgramTensor::pitch) those of [low, high) only.
  struct Bytes {
    int64_t first, end, low, high;

    bool has_overlap_with(const Bytes& other) const {
      return first < other.end && other.first < end && low < other.high && other.low < high;
    }
    /// Are both of them one such block?
    bool is_contiguous_with(const Bytes& other) const {
      const bool along = low == other.low && high == other.high;
      const bool beside = first == other.first && end == other.end;
      return (along && first <= other.end && other.first <= end) ||
             (beside && low <= other.high && other.low <= high);
    }
    void merge_with(const Bytes& other) {
      *this = {std::min(first, other.first), std::max(end, other.end), std::min(low, other.low),
               std::max(high, other.high)};
    }
  };
  static constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(),
                           kEnd = std::numeric_limits<int64_t>::max();
  static constexpr Bytes kAllBytes{kFirst, kEnd, 0, kEnd};

  // ---- verify.cpp: tensors, loops and tokens, and what commands have in common ----
  const std::string& region_name(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].name;
  }
  std::string place(size_t p) const;
  size_t place(const Sync& s) const {
    return s.region < 0 ? static_cast<size_t>(s.buffer) : place_of_region(s.region);
  }
  size_t place_of_region(int tensor) const {
    return kBuffers + static_cast<size_t>(regions_[static_cast<size_t>(tensor)]);
  }
  void fail(std::string message);
  void check_tensors();
  void check_body();
  template <class Inner>
  void visit_loop(const Loop& loop, const Inner& inner);
  void begin_layer(const LayerHead& head);
  void visit_mark(const Mark& m);
  void visit_sync(const Sync& s);
  void region_sync(const Sync& s);
  void buffer_sync(const Sync& s);
  void move_token(const Sync& s, size_t place);

  /// A command of a queue uses tensors: what was waited for is among them.
  void note_uses(Queue q, std::initializer_list<int> used);
  void check_held(Buffer b, Queue q, std::string_view what);
  void check_filling(Buffer b, Queue q, std::string_view what);
  /// Is the loop around the command?
  bool is_around(int loop) const;
  void first_of(const std::vector<int>& loops, std::string_view what);
  Range range_of(const Affine& a) const;
  /// All values of `a` lie in [low, high]?
  void check_between(const Affine& a, int64_t low, int64_t high, std::string_view what);
  /// What `bytes` from `a` + all of `reach` on reach lies in [0, limit) at every iteration?
  void check_within(const Affine& a, const Reach& reach, int64_t bytes, int64_t limit,
                    std::string_view what);
  void check_within(const Affine& a, int64_t bytes, int64_t limit, std::string_view what) {
    check_within(a, Reach{}, bytes, limit, what);
  }
  void check_between(int64_t value, int64_t low, int64_t high, std::string_view what);
  /// 1 .. limit
  void check_limit(int64_t value, int64_t limit, std::string_view what);
  /// Limits of what is clipped to, within those of an integer type.
  void check_clip(int32_t low, int32_t high, int32_t most, std::string_view what);
  int64_t bytes_of_slot(Buffer b) const { return hw_.buffer(b).slot_bytes(); }

  // ---- verify_moves.cpp ----
  const ProgramTensor* find_tensor(int index);
  void check_order(int index, const ProgramTensor& t, Queue q, bool writes, const Bytes& bytes);
  void check_conflicts(int index, Queue q, bool written, bool writes, const Bytes& bytes);
  Bytes bytes_from(const Affine& at, const Walk& walk, int64_t pitch) const;
  void bytes_of_rows(const Affine& at, const Walk& walk, int64_t pitch, Bytes& bytes) const;
  int64_t reachable_bytes(int index, const ProgramTensor& t, Queue q, bool fills,
                          const Bytes& touched);
  void check_fields(const LoadCommand& c);
  void check_transposed(const LoadCommand& c);
  void check_gathered(const LoadCommand& c, const Gather& g, const ProgramTensor& t, int64_t bytes);
  void check_padded(const LoadCommand& c, const PaddedWindow& w, const ProgramTensor& t);
  void padded_walk(const LoadCommand& c, const PaddedWindow& w);
  void check_fields(const StoreCommand& c);
  void check_fields(const StageCommand& c);

  // ---- verify_places.cpp: tensors that have bytes in common ----
  void check_places();
  void takes_bytes(int index, const ProgramTensor& t, Queue q, bool writes);

  // ---- verify_compute.cpp ----
  void check_fields(const GemmCommand& c);
  void check_window(const OperandWindow& w, int64_t m, int64_t k);
  void check_weights(const GemmCommand& c, bool turned);
  int64_t packed_row(const GemmCommand& c, bool turned);
  void check_fields(const DrainCommand& c);
  void check_fields(const Residual& r);
  void check_fields(const PostCommand& c);
  void check_fields(const SetTableCommand& c);
  void check_operand(const LaneCommand& c, const LaneOperand& o, Reach r, std::string_view what);
  void weighed(const LaneCommand& c);
  void check_fields(const LaneCommand& c);
  void check_rows(const RowCommand& c, const RowOperand& o, Buffer b, std::string_view what);
  void check_constants(const RowCommand& c);
  void check_fields(const RowCommand& c);
  void check_fields(const VectorCommand& c);

  const Program& program_;
  const HwConfig& hw_;
  Dataflow dataflow_;               ///< of the layer
  const std::vector<int> regions_;  ///< numbers, by tensor
  Errors errors_;
  std::vector<const Loop*> nest_;
  std::vector<int64_t> counts_;
  int64_t iterations_ = 1;  ///< of the loops around
  int at_ = 0;
  int layer_ = 0;  ///< heads so far
  Tokens slots_{}, free_{}, full_{}, filling_{}, held_{};
  std::array<Queue, kPlaces> filler_{}, holder_{};  ///< whose the slot is that is in use
  std::array<std::optional<Queue>, kMostRegions> region_fillers_{}, region_readers_{};
  /// Where a queue has read or written a tensor in a layer's text: the last item (at_) that did.
  struct Use {
    Queue queue;
    bool writes;
    int layer, at;
    Bytes bytes;  ///< from the first to the last
  };
  /// What queues have done with a tensor that isn't a region. These are the last items of the text
  /// that set a mark on it, and by queue the marks of others that it has waited for.
  struct TensorUses {
    using ByQueue = PerQueue<int>;
    std::vector<Use> uses{};
    ByQueue marked{};
    PerQueue<ByQueue> seen{};
    std::vector<int> neighbours = {};  ///< tensors that have some of its bytes
    bool used = false;
    int gone = -1;  ///< the tensor that has taken bytes of it
  };
  std::vector<TensorUses> uses_;  ///< by tensor
  /// By queue: regions that its next command is to use; tensors that its last one did.
  PerQueue<std::set<int>> awaited_, used_;
  int64_t primed_ = 0;  ///< output slots
  bool adds_ = false;   ///< the output slot that is being filled was primed
};

}  // namespace accsim::hw
