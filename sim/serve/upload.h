#pragma once
#include <string>
#include <string_view>

namespace accsim::sim {

/// What to call an upload, from a percent-encoded header: the last part of a path, printable, at
/// most 80 characters; "upload.onnx" when nothing is left.
std::string upload_name(std::string_view encoded);

}  // namespace accsim::sim
