#include "sim/app/torch_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "sim/app/interrupt.h"
#include "sim/app/paths.h"
#include "sim/base/private_folder.h"

namespace accsim::sim {
namespace {

constexpr const char* kPython = "python3";
constexpr int kDone = 0, kRefused = 65, kNoTorch = 69;

/// `text` with every `from` replaced.
std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
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
int start_program(std::vector<std::string> words, const std::string& output,
                  const std::string& errors, pid_t& child) {
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

/// An error about a program that isn't there or lacks torch: what to install.
Error no_torch(const TorchProgram& program, const std::string& file, const std::string& why) {
  return {Errc::io, fmt::format("{} is read by Python with PyTorch{}", program.reads, why), file};
}

}  // namespace

Errors renamed_errors(Errors errors, const std::string& file, const std::string& name) {
  for (Error& e : errors) {
    e.where = replace_all(e.where, file, name);
    e.message = replace_all(e.message, file, name);
  }
  return errors;
}

bool is_torch_file(std::string_view file) {
  return file.ends_with(".pt") || file.ends_with(".pth");
}

Status in_torch_folder(const std::string& file,
                       const std::function<Status(const std::string&)>& use) {
  const auto in_folder = [&]() -> Status {
    const InterruptGuard guard;
    const PrivateFolder folder("torch");
    if (folder.path().empty())
      return Error{Errc::io, fmt::format("no folder for what it holds: {}", std::strerror(errno)),
                   file};
    return use(folder.path());
  };
  const Status done = in_folder();
  if (InterruptGuard::requested()) std::raise(SIGINT);  // which ends the process now
  return done;
}

Status run_torch_program(const TorchProgram& program, const std::string& python,
                         const std::string& file, const std::string& folder,
                         const std::vector<std::string>& words) {
  const auto data = data_folder();
  if (!data) return data.errors();
  const std::string started = python.empty() ? kPython : python;
  const std::string output = folder + "/output", errors = folder + "/errors";
  std::vector<std::string> all = {started, (*data / "python/accsim" / program.script).string(),
                                  file};
  all.insert(all.end(), words.begin(), words.end());
  pid_t child = 0;
  if (const int error = start_program(std::move(all), output, errors, child); error != 0)
    return no_torch(program, file,
                    fmt::format(": '{}' doesn't start ({}); install Python 3 and torch (pip "
                                "install torch; Debian: python3-torch), or name another by "
                                "--python",
                                started, std::strerror(error)));
  const int status = wait_for(child);
  if (InterruptGuard::requested()) return Error{Errc::io, "interrupted", file};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kDone) return ok();
  if (code == kRefused) return Error{Errc::invalid, text_of(output), file};
  if (code == kNoTorch)
    return no_torch(program, file,
                    fmt::format(", and {} has no torch: pip install torch, or Debian's "
                                "python3-torch; --python names another Python",
                                text_of(output)));
  return Error{Errc::io,
               fmt::format("{} ended before {}{}{}", started, program.does,
                           WIFSIGNALED(status) ? fmt::format(", by signal {}", WTERMSIG(status))
                                               : std::string(": "),
                           last_line(text_of(errors))),
               file};
}

}  // namespace accsim::sim
