#include "hw/vectors/vectors.h"

#include <fmt/format.h>

#include <optional>

#include "hw/program/visit.h"
#include "hw/timing/timing.h"
#include "hw/vectors/command_lines.h"
#include "hw/vectors/manifest.h"
#include "hw/vectors/tile_lines.h"

namespace accsim::hw {
namespace {

bool has_input_stationary(const Program& p) {
  const auto turned = [](Dataflow d) { return d == Dataflow::input_stationary; };
  return turned(p.dataflow) ||
         any_in_nest(p.body, [&](const LayerHead& head) { return turned(head.dataflow); });
}

/// Takes commands as golden retires them.
class VectorWriter {
 public:
  VectorWriter(const Program& program, const HwConfig& hw, const VectorOptions& options,
               const std::filesystem::path& folder)
      : program_(program),
        hw_(hw),
        options_(options),
        folder_(folder),
        stream_(program, hw),
        values_(hw, has_input_stationary(program), folder, options.formats) {
    if (options.level == VectorLevel::command)
      commands_.emplace(program, folder, options.formats);
    else
      tiles_.emplace(hw, folder, options.formats);
  }

  Result<VectorSummary> write_all(MemoryImage image, const VectorOrigin& origin) {
    const Timing timing = simulate(program_, hw_, TimingMode::step,
                                   [this](const CommandTime& t) { times_.push_back(t); });
    summary_.cycles = timing.total.count();
    if (Status s = write_memory("before", image); !s) return s.errors();
    const RetireHook hook = [this](const RetiredCommand& r) { take_command(r); };
    if (Status s = run_golden(program_, hw_, image, hook); !s) return s.errors();
    if (!failed_.empty()) return failed_;
    if (Status s = write_memory("after", image); !s) return s.errors();
    if (Status s = close_files(origin); !s) return s.errors();
    return summary_;
  }

 private:
  static constexpr int64_t kProgress = 256;  ///< commands

  void take_command(const RetiredCommand& r) {
    if (!failed_.empty()) return;
    const auto next = stream_.next_command(r);
    if (!next) {
      failed_ = next.errors();
      return;
    }
    ++summary_.commands;
    if (summary_.commands % kProgress == 0 && options_.progress &&
        !options_.progress(summary_.commands, std::ssize(times_)))
      failed_ = {Error{Errc::io, "interrupted: nothing is kept", folder_.string()}};
    if (commands_)
      commands_->add_command(r, **next, times_[static_cast<size_t>(r.ordinal)], values_);
    if (tiles_) tiles_->add_command(r, **next, values_);
  }

  Status write_memory(std::string_view when, const MemoryImage& image) const {
    if (!commands_) return ok();
    std::error_code failed;
    const std::filesystem::path to = folder_ / fmt::format("memory_{}", when);
    std::filesystem::create_directory(to, failed);
    if (failed) return Error{Errc::io, failed.message(), to.string()};
    for (size_t t = 0; t < image.size(); ++t) {
      NumberFile out(folder_ / memory_file(when, t), options_.formats, NumberType::uint8, 0);
      out.write_bytes(image[t]);
      if (Status s = out.close(); !s) return s;
    }
    return ok();
  }

  Status close_files(const VectorOrigin& origin) {
    auto files = values_.number_files();
    const auto more = commands_ ? commands_->number_files() : tiles_->number_files();
    files.insert(files.end(), more.begin(), more.end());
    for (const auto& [name, f] : files)
      if (Status s = f->close(); !s) return s;
    if (Status s = commands_ ? commands_->close() : tiles_->close(); !s) return s;
    if (tiles_) {
      summary_.tiles = tiles_->tile_count();
      summary_.posts = tiles_->post_count();
    }
    return write_manifest({program_, hw_, origin, options_}, files, folder_, summary_);
  }

  const Program& program_;
  const HwConfig& hw_;
  const VectorOptions& options_;
  const std::filesystem::path& folder_;
  CommandStream stream_;
  ValueFiles values_;
  std::optional<CommandLines> commands_;
  std::optional<TileLines> tiles_;
  std::vector<CommandTime> times_;
  VectorSummary summary_;
  Errors failed_;
};

}  // namespace

std::string_view name(VectorLevel level) { return level == VectorLevel::tile ? "tile" : "command"; }

Result<VectorSummary> write_vectors(const Program& program, const HwConfig& hw, MemoryImage image,
                                    const VectorOrigin& origin, const VectorOptions& options,
                                    const std::filesystem::path& folder) {
  return VectorWriter(program, hw, options, folder).write_all(std::move(image), origin);
}

}  // namespace accsim::hw
