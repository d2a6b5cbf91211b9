// Loaded in front of the C library (LD_PRELOAD), makes calls of it fail, so that tests see what the
// program makes of it. The environment says which:
//
//   FAULTS_ALLOCATION=N  the N-th allocation from main() on gives nothing; N+: all after it, too
//   FAULTS_THREAD=N      the N-th thread isn't started (EAGAIN); N+ likewise
//   FAULTS_WRITE=N       the N-th write to a file or pipe fails with FAULTS_ERRNO (a number); N+
//   FAULTS_SIGNAL=NUMBER that write doesn't fail: the signal comes before it
//   FAULTS_SHRINK=NAME   a file whose path ends so has half its bytes as soon as it is mapped
//   FAULTS_LOG=FILE      how many calls of each kind there were, as "allocations threads writes"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>

namespace {

/// A kind of call: how many there have been, and which of them fail.
struct Fault {
  std::atomic<long> calls{0};
  long first = 0;      // 0: none
  bool later = false;  // those after it, too

  void set(const char* variable) {
    const char* text = getenv(variable);
    if (text == nullptr) return;
    char* end = nullptr;
    first = strtol(text, &end, 10);
    later = *end == '+';
  }
  bool fails() {
    const long n = ++calls;
    return first > 0 && (n == first || (later && n > first));
  }
};

Fault allocation, thread, writing;
std::atomic<bool> counts{false};  // main() has begun
int write_error = ENOSPC, write_signal = 0;
const char *shrunk = nullptr, *log_file = nullptr;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void leave_log() {
  counts = false;
  const int fd = open(log_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char text[100];
  const int size = snprintf(text, sizeof text, "%ld %ld %ld\n", allocation.calls.load(),
                            thread.calls.load(), writing.calls.load());
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  (void)!real(fd, text, static_cast<size_t>(size));
  close(fd);
}

bool no_memory() {
  if (!counts || !allocation.fails()) return false;
  errno = ENOMEM;
  return true;
}

/// Is it a file or a pipe? What goes to a terminal or an event isn't lost.
bool no_room(int fd) {
  struct stat info {};
  if (!counts || fstat(fd, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)))
    return false;
  if (fd == STDERR_FILENO || !writing.fails()) return false;
  if (write_signal != 0) {
    raise(write_signal);
    return false;
  }
  errno = write_error;
  return true;
}

}  // namespace

extern "C" {

// Those of the allocator behind this one, the program's or glibc's: what it gave it takes back.
void* malloc(size_t size) {
  static const auto real = next<void* (*)(size_t)>("malloc");
  return no_memory() ? nullptr : real(size);
}
void* calloc(size_t count, size_t size) {
  static const auto real = next<void* (*)(size_t, size_t)>("calloc");
  return no_memory() ? nullptr : real(count, size);
}
void* realloc(void* old, size_t size) {
  static const auto real = next<void* (*)(void*, size_t)>("realloc");
  return no_memory() ? nullptr : real(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  static const auto real = next<void* (*)(size_t, size_t)>("aligned_alloc");
  return no_memory() ? nullptr : real(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  static const auto real = next<int (*)(void**, size_t, size_t)>("posix_memalign");
  return no_memory() ? ENOMEM : real(out, alignment, size);
}

int pthread_create(pthread_t* out, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (counts && thread.fails()) return EAGAIN;
  static const auto real =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(out, attributes, start, argument);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (no_room(fd)) return -1;
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return real(fd, bytes, size);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  if (no_room(fd)) return -1;
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return real(fd, bytes, size, at);
}
int fsync(int fd) {
  if (no_room(fd)) return -1;
  static const auto real = next<int (*)(int)>("fsync");
  return real(fd);
}

void* mmap(void* where, size_t size, int protection, int flags, int fd, off_t at) {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  void* const out = real(where, size, protection, flags, fd, at);
  if (out == MAP_FAILED || fd < 0 || shrunk == nullptr || !counts) return out;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return out;
  path[length] = '\0';
  const size_t end = strlen(shrunk);
  if (static_cast<size_t>(length) >= end && strcmp(path + length - end, shrunk) == 0)
    (void)!truncate(path, static_cast<off_t>(size / 2));
  return out;
}
void* mmap64(void* where, size_t size, int protection, int flags, int fd, off64_t at) {
  return mmap(where, size, protection, flags, fd, at);
}

using Main = int (*)(int, char**, char**);

static Main real_main;

static int counted_main(int argc, char** argv, char** environment) {
  allocation.set("FAULTS_ALLOCATION");
  thread.set("FAULTS_THREAD");
  writing.set("FAULTS_WRITE");
  if (const char* error = getenv("FAULTS_ERRNO"))
    write_error = static_cast<int>(strtol(error, nullptr, 10));
  if (const char* number = getenv("FAULTS_SIGNAL"))
    write_signal = static_cast<int>(strtol(number, nullptr, 10));
  shrunk = getenv("FAULTS_SHRINK");
  log_file = getenv("FAULTS_LOG");
  unsetenv("LD_PRELOAD");  // what the program starts is none of the test's business
  counts = true;
  const int code = real_main(argc, argv, environment);
  counts = false;
  if (log_file != nullptr) leave_log();
  return code;
}

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-function-size): glibc's
int __libc_start_main(Main main_function, int argc, char** argv, void (*begin)(), void (*end)(),
                      void (*end_loader)(), void* stack) {
  real_main = main_function;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(counted_main, argc, argv, begin, end, end_loader, stack);
}

}  // extern "C"

// An allocator may have these of its own, which don't call malloc(): theirs do here.
// NOLINTBEGIN(misc-new-delete-overloads): what they give is malloc()'s, and so is what frees it
void* operator new(size_t size) {
  if (void* out = malloc(size)) return out;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  void* out = nullptr;
  if (posix_memalign(&out, static_cast<size_t>(alignment), size) == 0) return out;
  throw std::bad_alloc();
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
// NOLINTEND(misc-new-delete-overloads)
