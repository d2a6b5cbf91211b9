#include "sim/app/file_options.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <set>
#include <span>

#include "sim/onnx/reader.h"
#include "sim/sweep/spec.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

/// What tells whether two paths mean one file.
struct Identity {
  bool exists = false;
  dev_t device = 0;
  ino_t inode = 0;
  std::string place;  ///< of a file that doesn't exist

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// nullopt for what may be named twice: stdout, devices, pipes.
std::optional<Identity> identify(const std::string& path) {
  if (path.empty() || path == "-") return std::nullopt;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return std::nullopt;
    return Identity{true, info.st_dev, info.st_ino, ""};
  }
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return Identity{false, 0, 0, error ? path : place.string()};
}

/// Files that a command reads from its folders, and those that it writes into them.
constexpr const char* kReadInFolders[] = {"*.npy", "manifest.json", "rtl/*", "hw/cosim/*"};
constexpr const char* kWrittenInFolders[] = {"*.npy", "manifest.json", "array.sbatch",
                                             "merge.sbatch"};

bool is_one_of(const std::string& name, std::span<const char* const> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const char* pattern) { return fnmatch(pattern, name.c_str(), 0) == 0; });
}

/// The file's path below the folder; "" when it doesn't lie there.
std::string below(const std::string& folder, const std::string& file) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(fs::absolute(folder, error), error);
  const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
  const std::string out = path.lexically_relative(root).string();
  return error || out.empty() || out.starts_with("..") ? "" : out;
}

Error overwritten(const NamedFile& written, const NamedFile& read) {
  return {Errc::usage,
          fmt::format("'{}' is read ({}) and would be overwritten; name another file", written.path,
                      read.option),
          written.option};
}

struct FileOptions {
  std::vector<NamedFile> read, read_folders, written, written_folders;
  std::vector<std::string> models;
};

void collect(const OptionRow& row, FileOptions& out) {
  const std::string name = row.long_name();
  for (const std::string& value : row.given) {
    const std::string source = value.substr(value.rfind('=') + 1);
    switch (row.kind) {
      case ValueKind::read_file:
        out.read.push_back({name, value});
        if (name == "model" || value.ends_with(".onnx")) out.models.push_back(value);
        break;
      case ValueKind::machine:
        out.read.push_back({name, value});
        break;
      case ValueKind::read_folder:
        out.read_folders.push_back({name, value});
        break;
      case ValueKind::written_file:
        out.written.push_back({name, value});
        break;
      case ValueKind::written_folder:
        out.written_folders.push_back({name, value});
        break;
      case ValueKind::read_source:
        if (!source.starts_with("random:")) out.read.push_back({name, source});
        break;
      case ValueKind::plain:
      case ValueKind::awaited_file:
        break;
    }
  }
}

void collect(const Command& command, FileOptions& out) {
  for (const OptionRow& row : command.rows()) collect(row, out);
  for (const Command* sub : command.commands())
    if (sub->chosen()) collect(*sub, out);
}

/// Files beside the models that hold their weights. Models are only read when something exists that
/// could be one of those.
void add_weights(FileOptions& files) {
  const bool could_be = std::any_of(files.written.begin(), files.written.end(), [](const auto& f) {
    const auto id = identify(f.path);
    return id && id->exists;
  });
  if (!could_be) return;
  for (const std::string& path : files.models) {
    const Result<ModelDef> model = read_model(path);
    if (!model) continue;  // the command says why
    std::set<std::string> names;
    for (const StoredTensor& t : model->graph.initializers)
      if (t.payload.kind == Payload::Kind::external) names.insert(t.payload.external_file);
    for (const std::string& name : names)
      files.read.push_back(
          {"weights of the model", (fs::path(path).parent_path() / name).string()});
  }
}

}  // namespace

Status check_written(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read) {
  Errors errors;
  for (size_t w = 0; w < written.size(); ++w) {
    const auto target = identify(written[w].path);
    const bool to_stdout = written[w].path == "-";
    if (!target && !to_stdout) continue;
    for (size_t other = 0; other < w; ++other)
      if (to_stdout ? written[other].path == "-" : identify(written[other].path) == target)
        errors.push_back({Errc::usage,
                          fmt::format("names the same target as {}", written[other].option),
                          written[w].option});
    if (to_stdout) continue;
    for (const NamedFile& r : read)
      // SQLite keeps what isn't in a store yet beside it.
      for (const char* end : {"", "-wal", "-shm", "-journal"})
        if (identify(r.path + end) == target) errors.push_back(overwritten(written[w], r));
  }
  if (!errors.empty()) return errors;
  return ok();
}

Status check_sweep_written(const std::vector<NamedFile>& written, const SweepSpec& spec) {
  std::vector<NamedFile> read = {{"the spec", spec.file}, {"the spec's base", spec.base_file}};
  for (const SweepModel& model : spec.models) read.push_back({"the spec's models", model.file});
  return check_written(written, read);
}

Status check_file_options(const Command& program) {
  FileOptions files;
  collect(program, files);
  add_weights(files);
  Errors errors;
  for (const auto* named : {&files.written, &files.written_folders})
    for (const NamedFile& w : *named)
      if (w.path.empty()) errors.push_back({Errc::usage, "names no file", w.option});
  if (!errors.empty()) return errors;
  if (const Status s = check_written(files.written, files.read); !s) errors = s.errors();
  for (const NamedFile& w : files.written)
    for (const NamedFile& r : files.read_folders)
      if (is_one_of(below(r.path, w.path), kReadInFolders)) errors.push_back(overwritten(w, r));
  for (const NamedFile& w : files.written_folders) {
    for (const NamedFile& r : files.read)
      if (is_one_of(below(w.path, r.path), kWrittenInFolders))
        errors.push_back({Errc::usage,
                          fmt::format("'{}' holds a file that is read ({}) and could be "
                                      "overwritten; name another folder",
                                      w.path, r.option),
                          w.option});
    for (const NamedFile& r : files.read_folders)
      if (identify(w.path) == identify(r.path)) errors.push_back(overwritten(w, r));
  }
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
