#include "hw/vectors/tile_lines.h"

#include <array>

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

/// Columns of the table: numbers of a tile's line, of a range the first.
constexpr std::array kTable = {
    "m",    "k",       "n", "a", "b", "products", "sums", "accumulate", "accumulator_row",
    "slot", "in_array"};

/// A x B alone, as the sums lie: m rows of n, input stationary n rows of m. It wraps at 32 bits.
std::vector<int32_t> products_of(const RetiredCommand& r, const GemmCommand& g) {
  const bool turned = r.dataflow == Dataflow::input_stationary;
  std::vector<int32_t> out(static_cast<size_t>(g.m * g.n));
  for (int64_t m = 0; m < g.m; ++m)
    for (int64_t n = 0; n < g.n; ++n) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < g.k; ++k)
        sum += static_cast<uint32_t>(r.a[static_cast<size_t>(m * g.k + k)] *
                                     r.b[static_cast<size_t>(k * g.n + n)]);
      out[static_cast<size_t>(turned ? n * g.m + m : m * g.n + n)] = static_cast<int32_t>(sum);
    }
  return out;
}

}  // namespace

TileLines::TileLines(const HwConfig& hw, const std::filesystem::path& folder, NumberFormats formats)
    : accumulators_(hw),
      products_(folder / "products", formats, NumberType::int32, hw.array.cols),
      post_sums_(folder / "post_sums", formats, NumberType::int32, hw.array.cols),
      group_multipliers_(folder / "group_multipliers", formats, NumberType::int32, 1),
      table_(folder / "tiles", formats, NumberType::int32, std::ssize(kTable)),
      tile_lines_(folder / "tiles.jsonl"),
      post_lines_(folder / "posts.jsonl") {}

void TileLines::add_command(const RetiredCommand& r, const StreamedCommand& c, ValueFiles& values) {
  accumulators_.take_command(r);
  if (const auto* g = std::get_if<GemmCommand>(r.command)) add_gemm(r, *g, c, values);
  if (const auto* p = std::get_if<PostCommand>(r.command)) add_post(r, *p, c, values);
}

void TileLines::add_gemm(const RetiredCommand& r, const GemmCommand& g, const StreamedCommand& c,
                         ValueFiles& values) {
  Json line{{"tile", tiles_++}};
  line.update(line_head(r, c));
  line["m"] = g.m;
  line["k"] = g.k;
  line["n"] = g.n;
  values.write_operands(r, g, line);
  line["products"] = put_rows(products_, products_of(r, g), r.row);
  line["sums"] = values.write_sums(r);
  line["accumulate"] = !r.overwrites;
  line["accumulator_row"] = r.address;
  line["slot"] = r.slot;
  line["in_array"] = r.in_array;
  tile_lines_.add_line(line);
  std::array<int32_t, kTable.size()> row{};
  for (size_t i = 0; i < row.size(); ++i) {
    const Json& value = line[kTable[i]];
    row[i] = value.is_boolean() ? value.get<bool>()
                                : (value.is_array() ? value[0] : value).get<int32_t>();
  }
  table_.write_row(row);
}

/// What the post reads, group by group.
Json TileLines::sums_of(const PostCommand& p, int64_t slot, int64_t row) {
  const int64_t first = post_sums_.size();
  for (int64_t group = 0; group < p.groups; ++group)
    for (int64_t i = 0; i < p.rows; ++i)
      post_sums_.write_row(accumulators_.sums_of_row(slot, row + group * p.group_rows + i, p.cols));
  return {first, post_sums_.size() - first};
}

void TileLines::add_post(const RetiredCommand& r, const PostCommand& p, const StreamedCommand& c,
                         ValueFiles& values) {
  Json line{{"post", posts_++}};
  line.update(line_head(r, c));
  const int64_t row = evaluate(p.accumulator_row, r.loop_indices);
  const int64_t slot = c.core->slots[static_cast<size_t>(Buffer::accumulator)];
  line["rows"] = p.rows;
  line["columns"] = p.cols;
  line["transposed"] = p.transposed;
  line["accumulator_row"] = row;
  line["slot"] = slot;
  line["groups"] = p.groups;
  line["sums"] = sums_of(p, slot, row);
  line["parameters"] = values.write_parameters(r);
  if (p.groups > 1)
    line["group_multipliers"] = put_rows(group_multipliers_, r.group_multipliers, 1);
  line["zero"] = p.epilogue.zero;
  line["low"] = p.epilogue.lowest_result();
  line["high"] = p.epilogue.high;
  line["table"] = p.epilogue.table;
  line["residual"] = p.epilogue.residual.has_value();
  line["bytes"] = values.write_bytes(r);
  post_lines_.add_line(line);
}

Status TileLines::close() {
  if (Status s = tile_lines_.close(); !s) return s;
  return post_lines_.close();
}

std::vector<std::pair<std::string, NumberFile*>> TileLines::number_files() {
  return {{"products", &products_},
          {"post_sums", &post_sums_},
          {"group_multipliers", &group_multipliers_},
          {"tiles", &table_}};
}

}  // namespace accsim::hw
