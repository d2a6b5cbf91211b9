#include "sim/ref/npy.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "sim/base/json_text.h"
#include "sim/base/parse_number.h"
#include "sim/onnx/decode.h"
#include "sim/operators/fold.h"
#include "sim/ref/raw.h"
#include "sim/ref/texts.h"

namespace accsim::sim::ref {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

struct Code {
  std::string_view code;  ///< NumPy's, without byte order
  DType dtype;
};
constexpr Code kCodes[] = {
    {"f4", DType::float32}, {"f8", DType::float64}, {"f2", DType::float16}, {"i1", DType::int8},
    {"i2", DType::int16},   {"i4", DType::int32},   {"i8", DType::int64},   {"u1", DType::uint8},
    {"u2", DType::uint16},  {"u4", DType::uint32},  {"u8", DType::uint64},  {"b1", DType::boolean},
};

DType written_type(const Array& a) {
  if (a.dtype() == DType::float16 || a.dtype() == DType::boolean) return a.dtype();
  for (const Code& c : kCodes)
    if (c.dtype != DType::float16 && c.dtype != DType::boolean && element_kind(c.dtype) == a.kind())
      return c.dtype;
  return DType::float32;
}

Error bad_file(const std::string& file, std::string why) {
  return {Errc::parse, std::move(why) + "; write it again with numpy.save", file};
}

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
  if (bytes.size() < 12 || !begins_as_npy(bytes)) return bad_file(file, "isn't a .npy file");
  const bool wide = bytes[6] != 1;  // formats 2 and 3 have four bytes of length
  const auto* raw = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t length = onnx::little_endian(raw + 8, wide ? 4 : 2), start = wide ? 12 : 10;
  if (length > bytes.size() - start) return bad_file(file, "ends inside its header");
  const std::string_view text = bytes.substr(start, length);
  Header h;
  h.end = start + length;
  std::string_view descr = header_field(text, "'descr': '", "'");
  if (descr.empty()) return bad_file(file, "holds no plain array");
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
    if (h.width == 0) return bad_file(file, "holds strings without a length");
  }
  if (h.dtype == DType::undefined)
    return bad_file(file,
                    fmt::format("holds elements of type '{}', which isn't computed with", descr));
  h.fortran = text.find("'fortran_order': True") != std::string_view::npos;
  if (text.find("'shape': (") == std::string_view::npos ||
      !parse_dims(header_field(text, "'shape': (", ")"), h.dims))
    return bad_file(file, "doesn't state its shape");
  return h;
}

/// A file's beginning, up to the elements, whose type NumPy calls `descr`.
std::string npy_header(std::string_view descr, const Dims& dims) {
  std::string shape;
  for (int64_t d : dims) shape += fmt::format("{},{}", d, dims.size() > 1 ? " " : "");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  header.resize((kMagic.size() + 2 + header.size() + 1 + 63) / 64 * 64 - kMagic.size() - 3, ' ');
  header += '\n';
  std::string out(kMagic);
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

/// The characters of well-formed UTF-8.
std::u32string characters_of(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t code = bytes == 1 ? first : first & (0x7FU >> bytes);
    for (size_t i = 1; i < bytes; ++i)
      code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3FU);
    out += code;
    at += bytes;
  }
  return out;
}

void append_utf8(char32_t code, std::string& to) {
  const size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const char32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  to += static_cast<char>(lead[more] | code >> (6 * more));
  for (size_t i = more; i-- > 0;) to += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

/// Strings as NumPy's "<U": as many characters of four bytes as the longest has, zeros behind.
std::string texts_to_npy(const Array& array) {
  std::vector<std::u32string> texts;
  size_t longest = 1;
  for (int64_t i = 0; i < array.size(); ++i) {
    texts.push_back(characters_of(utf8_text(text_at(array, i))));
    longest = std::max(longest, texts.back().size());
  }
  std::string out = npy_header(fmt::format("<U{}", longest), array.dims());
  for (std::u32string& text : texts) {
    text.resize(longest, 0);
    for (const char32_t code : text)
      for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(code >> (8 * byte) & 0xFF);
  }
  return out;
}

/// The strings of "<U" elements, `width` bytes each; nullopt when one has a character that there
/// isn't.
std::optional<std::vector<std::string>> texts_of_npy(const std::vector<uint8_t>& raw,
                                                     size_t width) {
  std::vector<std::string> out(width > 0 ? raw.size() / width : 0);
  for (size_t i = 0; i < out.size() * width; i += 4) {
    const auto code = static_cast<char32_t>(onnx::little_endian(raw.data() + i, 4));
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return std::nullopt;
    if (code != 0) append_utf8(code, out[i / width]);
  }
  return out;
}

}  // namespace

