#include "sim/report/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/base/links.h"

namespace accsim::sim {
namespace {

std::string errno_text(int code) { return std::generic_category().message(code); }

Error io_error(const std::string& path, std::string message) {
  return {Errc::io, std::move(message), path};
}

/// The descriptor of this process that a path means, through whatever links: /dev/stdout,
/// /dev/fd/3; nothing for other paths.
std::optional<int> own_descriptor(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  const std::filesystem::path own = std::filesystem::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  std::filesystem::path at = std::filesystem::absolute(path, error);
  for (int i = 0; i < kMostLinks && !error && std::filesystem::is_symlink(at, error); ++i) {
    if (std::filesystem::canonical(at.parent_path(), error) == own) {
      const std::string name = at.filename().string();
      int number = -1;
      std::from_chars(name.data(), name.data() + name.size(), number);
      return number;
    }
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  }
  return std::nullopt;
}

/// Calls `make` with names of new files in `folder` ("" or ending in '/') until one isn't there
/// yet; what it gave, and errno, for the last.
template <class Make>
int with_new_name(const std::string& folder, std::string& name, const Make& make) {
  constexpr int kTries = 100;
  int result = -1;
  for (int i = 0; i < kTries; ++i) {
    name = fmt::format("{}.accsim-{}-{}.tmp", folder, ::getpid(), i);
    result = make(name.c_str());
    if (result >= 0 || errno != EEXIST) return result;
  }
  return result;
}

/// Creates a new file in `folder`, with a name only where it must have one; its descriptor, or -1
/// with errno set.
int create_temporary(const std::string& folder, std::string& name) {
  const bool can_name = ::access("/proc/self/fd", X_OK) == 0;  // put_in_place() needs it
  const char* const in = folder.empty() ? "." : folder.c_str();
  const int unnamed = can_name ? ::open(in, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
  if (unnamed >= 0) return unnamed;
  return with_new_name(folder, name, [](const char* path) {
    return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
}

/// Puts an unnamed file in the target's place; 0, or -1 with errno set. No signal comes between its
/// two steps.
int put_in_place(int file, const std::string& target) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const std::string from = fmt::format("/proc/self/fd/{}", file);
  std::string name;
  int result = with_new_name(target.substr(0, target.rfind('/') + 1), name, [&](const char* path) {
    return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
  });
  int code = errno;
  if (result == 0 && ::rename(name.c_str(), target.c_str()) != 0) {
    result = -1;
    code = errno;
    ::unlink(name.c_str());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = code;
  return result;
}

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path) {
  if (path.empty()) return io_error("", "can't write a file without a name");
  FileWriter out;
  out.path_ = path;
  if (const std::optional<int> open = own_descriptor(path)) {
    out.file_ = ::fcntl(*open, F_DUPFD_CLOEXEC, 0);
    if (out.file_ < 0)
      return io_error(path, fmt::format("can't write to it: {}", errno_text(errno)));
    return out;
  }
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return io_error(path, "is a folder; name a file in it instead");
  // Renaming over a device would replace it.
  if (exists && !S_ISREG(info.st_mode)) {
    out.file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (out.file_ < 0)
      return io_error(path, fmt::format("can't open it for writing: {}", errno_text(errno)));
    return out;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return io_error(path, fmt::format("can't replace it: {}", errno_text(errno)));
  out.target_ = resolve_links(path);
  if (out.target_.empty()) return io_error(path, "is a link that leads to itself");
  const std::string folder = out.target_.substr(0, out.target_.rfind('/') + 1);
  out.file_ = create_temporary(folder, out.temporary_);
  if (out.file_ < 0) {
    const int code = errno;
    out.temporary_.clear();  // another's
    return io_error(path, fmt::format("can't create a file in the folder '{}': {}",
                                      folder.empty() ? "." : folder, errno_text(code)));
  }
  if (exists)
    (void)::fchmod(out.file_, info.st_mode & 07777);  // else the new file has the usual mode
  return out;
}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this == &other) return *this;
  discard_file();
  file_ = std::exchange(other.file_, -1);
  path_ = std::exchange(other.path_, {});
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

void FileWriter::discard_file() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  file_ = -1;
  temporary_.clear();
}

Status FileWriter::fail_write(std::string_view what, int code) {
  discard_file();
  return io_error(path_, fmt::format("{}: {}", what, errno_text(code)));
}

Status FileWriter::write(std::string_view bytes) {
  if (file_ < 0) return io_error(path_, "can't write: an earlier write failed");
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    // What is copied may be mapped from a file.
    if (n < 0 && errno == EFAULT)
      return fail_write("can't be copied from a file that was cut short", errno);
    if (n < 0) return fail_write("can't write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return ok();
}

Status FileWriter::commit() {
  if (file_ < 0) return io_error(path_, "can't write: an earlier write failed");
  const bool direct = target_.empty();
  if (!direct && ::fsync(file_) != 0) return fail_write("can't write", errno);
  if (!direct && temporary_.empty() && put_in_place(file_, target_) != 0)
    return fail_write("can't write", errno);
  if (::close(std::exchange(file_, -1)) != 0) return fail_write("can't write", errno);
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0)
    return fail_write("can't write", errno);
  temporary_.clear();
  return ok();
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  Result<FileWriter> file = FileWriter::create(path);
  if (!file) return file.errors();
  if (const Status s = file->write(text); !s) return s;
  return file->commit();
}

}  // namespace accsim::sim
