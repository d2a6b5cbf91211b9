#include "sim/sweep/step_limit.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sim/sweep/sqlite_files.h"

namespace accsim::sim {
namespace {

constexpr int kStepsPerCall = 10'000;

int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

}  // namespace

StepLimit::StepLimit(sqlite3* connection, const std::string& path) : files_{path} {
  sqlite3_progress_handler(
      connection, kStepsPerCall,
      [](void* limit) { return static_cast<StepLimit*>(limit)->is_passed() ? 1 : 0; }, this);
}

void StepLimit::add_file(const std::string& path) {
  if (std::ranges::find(files_, path) == files_.end()) files_.push_back(path);
}

/// The files grow while a sweep writes them: their sizes are asked for when they matter.
bool StepLimit::is_passed() {
  steps_ += kStepsPerCall;
  if (steps_ <= most_) return false;
  int64_t bytes = 0;
  for (const std::string& file : files_) {
    bytes += size_of(file);
    for (const std::string& beside : files_beside(file)) bytes += size_of(beside);
  }
  most_ = kSteps + kStepsPerByte * bytes;
  return steps_ > most_;
}

}  // namespace accsim::sim
