#include "sim/report/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace accsim::sim {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

Error io_error(const std::string& path, std::string message) {
  return {Errc::io, std::move(message), path};
}

/// Where a chain of symbolic links ends, whether there is a file yet or not; "" when it has no end.
std::string resolved(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path out(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(out, error)) return out.string();
    const std::filesystem::path next = std::filesystem::read_symlink(out, error);
    if (error) return path;
    out = out.parent_path() / next;  // or `next` alone, when it is absolute
  }
  return "";
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

}  // namespace

Result<FileWriter> FileWriter::create(const std::string& path) {
  if (path.empty()) return io_error("", "can't write a file without a name");
  FileWriter out;
  out.path_ = path;
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return io_error(path, "is a folder; name a file in it instead");
  // Renaming over a device would replace it.
  if (exists && !S_ISREG(info.st_mode)) {
    out.file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (out.file_ < 0)
      return io_error(path, fmt::format("can't open it for writing: {}", reason(errno)));
    return out;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0)
    return io_error(path, fmt::format("can't replace it: {}", reason(errno)));
  out.target_ = resolved(path);
  if (out.target_.empty()) return io_error(path, "is a link that leads to itself");
  const std::string folder = out.target_.substr(0, out.target_.rfind('/') + 1);
  out.file_ = create_temporary(folder, out.temporary_);
  if (out.file_ < 0) {
    const int code = errno;
    out.temporary_.clear();  // another's
    return io_error(path, fmt::format("can't create a file in the folder '{}': {}",
                                      folder.empty() ? "." : folder, reason(code)));
  }
  if (exists)
    (void)::fchmod(out.file_, info.st_mode & 07777);  // else the new file has the usual mode
  return out;
}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this == &other) return *this;
  drop();
  file_ = std::exchange(other.file_, -1);
  path_ = std::exchange(other.path_, {});
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

void FileWriter::drop() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  file_ = -1;
  temporary_.clear();
}

Status FileWriter::fail(std::string_view what, int code) {
  drop();
  return io_error(path_, fmt::format("{}: {}", what, reason(code)));
}

Status FileWriter::write(std::string_view bytes) {
  if (file_ < 0) return io_error(path_, "can't write: an earlier write failed");
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    // What is copied may be mapped from a file.
    if (n < 0 && errno == EFAULT)
      return fail("can't be copied from a file that was cut short", errno);
    if (n < 0) return fail("can't write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return ok();
}

Status FileWriter::commit() {
  if (file_ < 0) return io_error(path_, "can't write: an earlier write failed");
  if (!temporary_.empty() && ::fsync(file_) != 0) return fail("can't write", errno);
  if (::close(std::exchange(file_, -1)) != 0) return fail("can't write", errno);
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0)
    return fail("can't write", errno);
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
