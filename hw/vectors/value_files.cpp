#include "hw/vectors/value_files.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kParameters = 3;  ///< of a channel: bias, multiplier, shift

}  // namespace

ValueFiles::ValueFiles(const HwConfig& hw, bool turned, const std::filesystem::path& folder,
                       NumberFormats formats)
    : a_(folder / "a", formats, NumberType::int8, hw.array.rows),
      b_(folder / "b", formats, NumberType::int8,
         turned ? std::max(hw.array.rows, hw.array.cols) : hw.array.cols),
      sums_(folder / "sums", formats, NumberType::int32, hw.array.cols),
      parameters_(folder / "parameters", formats, NumberType::int32, kParameters),
      bytes_(folder / "bytes", formats, NumberType::uint8, 0) {}

void ValueFiles::write_operands(const RetiredCommand& r, const GemmCommand& g, Json& line) {
  const bool turned = r.dataflow == Dataflow::input_stationary;
  line["dataflow"] = name(r.dataflow);
  line["a"] = {a_.size(), g.m};
  for (int64_t i = 0; i < g.m; ++i)
    a_.write_row(r.a.subspan(static_cast<size_t>(i * g.k), static_cast<size_t>(g.k)));
  line["b"] = {b_.size(), turned ? g.n : g.k};
  if (!turned) {
    for (int64_t i = 0; i < g.k; ++i)
      b_.write_row(r.b.subspan(static_cast<size_t>(i * g.n), static_cast<size_t>(g.n)));
    return;
  }
  std::vector<int8_t> row(static_cast<size_t>(g.k));
  for (int64_t n = 0; n < g.n; ++n) {
    for (int64_t k = 0; k < g.k; ++k)
      row[static_cast<size_t>(k)] = r.b[static_cast<size_t>(k * g.n + n)];
    b_.write_row(std::span<const int8_t>(row));
  }
}

Json ValueFiles::write_sums(const RetiredCommand& r) { return put_rows(sums_, r.sums, r.row); }

Json ValueFiles::write_parameters(const RetiredCommand& r) {
  const int64_t first = parameters_.size();
  for (const Requantise& s : r.scales)
    parameters_.write_row(std::array<int32_t, kParameters>{s.bias, s.multiplier, s.shift});
  return {first, std::ssize(r.scales)};
}

Json ValueFiles::write_bytes(const RetiredCommand& r) {
  const int64_t first = bytes_.size();
  bytes_.write_bytes(r.bytes);
  return {first, std::ssize(r.bytes)};
}

std::vector<std::pair<std::string, NumberFile*>> ValueFiles::number_files() {
  return {
      {"a", &a_}, {"b", &b_}, {"sums", &sums_}, {"parameters", &parameters_}, {"bytes", &bytes_}};
}

Json put_rows(NumberFile& to, std::span<const int32_t> sums, int64_t columns) {
  const int64_t first = to.size();
  for (size_t at = 0; at < sums.size(); at += static_cast<size_t>(columns))
    to.write_row(sums.subspan(at, static_cast<size_t>(columns)));
  return {first, to.size() - first};
}

}  // namespace accsim::hw
