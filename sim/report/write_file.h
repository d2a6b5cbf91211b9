#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/result.h"

namespace accsim::sim {

/// Puts `text` into the file `path` so that a reader sees the old content or the new, never a part:
/// a temporary file in the same folder is written, synced and renamed over it. It has no name
/// before, where the file system can do so, so that nothing stays of a process that is ended.
/// Symbolic links are followed. A device, a pipe or an open descriptor (/dev/stdout, /dev/fd/3) is
/// written directly. On failure nothing of the temporary file is left, an existing file is left as
/// it was, and the Error (io) says why.
Status write_file_atomically(const std::string& path, std::string_view text);

/// The same for what is written in pieces: until commit() a reader sees the old content.
class FileWriter {
 public:
  /// Prepares to write the file `path`.
  static Result<FileWriter> create(const std::string& path);
  FileWriter(FileWriter&& other) noexcept { *this = std::move(other); }
  FileWriter& operator=(FileWriter&& other) noexcept;
  ~FileWriter() { discard_file(); }  ///< without commit() everything written is dropped

  /// After an error nothing more can be written.
  Status write(std::string_view bytes);
  /// Syncs and puts the file into place. Nothing can be written afterwards.
  Status commit();

 private:
  FileWriter() = default;
  void discard_file();
  Status fail_write(std::string_view what, int code);

  int file_ = -1;          ///< descriptor; -1: nothing to write any more
  std::string path_;       ///< as errors name it
  std::string target_;     ///< symbolic links followed; "": `file_` is what is written
  std::string temporary_;  ///< "": it has no name, or there is none
};

}  // namespace accsim::sim
