#include "sim/onnx/external_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "sim/onnx/file_handle.h"

namespace accsim::sim::onnx {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& folder, const fs::path& file) {
  const auto [rest, part] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end() && part != file.end();
}

/// What a file's name says against reading it; "" for nothing.
std::string name_refusal(const fs::path& name) {
  if (name.empty()) return "its name is missing";
  if (name.is_absolute()) return "its path is absolute";
  if (std::find(name.begin(), name.end(), "..") != name.end()) return "its path has '..' in it";
  return "";
}

/// Where a file really lies, or why it may not be read; neither when it isn't there.
struct Resolved {
  std::optional<fs::path> file{};
  std::string refusal{};
};

Resolved resolve_path(const fs::path& model_file, const fs::path& name) {
  if (std::string refusal = name_refusal(name); !refusal.empty()) return {{}, std::move(refusal)};
  std::error_code error;
  const fs::path model = model_file.empty() ? fs::path("model.onnx") : model_file;
  const fs::path folder = fs::canonical(fs::absolute(model, error).parent_path(), error);
  if (error) return {};
  fs::path file = fs::canonical(folder / name, error);
  if (error) return {};
  if (is_inside(folder, file)) return {std::move(file), ""};
  const fs::path real = fs::canonical(model, error);
  if (error || !is_inside(real.parent_path(), file))
    return {{}, "a link leads out of the model's folder"};
  return {std::move(file), ""};
}

}  // namespace

std::string external_refusal(const std::string& model_file, const std::string& name) {
  return resolve_path(model_file, name).refusal;
}

std::optional<std::vector<uint8_t>> read_external(const std::string& model_file,
                                                  const std::string& name, int64_t offset,
                                                  size_t size) {
  const std::optional<fs::path> path = resolve_path(model_file, name).file;
  if (!path || offset < 0) return std::nullopt;
  // Neither a link that was put there meanwhile nor a pipe without a writer.
  const FileHandle file{open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  struct stat info {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  // The size comes from the model: nothing is allocated before the file is known to have as much.
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes < size || bytes - size < static_cast<uint64_t>(offset)) return std::nullopt;
  std::vector<uint8_t> out(size);
  for (size_t at = 0; at < size;) {
    const ssize_t got = pread(file.fd, out.data() + at, size - at, offset + static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return out;
}

}  // namespace accsim::sim::onnx
