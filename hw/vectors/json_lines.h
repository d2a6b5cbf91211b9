#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/golden/golden.h"
#include "hw/vectors/command_stream.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// A file of JSON objects, a line each.
class JsonLines {
 public:
  explicit JsonLines(const std::filesystem::path& file) : file_(file), out_(file) {}
  /// Errors of the file system come with close_files().
  void add_line(const nlohmann::ordered_json& line);
  /// Errc::io.
  Status close();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

/// What lines of all lists say of a command: its place in the program, its name, its loops.
nlohmann::ordered_json line_head(const RetiredCommand& r, const StreamedCommand& c);

}  // namespace accsim::hw
