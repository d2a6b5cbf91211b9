#include "sim/rewrite/tiled_from.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "sim/base/dims.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostOfOne = int64_t{1} << 40;  // of one number in the property
constexpr int64_t kMostMacs = int64_t{1} << 50;   // of one layer, as elaboration allows
constexpr int64_t kMostPadding = int64_t{1} << 31;
constexpr std::string_view kHex = "0123456789ABCDEF";

std::string percent_encoded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte > ' ' && byte < 0x7F && c != '%' && c != ',' && c != '=')
      out += c;
    else
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t high =
        text[i] == '%' && i + 2 < text.size() ? kHex.find(text[i + 1]) : std::string_view::npos;
    const size_t low = high < 16 ? kHex.find(text[i + 2]) : std::string_view::npos;
    if (low < 16)
      out += static_cast<char>(high * 16 + low), i += 2;
    else
      out += text[i];
  }
  return out;
}

/// The fields of a line; every getter notes the first that is wrong.
class Fields {
 public:
  explicit Fields(std::string_view line) {
    for (const std::string_view field : split_text(line, ' ')) {
      const size_t at = field.find('=');
      if (at != std::string_view::npos) fields_[field.substr(0, at)] = field.substr(at + 1);
    }
  }
  std::string_view text_of(std::string_view key) {
    const auto found = fields_.find(key);
    if (found == fields_.end()) wrong(key);
    return found == fields_.end() ? std::string_view() : found->second;
  }
  std::string name_of(std::string_view key) { return percent_decoded(text_of(key)); }
  int64_t number_of(std::string_view key) { return numbers_of<1>(key, 1)[0]; }
  bool flag_of(std::string_view key) { return numbers_of<1>(key, 0)[0] != 0; }
  template <size_t n>
  std::array<int64_t, n> numbers_of(std::string_view key, int64_t least) {
    std::array<int64_t, n> out{};
    const auto numbers = parse_numbers(text_of(key), 'x', least);
    if (!numbers || numbers->size() != n) return wrong(key), out;
    std::ranges::copy(*numbers, out.begin());
    if (std::ranges::max(out) > kMostOfOne) wrong(key);
    return out;
  }
  void wrong(std::string_view key) {
    if (wrong_.empty()) wrong_ = key;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  std::map<std::string_view, std::string_view> fields_;
  std::string wrong_;
};

std::string extent_text(const Extent3& e) { return fmt::format("{}x{}x{}", e[0], e[1], e[2]); }

GemmOp read_op(Fields& f) {
  GemmOp op;
  op.batch = f.number_of("batch");
  op.images = f.number_of("images");
  op.channels = f.number_of("channels");
  op.outputs = f.number_of("outputs");
  op.in = f.numbers_of<3>("in", 1);
  op.out = f.numbers_of<3>("out", 1);
  op.kernel = f.numbers_of<3>("kernel", 1);
  op.stride = f.numbers_of<3>("stride", 1);
  op.dilation = f.numbers_of<3>("dilation", 1);
  op.pad = f.numbers_of<3>("pad", 0);
  op.grouped = f.flag_of("grouped");
  op.a_shared = f.flag_of("a_shared");
  op.b_shared = f.flag_of("b_shared");
  op.a_transposed = f.flag_of("a_transposed");
  op.b_transposed = f.flag_of("b_transposed");
  if (f.flag_of("bias")) op.bias_port = 2;
  const auto& [d, h, w] = op.out;
  const auto& [kd, kh, kw] = op.kernel;
  const auto macs =
      checked_elements({op.batch, op.images, d, h, w, op.channels, kd, kh, kw, op.outputs});
  if (!macs || *macs > kMostMacs) f.wrong("out");
  if (!checked_elements({op.batch, op.images, op.channels, op.in[0], op.in[1], op.in[2]}))
    f.wrong("in");
  // What elaboration lets pass: any padding up to a limit, in front and (as far as the windows
  // reach) behind.
  for (size_t i = 0; i < 3 && f.wrong().empty(); ++i) {
    const auto span = checked_elements({op.out[i] - 1, op.stride[i]});
    const auto reach = checked_elements({op.kernel[i] - 1, op.dilation[i]});
    if (op.pad[i] > kMostPadding) f.wrong("pad");
    if (!reach || *reach - op.in[i] - op.pad[i] > kMostPadding) f.wrong("kernel");
    if (!span || *span + reach.value_or(0) - op.in[i] - op.pad[i] > kMostPadding) f.wrong("out");
  }
  return op;
}

}  // namespace

std::string to_line(const TiledFrom& t) {
  const GemmOp& op = t.op;
  std::string out = fmt::format(
      "op={} m={} k={} n={} tile={}x{}x{} edge={} products={} layer={} prefix={}", t.op_type,
      op.m(), op.k(), op.n(), t.tile.m, t.tile.k, t.tile.n, t.padded ? "pad" : "ragged", t.products,
      percent_encoded(t.layer), percent_encoded(t.prefix));
  out += fmt::format(
      " batch={} images={} channels={} outputs={} in={} out={} kernel={} stride={} "
      "dilation={} pad={}",
      op.batch, op.images, op.channels, op.outputs, extent_text(op.in), extent_text(op.out),
      extent_text(op.kernel), extent_text(op.stride), extent_text(op.dilation),
      extent_text(op.pad));
  out += fmt::format(
      " grouped={:d} a_shared={:d} b_shared={:d} a_transposed={:d} b_transposed={:d} "
      "bias={:d} inputs=",
      op.grouped, op.a_shared, op.b_shared, op.a_transposed, op.b_transposed,
      op.bias_port.is_of_node());
  for (size_t i = 0; i < t.inputs.size(); ++i)
    out += (i > 0 ? "," : "") + percent_encoded(t.inputs[i]);
  return out + " output=" + percent_encoded(t.output);
}

Result<std::vector<TiledFrom>> parse_tiled_from(const std::string& text, const std::string& file) {
  std::vector<TiledFrom> out;
  size_t number = 0;
  for (const std::string_view line : split_text(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    Fields f(line);
    TiledFrom& t = out.emplace_back();
    t.layer = f.name_of("layer");
    t.op_type = f.name_of("op");
    t.prefix = f.name_of("prefix");
    t.op = read_op(f);
    const auto [m, k, n] = f.numbers_of<3>("tile", 1);
    t.tile = {m, k, n};
    t.padded = f.text_of("edge") == "pad";
    t.products = f.number_of("products");
    for (const std::string_view name : split_text(f.text_of("inputs"), ','))
      t.inputs.push_back(percent_decoded(name));
    t.output = f.name_of("output");
    if (!f.wrong().empty())
      return Error{
          Errc::invalid,
          fmt::format("line {}: field '{}' is missing or impossible; remove the property or "
                      "cut the model again with accsim tile",
                      number, f.wrong()),
          fmt::format("{}: metadata property '{}'", file, kTiledFrom)};
  }
  return out;
}

}  // namespace accsim::sim
