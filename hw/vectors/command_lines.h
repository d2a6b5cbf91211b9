#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hw/timing/timing.h"
#include "hw/vectors/json_lines.h"
#include "hw/vectors/value_files.h"

namespace accsim::hw {

/// commands.jsonl and descriptors: all commands with tokens and cycles.
class CommandLines {
 public:
  CommandLines(const Program& program, const std::filesystem::path& folder, NumberFormats formats);

  /// A command that golden has retired, with the time that the model has for it.
  void add_command(const RetiredCommand& r, const StreamedCommand& c, const CommandTime& time,
                   ValueFiles& values);
  /// Errc::io.
  Status close() { return lines_.close(); }
  std::vector<std::pair<std::string, NumberFile*>> number_files();

 private:
  void add_core_fields(const RetiredCommand& r, const QueueUnroller::Entry& core,
                       nlohmann::ordered_json& line);

  const Program& program_;
  NumberFile descriptors_;
  JsonLines lines_;
};

}  // namespace accsim::hw
