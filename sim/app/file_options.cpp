#include "sim/app/file_options.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "sim/graph/external_files.h"
#include "sim/onnx/reader.h"
#include "sim/sweep/spec.h"
#include "sim/sweep/sqlite_files.h"

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
std::optional<Identity> identity_of(const std::string& path) {
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
constexpr const char* kReadInFolders[] = {"*.npy", "manifest.json", "layers/*", "rtl/*",
                                          "hw/cosim/*"};
constexpr const char* kWrittenInFolders[] = {"*.npy", "manifest.json", "layers/*", "array.sbatch",
                                             "merge.sbatch"};

bool is_one_of(const std::string& name, std::span<const char* const> patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const char* pattern) { return fnmatch(pattern, name.c_str(), 0) == 0; });
}

/// The file's path below the folder; "" when it doesn't lie there.
std::string path_below(const std::string& folder, const std::string& file) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(fs::absolute(folder, error), error);
  const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
  const std::string out = path.lexically_relative(root).string();
  return error || out.empty() || out.starts_with("..") ? "" : out;
}

Error overwritten_error(const NamedFile& written, const NamedFile& read) {
  return {Errc::usage,
          fmt::format("'{}' is read ({}) and would be overwritten; name another file", written.path,
                      read.option),
          written.option};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

struct FileOptions {
  std::vector<NamedFile> read, read_folders, written, written_folders;
};

void collect(const OptionRow& row, FileOptions& out) {
  const std::string name = row.long_name();
  for (const std::string& value : row.given) {
    const std::string source = value.substr(value.rfind('=') + 1);
    switch (row.kind) {
      case ValueKind::read_file:
      case ValueKind::machine:
        out.read.push_back({name, value});
        break;
      case ValueKind::awaited_store:
        out.read.push_back({name, value, true});
        break;
      case ValueKind::read_folder:
        out.read_folders.push_back({name, value});
        break;
      case ValueKind::read_path:
        (is_folder(value) ? out.read_folders : out.read).push_back({name, value});
        break;
      case ValueKind::written_file:
        out.written.push_back({name, value});
        break;
      case ValueKind::written_store:
        out.written.push_back({name, value, true});
        break;
      case ValueKind::written_folder:
        out.written_folders.push_back({name, value});
        break;
      case ValueKind::read_source:
        if (!source.starts_with("random:")) out.read.push_back({name, source});
        break;
      case ValueKind::plain:
      case ValueKind::command:
        break;
    }
  }
}

void collect(const Command& command, FileOptions& out) {
  for (const OptionRow& row : command.rows()) collect(row, out);
  for (const Command* sub : command.commands())
    if (sub->is_chosen()) collect(*sub, out);
}

bool file_exists(const NamedFile& file) {
  const auto id = identity_of(file.path);
  return id && id->exists;
}

/// Adds the files beside those that are read which hold weights: any of them may be a model.
void add_weights(std::vector<NamedFile>& read) {
  const std::vector<NamedFile> models = read;
  for (const NamedFile& file : models) {
    const Result<ModelDef> model = read_model(file.path);
    if (!model) continue;  // it is none, or the command says why
    for (const std::string& name : external_files(*model))
      read.push_back({"weights of the model", (fs::path(file.path).parent_path() / name).string()});
  }
}

/// A file with those that SQLite keeps beside it, which hold what isn't in a store yet.
std::vector<std::string> with_sqlite_files(const NamedFile& file) {
  std::vector<std::string> out = files_beside(file.path);
  out.push_back(file.path);
  return out;
}

/// Whether a written file is one that is read. SQLite makes and deletes files beside a store, and
/// any file that is read may be one.
bool would_overwrite(const NamedFile& written, const NamedFile& read) {
  const auto same = [](const std::string& a, const std::string& b) {
    const auto id = identity_of(a);
    return id && id == identity_of(b);
  };
  const auto writes = [&](const std::string& path) { return same(path, read.path); };
  const auto is_read = [&](const std::string& path) { return same(path, written.path); };
  return std::ranges::any_of(with_sqlite_files(read), is_read) ||
         (written.store && std::ranges::any_of(with_sqlite_files(written), writes));
}

}  // namespace

Status check_written(const std::vector<NamedFile>& written, std::vector<NamedFile> read) {
  Errors errors;
  const auto may_hold_weights = [](const NamedFile& w) { return w.store || file_exists(w); };
  if (std::ranges::any_of(written, may_hold_weights)) add_weights(read);
  for (size_t w = 0; w < written.size(); ++w) {
    const auto target = identity_of(written[w].path);
    const bool to_stdout = written[w].path == "-";
    if (!target && !to_stdout) continue;
    for (size_t other = 0; other < w; ++other)
      if (to_stdout ? written[other].path == "-"
                    : would_overwrite(written[w], written[other]) ||
                          would_overwrite(written[other], written[w]))
        errors.push_back({Errc::usage,
                          fmt::format("names the same target as {}", written[other].option),
                          written[w].option});
    if (to_stdout) continue;
    for (const NamedFile& r : read)
      if (would_overwrite(written[w], r)) errors.push_back(overwritten_error(written[w], r));
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
  if (std::ranges::any_of(files.written_folders, file_exists)) add_weights(files.read);
  Errors errors;
  for (const auto* named : {&files.written, &files.written_folders})
    for (const NamedFile& w : *named)
      if (w.path.empty()) errors.push_back({Errc::usage, "names no file", w.option});
  if (!errors.empty()) return errors;
  if (const Status s = check_written(files.written, files.read); !s) errors = s.errors();
  for (const NamedFile& w : files.written)
    for (const NamedFile& r : files.read_folders)
      if (is_one_of(path_below(r.path, w.path), kReadInFolders))
        errors.push_back(overwritten_error(w, r));
  for (const NamedFile& w : files.written_folders) {
    for (const NamedFile& r : files.read)
      if (is_one_of(path_below(w.path, r.path), kWrittenInFolders))
        errors.push_back({Errc::usage,
                          fmt::format("'{}' holds a file that is read ({}) and could be "
                                      "overwritten; name another folder",
                                      w.path, r.option),
                          w.option});
    for (const NamedFile& r : files.read_folders)
      if (identity_of(w.path) == identity_of(r.path)) errors.push_back(overwritten_error(w, r));
  }
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
