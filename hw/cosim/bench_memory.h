#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "hw/cosim/rtl_abi.h"
#include "hw/golden/golden.h"

namespace accsim::hw {

/// What the number above the byte offset is in the core's addresses: the tensor's, or for all
/// tensors that have an address that of the memory in which they lie together.
inline int64_t memory_number(const Program& program, int tensor) {
  return program.tensors[static_cast<size_t>(tensor)].is_placed() ? std::ssize(program.tensors)
                                                                  : tensor;
}
/// Where in it the tensor begins.
inline int64_t memory_offset(const ProgramTensor& t) { return t.is_placed() ? t.address : 0; }

/// The memory that a core works on: the image, and one for the tensors that have bytes in common,
/// which begins with those that are given.
class BenchMemory {
 public:
  BenchMemory(const Program& program, MemoryImage& image) : program_(program), image_(image) {
    int64_t end = 0;
    for (const ProgramTensor& t : program.tensors)
      if (t.is_placed()) end = std::max(end, t.address + t.bytes);
    common_.assign(static_cast<size_t>(end), kUnwritten);
    for (size_t i = 0; i < image.size(); ++i)
      if (const ProgramTensor& t = program.tensors[i]; t.given)
        std::ranges::copy(image[i], common_.begin() + t.address);
  }

  /// Null where they aren't all in one memory.
  uint8_t* bytes_at(uint64_t address, uint32_t count) {
    const uint64_t number = address >> rtl::kTensorShift, offset = address & kOffset;
    if (number > image_.size() || count > rtl::kMaxPort) return nullptr;
    std::vector<uint8_t>& all = number == image_.size() ? common_ : image_[number];
    return offset + count <= all.size() ? all.data() + offset : nullptr;
  }

  /// Offset in a tensor of what the core writes to an address of its memory.
  int64_t offset_in(int tensor, uint64_t address) const {
    const ProgramTensor& t = program_.tensors[static_cast<size_t>(tensor)];
    return static_cast<int64_t>(address & kOffset) - memory_offset(t);
  }

 private:
  static constexpr uint64_t kOffset = (uint64_t{1} << rtl::kTensorShift) - 1;
  static constexpr uint8_t kUnwritten = 0xa5;

  const Program& program_;
  MemoryImage& image_;
  std::vector<uint8_t> common_;
};

}  // namespace accsim::hw
