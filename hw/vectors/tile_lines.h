#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hw/vectors/accumulators.h"
#include "hw/vectors/json_lines.h"
#include "hw/vectors/value_files.h"

namespace accsim::hw {

/// tiles.jsonl, tiles and posts.jsonl, with what they name: operands and results of an array alone.
class TileLines {
 public:
  TileLines(const HwConfig& hw, const std::filesystem::path& folder, NumberFormats formats);

  /// A command that golden has retired; all are told, gemms and posts are written.
  void add_command(const RetiredCommand& r, const StreamedCommand& c, ValueFiles& values);
  int64_t tile_count() const { return tiles_; }
  int64_t post_count() const { return posts_; }
  /// Errc::io.
  Status close();
  std::vector<std::pair<std::string, NumberFile*>> number_files();

 private:
  void add_gemm(const RetiredCommand& r, const GemmCommand& g, const StreamedCommand& c,
                ValueFiles& values);
  void add_post(const RetiredCommand& r, const PostCommand& p, const StreamedCommand& c,
                ValueFiles& values);
  nlohmann::ordered_json sums_of(const PostCommand& p, int64_t slot, int64_t row);

  Accumulators accumulators_;
  NumberFile products_, post_sums_, group_multipliers_;
  NumberFile table_;  ///< "tiles": the numbers of tiles.jsonl for who can't read JSON
  JsonLines tile_lines_, post_lines_;
  int64_t tiles_ = 0, posts_ = 0;
};

}  // namespace accsim::hw
