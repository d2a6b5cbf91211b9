#include "sim/serve/upload.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "sim/cost/cost.h"
#include "sim/serve/private_folder.h"

namespace accsim::sim {
namespace {

/// `text` with every `from` replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

Result<Graph> graph_of_bytes(std::string_view bytes, const std::string& name,
                             const ElaborateOptions& options) {
  const PrivateFolder folder("upload");
  if (folder.path().empty())
    return Error{Errc::io, fmt::format("no folder for the upload: {}", std::strerror(errno)), name};
  const std::string file = folder.path() + "/model.onnx";
  std::ofstream out(file, std::ios::binary);
  out << bytes;
  out.close();
  if (!out) return Error{Errc::io, "no room for the upload", name};
  return load_graph_as(name, file, options);
}

Errors called(Errors errors, const std::string& file, const std::string& name) {
  for (Error& e : errors) {
    e.where = replaced(e.where, file, name);
    e.message = replaced(e.message, file, name);
  }
  return errors;
}

Result<Graph> load_graph_as(const std::string& name, const std::string& file,
                            const ElaborateOptions& options) {
  Result<Graph> graph = load_graph(file, options);
  if (!graph) return called(graph.errors(), file, name);
  graph->file = name;
  return graph;
}

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
