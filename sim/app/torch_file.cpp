#include "sim/app/torch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "sim/app/interrupt.h"
#include "sim/app/options.h"
#include "sim/app/paths.h"
#include "sim/flow/cost.h"
#include "sim/serve/private_folder.h"
#include "sim/serve/upload.h"

namespace accsim::sim {
namespace {

constexpr const char* kPython = "python3";
// What _export.py ends with.
constexpr int kExported = 0, kRefused = 65, kNoTorch = 69;

/// Element types by torch's names.
constexpr std::array<std::string_view, 10> kTypes = {"float32", "float64", "float16", "bfloat16",
                                                     "int8",    "int16",   "int32",   "int64",
                                                     "uint8",   "bool"};

bool is_torch(std::string_view file) { return file.ends_with(".pt") || file.ends_with(".pth"); }

/// What torch.export writes. It states the shapes, but not in a form that torch.jit reads.
bool is_program(std::string_view file) { return file.ends_with(".pt2"); }

Error program_error(const std::string& model) {
  const std::string onnx = model.substr(0, model.size() - 3) + "onnx";
  return Error{
      Errc::usage,
      fmt::format("a program of torch.export is read by accsim.cost_torch() in Python; for "
                  "this command make an ONNX file of it: python3 -c 'import torch; "
                  "torch.onnx.export(torch.export.load(\"{}\"), f=\"{}\", dynamo=True)'",
                  model, onnx),
      model};
}

bool is_example(std::string_view text) {
  const size_t colon = text.find(':');
  if (!parse_dims(text.substr(0, colon))) return false;
  return colon == std::string_view::npos ||
         std::ranges::find(kTypes, text.substr(colon + 1)) != kTypes.end();
}

/// All of a small file, without the line ends at its end.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

std::string last_line(const std::string& text) { return text.substr(text.rfind('\n') + 1); }

/// Starts a program of PATH with these words, its output and its errors into files; errno, or 0.
int start(std::vector<std::string> words, const std::string& output, const std::string& errors,
          pid_t& child) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), kNew, 0600);
  std::signal(SIGCHLD, SIG_DFL);  // who ignores it doesn't learn how its children ended
  const int error = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// How the child ended, as waitpid() says it; it is ended when Ctrl-C asks for it.
int wait_for(pid_t child) {
  int status = 0;
  bool told = false;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (InterruptGuard::requested() && !told) told = ::kill(child, SIGTERM) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

}  // namespace

void TorchFile::add_to(Command& command) {
  command.add(
      "Model",
      {{.name = "--example",
        .to = &examples_,
        .about = "The model is a TorchScript file (.pt, .pth): shape of an input, one for each, "
                 "e.g. 1x3x224x224 or 1x128:int64",
        .metavar = "DIMS[:TYPE]"},
       {.name = "--python",
        .to = &python_,
        .about = "Python with torch, which exports TorchScript files; default: python3",
        .metavar = "PROGRAM"}});
}

Status TorchFile::check(const std::string& model, bool torch) const {
  Errors errors;
  for (const std::string& text : examples_)
    if (!is_example(text))
      errors.push_back({Errc::usage,
                        fmt::format("'{}' is no shape, e.g. 1x3x224x224 or 1x128:int64 (types: {})",
                                    text, fmt::join(kTypes, ", ")),
                        "--example"});
  if (torch && examples_.empty())
    errors.push_back({Errc::usage,
                      "a TorchScript file has no shapes: give one for each input, e.g. --example "
                      "1x3x224x224",
                      model});
  for (const auto& [given, option] :
       {std::pair(!examples_.empty(), "--example"), std::pair(!python_.empty(), "--python")})
    if (given && !torch)
      errors.push_back({Errc::usage,
                        fmt::format("is for TorchScript files (.pt, .pth), which '{}' isn't; "
                                    "--input-shape changes shapes of an ONNX file",
                                    model),
                        option});
  if (!errors.empty()) return errors;
  return ok();
}

Status TorchFile::export_to(const std::string& folder, const std::string& model) const {
  const auto data = data_folder();
  if (!data) return data.errors();
  const std::string python = python_.empty() ? kPython : python_;
  const std::string output = folder + "/output", errors = folder + "/errors";
  std::vector<std::string> words = {python, (*data / "python/accsim/_export.py").string(), model,
                                    folder + "/model.onnx"};
  words.insert(words.end(), examples_.begin(), examples_.end());
  pid_t child = 0;
  if (const int error = start(std::move(words), output, errors, child); error != 0)
    return Error{Errc::io,
                 fmt::format("a TorchScript file is read by Python with PyTorch: '{}' doesn't "
                             "start ({}); install Python 3 and torch (pip install torch; Debian: "
                             "python3-torch), or name another by --python",
                             python, std::strerror(error)),
                 model};
  const int status = wait_for(child);
  if (InterruptGuard::requested()) return Error{Errc::io, "interrupted", model};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kExported) return ok();
  if (code == kRefused) return Error{Errc::invalid, text_of(output), model};
  if (code == kNoTorch)
    return Error{Errc::io,
                 fmt::format("a TorchScript file is read by Python with PyTorch, and {} has no "
                             "torch: pip install torch, or Debian's python3-torch; --python names "
                             "another Python",
                             text_of(output)),
                 model};
  return Error{Errc::io,
               fmt::format("{} ended before it was exported{}{}", python,
                           WIFSIGNALED(status) ? fmt::format(", by signal {}", WTERMSIG(status))
                                               : std::string(": "),
                           last_line(text_of(errors))),
               model};
}

Result<Graph> TorchFile::load(const std::string& model, const ElaborateOptions& options) const {
  if (is_program(model)) return program_error(model);
  const bool torch = is_torch(model);
  if (const Status good = check(model, torch); !good) return good.errors();
  if (!torch) return load_graph(model, options);
  if (::access(model.c_str(), R_OK) != 0)
    return Error{Errc::io, fmt::format("can't be read: {}", std::strerror(errno)), model};
  const auto load = [&]() -> Result<Graph> {
    const InterruptGuard guard;
    const PrivateFolder folder("torch");
    if (folder.path().empty())
      return Error{Errc::io, fmt::format("no folder for its export: {}", std::strerror(errno)),
                   model};
    if (const Status done = export_to(folder.path(), model); !done) return done.errors();
    return load_graph_as(model, folder.path() + "/model.onnx", options);
  };
  Result<Graph> graph = load();
  if (InterruptGuard::requested()) std::raise(SIGINT);  // which ends the process now
  return graph;
}

}  // namespace accsim::sim
