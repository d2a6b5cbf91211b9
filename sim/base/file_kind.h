#pragma once
#include <string_view>

namespace accsim {

/// A format that a file's first bytes tell.
struct FileKind {
  std::string_view name;    ///< "a PNG image"
  std::string_view advice;  ///< behind the name, where a model was wanted; "": none
};

/// nullptr: none that is known.
const FileKind* file_kind(std::string_view bytes);

}  // namespace accsim
