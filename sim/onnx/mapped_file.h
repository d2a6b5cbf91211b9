#pragma once
#include <memory>
#include <string>

#include "sim/base/result.h"
#include "sim/onnx/wire.h"

namespace accsim::sim::onnx {

/// A file's bytes in memory.
struct MappedFile {
  ByteSpan bytes;
  std::shared_ptr<const void> keep;  ///< unmaps the file when the last copy goes
};

/// Maps a regular, non-empty file read-only. Nothing is read until it is looked at.
Result<MappedFile> map_file(const std::string& path);

/// What is said of a file of no bytes.
Error empty_file(const std::string& path);

/// What a file that isn't an ONNX model seems to be, from its first bytes ("a PNG image"); "" when
/// nothing is recognised.
std::string guess_kind(ByteSpan bytes);

}  // namespace accsim::sim::onnx
