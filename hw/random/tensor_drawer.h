#pragma once
#include <array>
#include <vector>

#include "hw/random/dice.h"
#include "hw/random/tile_text.h"

namespace accsim::hw {

/// The tensors of a random program, and what its tiles have taken of them so far. Tensors are read
/// only, or written by one of store and stage; what goes from queue to queue does so over regions,
/// which lie behind them.
class TensorDrawer {
 public:
  enum Tensor {
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
    kTensors  ///< the first region
  };
  static constexpr int64_t kInBytes = 1 << 13;     ///< of one that is read
  static constexpr int64_t kLevelBytes = 1 << 12;  ///< of kLevel
  static constexpr int64_t kParameterBytes = 12;   ///< of a channel

  TensorDrawer(const HwConfig& hw, Dice dice) : hw_(hw), dice_(dice) {}

  /// All of them; nothing is drawn.
  std::vector<ProgramTensor> all_tensors() const;
  MemoryId memory_of(int tensor) const;
  const ProgramTensor& region_tensor(int tensor) const {
    return regions_[static_cast<size_t>(tensor - kTensors)];
  }
  /// Bytes that a walk over one that is read may reach over.
  int64_t walk_room(int tensor) const {
    return tensor < kTensors ? kInBytes : region_tensor(tensor).slot_bytes();
  }

  /// Is there room for what lies in the shared buffer besides what is stored there?
  bool has_shared() const { return hw_.memory(MemoryId::shared).bytes >= 4 * kInBytes; }
  bool fits_in_shared(int64_t bytes) const;
  /// Keeps so many bytes of the shared buffer free, or gives them back.
  void reserve_shared(int64_t bytes) { reserved_ += bytes; }

  /// Regions, each in the other memory than the one before, for parts of so many bytes: up to
  /// three; none when there are too many.
  std::vector<int> draw_chain(int64_t bytes);

  /// A place for so many bytes in a tensor, or in the slot of a region, that is read.
  Affine draw_source(int tensor, int64_t bytes, const TileText& at) const;
  /// The same in kParameters and kIndices: words begin where words do.
  Affine aligned_source(int64_t bytes, const TileText& at) const;
  /// Behind what was stored, or staged, before: so many bytes an iteration.
  Affine behind_stored(bool shared, int64_t bytes, const TileText& at) {
    return next_place(stored_[shared], bytes, at);
  }
  Affine behind_staged(bool shared, int64_t bytes, const TileText& at) {
    return next_place(staged_[shared], bytes, at);
  }

 private:
  static Affine next_place(int64_t& used, int64_t bytes, const TileText& at);
  int draw_region(MemoryId memory, int64_t bytes);
  Affine draw_place(int64_t bytes, int64_t unit, int64_t step, const TileText& at) const;

  const HwConfig& hw_;
  const Dice dice_;
  std::vector<ProgramTensor> regions_;
  int64_t reserved_ = 0;
  std::array<int64_t, 2> stored_{};  ///< bytes so far, in DRAM and in the shared buffer
  std::array<int64_t, 2> staged_{};  ///< the same by stages, that no region has
};

}  // namespace accsim::hw
