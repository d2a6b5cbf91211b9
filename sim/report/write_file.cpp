#include "sim/report/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace accsim::sim {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

Error io_error(const std::string& path, std::string message) {
  return {Errc::io, std::move(message), path};
}

/// Writes everything, syncs and closes; 0 or the errno of the first step that fails.
int write_and_close(int fd, std::string_view text, bool sync) {
  int failure = 0;
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      failure = errno;
      break;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  if (failure == 0 && sync && ::fsync(fd) != 0) failure = errno;
  if (::close(fd) != 0 && failure == 0) failure = errno;
  return failure;
}

/// The file that a chain of symbolic links ends in; the path itself when there is no such file yet.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string out = real;
  std::free(real);
  return out;
}

/// Creates a new file in `folder` ("" or ending in '/'); its descriptor, or -1 with errno set.
int create_temporary(const std::string& folder, std::string& name) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    name = fmt::format("{}.accsim-{}-{}.tmp", folder, ::getpid(), i);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

Status write_directly(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return io_error(path, fmt::format("can't open it for writing: {}", reason(errno)));
  const int failure = write_and_close(fd, text, false);
  if (failure != 0) return io_error(path, fmt::format("can't write: {}", reason(failure)));
  return ok();
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view text) {
  if (path.empty()) return io_error("", "can't write a file without a name");
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return io_error(path, "is a folder; name a file in it instead");
  // Renaming over a device would replace it.
  if (exists && !S_ISREG(info.st_mode)) return write_directly(path, text);
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return io_error(path, fmt::format("can't replace it: {}", reason(errno)));

  const std::string target = exists ? resolved(path) : path;
  const std::string folder = target.substr(0, target.rfind('/') + 1);
  std::string temporary;
  const int fd = create_temporary(folder, temporary);
  if (fd < 0) {
    const int code = errno;
    return io_error(path, fmt::format("can't create a file in the folder '{}': {}",
                                      folder.empty() ? "." : folder, reason(code)));
  }
  if (exists) (void)::fchmod(fd, info.st_mode & 07777);  // else the new file has the usual mode
  int failure = write_and_close(fd, text, true);
  if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    return io_error(path, fmt::format("can't write: {}", reason(failure)));
  }
  return ok();
}

}  // namespace accsim::sim
