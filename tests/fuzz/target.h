#pragma once
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "sim/base/check.h"
#include "sim/base/limits.h"
#include "tests/support/temp_path.h"

/// What the targets of libFuzzer share. A target takes any bytes: what a user could have meant is
/// an error and returns, all else may crash, which is a finding.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
/// Replaces `size` bytes of `data`, which has room for `most`, by others; gives how many there are.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed);
/// Puts parts of two inputs together.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* two,
                                            size_t two_size, uint8_t* out, size_t most,
                                            unsigned seed);
/// libFuzzer's own mutations, which know nothing of what the bytes mean.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace accsim::test {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Writes an input for functions that read files: always the same path, gone with the process.
inline const std::string& input_file(const char* name, std::string_view bytes) {
  static const std::string path = temp_path(name);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

/// Room for what small models need, so that most inputs take milliseconds.
inline Limits small_limits() {
  Limits out;
  out.nodes = 500;
  out.graph_bytes = int64_t{1} << 20;
  out.rank = 8;
  out.programs = 30;
  out.memory_bytes = int64_t{16} << 20;
  return out;
}

}  // namespace accsim::test
