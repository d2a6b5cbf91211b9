#include "sim/serve/upload.h"

#include <charconv>

namespace accsim::sim {

std::string upload_name(std::string_view encoded) {
  std::string out;
  for (size_t i = 0; i < encoded.size() && out.size() < 4096; ++i) {
    int byte = encoded[i];
    if (encoded[i] == '%' && i + 2 < encoded.size()) {
      const char* const hex = encoded.data() + i + 1;
      if (std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2) i += 2;
    }
    out += byte >= ' ' && byte <= '~' && byte != '"' ? static_cast<char>(byte) : '?';
  }
  out = out.substr(out.find_last_of("/\\") + 1);
  if (out.size() > 80) out = out.substr(out.size() - 80);
  return out.empty() || out == "." || out == ".." ? "upload.onnx" : out;
}

}  // namespace accsim::sim
