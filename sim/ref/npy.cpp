#include "sim/ref/npy.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/base/json_text.h"
#include "sim/base/read_file.h"
#include "sim/onnx/decode.h"
#include "sim/onnx/npy.h"
#include "sim/ref/texts.h"

namespace accsim::sim::ref {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);

DType written_type(const Array& a) {
  if (a.dtype() == DType::float16 || a.dtype() == DType::boolean) return a.dtype();
  for (const DType type : {DType::float32, DType::float64, DType::int8, DType::int16, DType::int32,
                           DType::int64, DType::uint8, DType::uint16, DType::uint32, DType::uint64})
    if (element_kind(type) == a.kind()) return type;
  return DType::float32;
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
  std::string out = npy_header(
      fmt::format("{}{}", storage_bytes(dtype, 1) <= 1 ? '|' : '<', onnx::npy_code(dtype)),
      array.dims());
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
  const Result<onnx::ArrayElements> read = onnx::read_npy_elements(bytes, file);
  if (!read) return read.errors();
  const std::vector<uint8_t>& raw = read->bytes;
  if (read->dtype == DType::string) {
    const auto texts = texts_of_npy(raw, read->width);
    if (!texts) return onnx::bad_npy(file, "has a character that there isn't");
    return array_of_texts(*texts, read->dims);
  }
  Array array(read->dtype, read->dims);
  const ConstPtr values =
      read->dtype == DType::float16
          ? onnx::decode_elements(read->dtype, static_cast<size_t>(array.size()),
                                  {raw.data(), raw.size()})
          : nullptr;
  if (values)
    for (int64_t i = 0; i < array.size(); ++i)
      array.data<float>()[i] = static_cast<float>(values->reals()[static_cast<size_t>(i)]);
  else if (!raw.empty())
    std::memcpy(array.raw_data(), raw.data(), raw.size());
  if (read->dtype == DType::boolean)
    for (int64_t i = 0; i < array.size(); ++i)
      array.data<uint8_t>()[i] = array.data<uint8_t>()[i] != 0;
  return array;
}

bool begins_as_npy(std::string_view bytes) { return onnx::begins_as_npy(bytes); }

Result<Array> read_npy(const std::string& file) {
  const Result<std::string> bytes = read_bytes(file, "a .npy file");
  if (!bytes) return bytes.errors();
  return from_npy(*bytes, file);
}

}  // namespace accsim::sim::ref