std::string to_npy(const Array& array) {
  if (array.dtype() == DType::string) return texts_to_npy(array);
  const DType dtype = written_type(array);
  std::string_view code;
  for (const Code& c : kCodes)
    if (c.dtype == dtype) code = c.code;
  std::string out =
      npy_header(fmt::format("{}{}", storage_bytes(dtype, 1) <= 1 ? '|' : '<', code), array.dims());
  if (dtype == DType::float16) {
    for (int64_t i = 0; i < array.size(); ++i) {
      const auto half = std::bit_cast<uint16_t>(Eigen::half(array.data<float>()[i]));
      out += static_cast<char>(half & 0xFF);
      out += static_cast<char>(half >> 8);
    }
    return out;
  }
  out.append(static_cast<const char*>(array.raw_data()), static_cast<size_t>(array.bytes()));
  return out;
}

Result<Array> from_npy(std::string_view bytes, const std::string& file) {
  const Result<Header> h = parse_header(bytes, file);
  if (!h) return h.errors();
  const std::optional<int64_t> count = checked_elements(h->dims);
  const size_t width = h->width;
  const size_t data = bytes.size() - h->end;
  if (!count || static_cast<uint64_t>(*count) > data / width ||
      static_cast<size_t>(*count) * width > data)
    return bad_file(file, fmt::format("is too short for an array of {}", to_string(h->dims)));
  std::vector<uint8_t> raw(
      bytes.begin() + static_cast<ptrdiff_t>(h->end),
      bytes.begin() + static_cast<ptrdiff_t>(h->end) + *count * static_cast<int64_t>(width));
  const size_t number = h->dtype == DType::string ? 4 : width;
  if (h->swapped)
    for (size_t i = 0; i < raw.size(); i += number)
      std::reverse(raw.begin() + static_cast<ptrdiff_t>(i),
                   raw.begin() + static_cast<ptrdiff_t>(i + number));
  if (h->fortran && h->dims.size() > 1) {
    Strides strides(h->dims.size());
    int64_t step = 1;
    for (size_t d = 0; d < strides.size(); ++d) {
      strides[d] = step;
      step *= h->dims[d];
    }
    std::vector<uint8_t> turned(raw.size());
    size_t to = 0;
    for (const int64_t at : strided_offsets(h->dims, strides)) {
      std::memcpy(turned.data() + to, raw.data() + static_cast<size_t>(at) * width, width);
      to += width;
    }
    raw = std::move(turned);
  }
  if (h->dtype == DType::string) {
    const auto texts = texts_of_npy(raw, width);
    if (!texts) return bad_file(file, "has a character that there isn't");
    return array_of_texts(*texts, h->dims);
  }
  const ConstPtr values =
      h->dtype == DType::float16
          ? onnx::decode_elements(h->dtype, static_cast<size_t>(*count), {raw.data(), raw.size()})
          : nullptr;
  Array array(h->dtype, h->dims);
  if (values)
    for (int64_t i = 0; i < array.size(); ++i)
      array.data<float>()[i] = static_cast<float>(values->reals()[static_cast<size_t>(i)]);
  else if (!raw.empty())
    std::memcpy(array.raw_data(), raw.data(), raw.size());
  if (h->dtype == DType::boolean)
    for (int64_t i = 0; i < array.size(); ++i)
      array.data<uint8_t>()[i] = array.data<uint8_t>()[i] != 0;
  return array;
}

bool begins_as_npy(std::string_view bytes) { return bytes.starts_with(kMagic.substr(0, 6)); }

Result<Array> read_npy(const std::string& file) {
  const Result<std::string> bytes = read_bytes(file, "a .npy file");
  if (!bytes) return bytes.errors();
  return from_npy(*bytes, file);
}

}  // namespace accsim::sim::ref
