#pragma once
#include <unistd.h>

namespace accsim::sim::onnx {

/// An open file, closed at the end of its scope; fd < 0: none.
struct FileHandle {
  int fd = -1;
  explicit FileHandle(int opened) : fd(opened) {}
  ~FileHandle() {
    if (fd >= 0) close(fd);
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
};

}  // namespace accsim::sim::onnx
