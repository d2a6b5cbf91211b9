#include "sim/onnx/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/base/file_kind.h"
#include "sim/onnx/file_handle.h"

namespace accsim::sim::onnx {
namespace {

Error io_error(const std::string& path, std::string message) {
  return Error{Errc::io, std::move(message), path};
}

}  // namespace

Error empty_file(const std::string& path) {
  return {Errc::parse, "the file is empty; export or copy the model again", path};
}

Result<MappedFile> map_file(const std::string& path) {
  FileHandle file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    return io_error(path, fmt::format("can't open the file ({}); check the path and permissions",
                                      std::strerror(errno)));
  struct stat info {};
  if (fstat(file.fd, &info) != 0)
    return io_error(path, fmt::format("can't read the file's size ({})", std::strerror(errno)));
  if (S_ISDIR(info.st_mode)) return io_error(path, "is a directory; name the .onnx file in it");
  if (!S_ISREG(info.st_mode)) return io_error(path, "is not a regular file; give a path to a file");
  if (info.st_size == 0) return empty_file(path);
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    return io_error(path, fmt::format("can't map the file into memory ({})", std::strerror(errno)));
  std::shared_ptr<const void> keep(
      data, [size](const void* start) { munmap(const_cast<void*>(start), size); });
  return MappedFile{{static_cast<const uint8_t*>(data), size}, std::move(keep)};
}

std::string guess_kind(ByteSpan bytes) {
  const std::string_view text = bytes.text();
  if (const FileKind* const kind = file_kind(text))
    return fmt::format("{}{}", kind->name, kind->advice);
  const std::string_view head = text.substr(0, 256);
  const bool printable = std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  });
  return printable ? "a text file" : "";
}

}  // namespace accsim::sim::onnx
