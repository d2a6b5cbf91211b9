#pragma once
#include <filesystem>
#include <string>

#include "sim/base/result.h"

namespace accsim::sim {

/// A folder that is written as a whole: a reader sees all of it or none. It is made beside its
/// place under another name, and renamed in the end.
class FolderWriter {
 public:
  /// Prepares to write the folder `path`. One that is there is replaced if it is empty, or if it
  /// has a file `mark`, which says that it was written so before. Errc::usage, Errc::io.
  static Result<FolderWriter> create(const std::string& path, const std::string& mark);
  FolderWriter(FolderWriter&& other) noexcept { *this = std::move(other); }
  FolderWriter& operator=(FolderWriter&& other) noexcept;
  ~FolderWriter() { discard_folder(); }  ///< without commit() all that was written goes

  /// Where files are put until then.
  const std::filesystem::path& temporary_folder() const { return temporary_; }
  /// Puts the folder into its place.
  Status commit();

 private:
  FolderWriter() = default;
  void discard_folder();

  std::filesystem::path target_, temporary_;  ///< "": there is nothing to drop
};

}  // namespace accsim::sim
