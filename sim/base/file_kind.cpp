#include "sim/base/file_kind.h"

#include <array>
#include <cstddef>

namespace accsim {
namespace {

struct Magic {
  std::string_view bytes;
  size_t offset;
  FileKind kind;
};

constexpr std::array<Magic, 10> kMagics = {{
    {"\x89PNG", 0, {"a PNG image", ""}},
    {"PK\x03\x04", 0, {"a ZIP archive", " (a PyTorch checkpoint is one: export it to ONNX first)"}},
    {"\x1F\x8B", 0, {"a gzip file", ": unpack it first"}},
    {"\x89HDF", 0, {"an HDF5 file", " (a Keras checkpoint is one: convert it to ONNX first)"}},
    {"\x7F"
     "ELF",
     0,
     {"an ELF binary", ""}},
    {"ORTM", 4, {"an ONNX Runtime .ort file", ": give the .onnx it was made from"}},
    {"TFL3", 4, {"a TensorFlow Lite model", ": convert it to ONNX first"}},
    {"version https://git-lfs",
     0,
     {"a Git LFS pointer", ": fetch the real file with `git lfs pull`"}},
    {"%PDF", 0, {"a PDF document", ""}},
    {"SQLite format 3", 0, {"a SQLite database", " (a sweep's store is one: accsim sweep show)"}},
}};

}  // namespace

const FileKind* file_kind(std::string_view bytes) {
  for (const Magic& magic : kMagics)
    if (bytes.size() >= magic.offset && bytes.substr(magic.offset).starts_with(magic.bytes))
      return &magic.kind;
  return nullptr;
}

}  // namespace accsim
