#include "hw/random/contents.h"

#include <array>
#include <cstring>

#include "hw/random/random_gather.h"
#include "hw/random/random_rows.h"
#include "hw/random/tensor_drawer.h"

namespace accsim::hw {
namespace {

using ByteList = std::vector<uint8_t>;

/// Nearly equal bytes: rows of small differences.
void draw_level(ByteList& bytes, Dice dice) {
  const int64_t low = dice.pick(0, 253), most = dice.pick(1, 2);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(low + dice.pick(0, most));
}

/// The ends of int8 among zeros: sums of few products, all of them the largest there are.
void draw_corners(ByteList& bytes, Dice dice) {
  constexpr std::array<int8_t, 4> kEnds = {-128, -128, 127, 1};
  for (uint8_t& b : bytes)
    b = static_cast<uint8_t>(dice.one_in(3) ? kEnds[static_cast<size_t>(dice.pick(0, 3))] : 0);
}

/// What a sum of up to two of each of their products is short of a small number.
int32_t corner_bias(Dice dice) {
  const int64_t low = dice.pick(0, 2) * 128 * 128, high = dice.pick(0, 2) * 127 * 127;
  const int64_t sum = low + high - dice.pick(0, 2) * 128 * 127;
  return static_cast<int32_t>(dice.pick(-90, 90) - sum);
}

/// Scales that spread sums over int8, some short as those of groups, now and then extremes; some
/// that leave sums as they are, so that the lowest bits show.
void draw_scales(ByteList& bytes, Dice dice) {
  constexpr size_t kBytes = TensorDrawer::kParameterBytes;
  for (size_t at = 0; at + kBytes <= bytes.size(); at += kBytes) {
    const bool extreme = dice.one_in(16), brief = dice.one_in(3);
    std::array<int32_t, 3> words = {
        extreme ? dice.number(INT32_MIN, INT32_MAX) : dice.number(-5000, 5000),
        extreme ? dice.number(INT32_MIN, INT32_MAX)
        : brief ? dice.number(-(1 << 15), 1 << 15)
                : dice.number(1 << 20, 1 << 24),
        extreme ? dice.number(0, 62)
        : brief ? dice.number(16, 25)
                : dice.number(26, 34)};
    if (dice.one_in(4)) words = {corner_bias(dice), dice.one_in(3) ? -1 : 1, dice.number(0, 1)};
    std::memcpy(&bytes[at], words.data(), kBytes);
  }
}

}  // namespace

MemoryImage draw_contents(const std::vector<ProgramTensor>& tensors, bool has_rows, Dice dice) {
  std::mt19937& random = dice.generator();
  MemoryImage out;
  for (const ProgramTensor& t : tensors) {
    out.emplace_back(static_cast<size_t>(t.bytes));
    for (uint8_t& b : out.back()) b = static_cast<uint8_t>(random());
  }
  draw_level(out[TensorDrawer::kLevel], dice);
  if (dice.one_in(4))
    for (const auto t : {TensorDrawer::kInDram, TensorDrawer::kInShared})
      draw_corners(out[t], dice);
  draw_scales(out[TensorDrawer::kParameters], dice);
  out[TensorDrawer::kRows] = has_rows ? random_row_parameters(random) : ByteList(1, 0);
  out[TensorDrawer::kIndices] = random_indices(TensorDrawer::kInBytes, random);
  return out;
}

}  // namespace accsim::hw
