#pragma once
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::sim {

/// Puts `text` into the file `path` so that a reader sees the old content or the new, never a part:
/// a temporary file in the same folder is written, synced and renamed over it. Symbolic links are
/// followed. A device or pipe is written directly. On failure the temporary file is removed, an
/// existing file is left as it was, and the Error (io) says why.
Status write_file_atomically(const std::string& path, std::string_view text);

}  // namespace accsim::sim
