#include "sim/onnx/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "sim/base/parse_number.h"
#include "sim/onnx/decode.h"
#include "sim/operators/fold.h"

namespace accsim::sim::onnx {
namespace {

struct Code {
  std::string_view code;  ///< NumPy's, without byte order
  DType dtype;
};
constexpr Code kCodes[] = {
    {"f4", DType::float32}, {"f8", DType::float64}, {"f2", DType::float16}, {"i1", DType::int8},
    {"i2", DType::int16},   {"i4", DType::int32},   {"i8", DType::int64},   {"u1", DType::uint8},
    {"u2", DType::uint16},  {"u4", DType::uint32},  {"u8", DType::uint64},  {"b1", DType::boolean},
};

/// What the header says.
struct Header {
  DType dtype = DType::undefined;
  Dims dims;
  bool swapped = false, fortran = false;
  size_t end = 0;
  size_t width = 0;  ///< bytes of an element
};

/// The text between `key` and the next of `stops`.
std::string_view header_field(std::string_view text, std::string_view key, std::string_view stop) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const size_t from = at + key.size(), to = text.find(stop, from);
  return to == std::string_view::npos ? std::string_view{} : text.substr(from, to - from);
}

bool parse_dims(std::string_view text, Dims& dims) {
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return true;
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc() || dim < 0) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.empty() && text.front() == 'L') text.remove_prefix(1);
    dims.push_back(dim);
  }
}

/// Characters that "U" elements have; 0 when there are none, or more than a file could hold.
size_t text_length(std::string_view digits) {
  constexpr size_t kMost = size_t{1} << 40;
  const size_t length = parse_number<size_t>(digits).value_or(0);
  return length <= kMost ? length : 0;
}

Result<Header> parse_header(std::string_view bytes, const std::string& file) {
  if (bytes.size() < 12 || !begins_as_npy(bytes)) return bad_npy(file, "isn't a .npy file");
  const bool wide = bytes[6] != 1;  // formats 2 and 3 have four bytes of length
  const auto* raw = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t length = little_endian(raw + 8, wide ? 4 : 2), start = wide ? 12 : 10;
  if (length > bytes.size() - start) return bad_npy(file, "ends inside its header");
  const std::string_view text = bytes.substr(start, length);
  Header h;
  h.end = start + length;
  std::string_view descr = header_field(text, "'descr': '", "'");
  if (descr.empty()) return bad_npy(file, "holds no plain array");
  if (descr.front() == '<' || descr.front() == '>' || descr.front() == '|' ||
      descr.front() == '=') {
    h.swapped = descr.front() == '>';
    descr.remove_prefix(1);
  }
  for (const Code& c : kCodes)
    if (c.code == descr) h.dtype = c.dtype;
  h.width = static_cast<size_t>(storage_bytes(h.dtype, 1));
  if (descr.starts_with('U')) {
    h.dtype = DType::string;
    h.width = 4 * text_length(descr.substr(1));
    if (h.width == 0) return bad_npy(file, "holds strings without a length");
  }
  if (h.dtype == DType::undefined)
    return bad_npy(file,
                   fmt::format("holds elements of type '{}', which isn't computed with", descr));
  h.fortran = text.find("'fortran_order': True") != std::string_view::npos;
  if (text.find("'shape': (") == std::string_view::npos ||
      !parse_dims(header_field(text, "'shape': (", ")"), h.dims))
    return bad_npy(file, "doesn't state its shape");
  return h;
}

/// The same elements in row-major order.
std::vector<uint8_t> turned_elements(const std::vector<uint8_t>& raw, const Dims& dims,
                                     size_t width) {
  Strides strides(dims.size());
  int64_t step = 1;
  for (size_t d = 0; d < strides.size(); ++d) {
    strides[d] = step;
    step *= dims[d];
  }
  std::vector<uint8_t> out(raw.size());
  size_t to = 0;
  for (const int64_t at : strided_offsets(dims, strides)) {
    std::memcpy(out.data() + to, raw.data() + static_cast<size_t>(at) * width, width);
    to += width;
  }
  return out;
}

}  // namespace

std::string_view npy_code(DType dtype) {
  for (const Code& c : kCodes)
    if (c.dtype == dtype) return c.code;
  return {};
}

bool begins_as_npy(std::string_view bytes) { return bytes.starts_with(kNpyMagic); }

Error bad_npy(const std::string& file, std::string why) {
  return {Errc::parse, std::move(why) + "; write it again with numpy.save", file};
}

Result<ArrayElements> read_npy_elements(std::string_view bytes, const std::string& file) {
  const Result<Header> h = parse_header(bytes, file);
  if (!h) return h.errors();
  const std::optional<int64_t> count = checked_elements(h->dims);
  const size_t width = h->width;
  const size_t data = bytes.size() - h->end;
  if (!count || static_cast<uint64_t>(*count) > data / width ||
      static_cast<size_t>(*count) * width > data)
    return bad_npy(file, fmt::format("is too short for an array of {}", to_string(h->dims)));
  std::vector<uint8_t> raw(
      bytes.begin() + static_cast<ptrdiff_t>(h->end),
      bytes.begin() + static_cast<ptrdiff_t>(h->end) + *count * static_cast<int64_t>(width));
  const size_t number = h->dtype == DType::string ? 4 : width;
  if (h->swapped)
    for (size_t i = 0; i < raw.size(); i += number)
      std::reverse(raw.begin() + static_cast<ptrdiff_t>(i),
                   raw.begin() + static_cast<ptrdiff_t>(i + number));
  if (h->fortran && h->dims.size() > 1) raw = turned_elements(raw, h->dims, width);
  return ArrayElements{h->dtype, h->dims, width, std::move(raw)};
}

}  // namespace accsim::sim::onnx
