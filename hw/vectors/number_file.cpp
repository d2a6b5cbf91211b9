#include "hw/vectors/number_file.h"

#include <fmt/format.h>

#include <array>

namespace accsim::hw {
namespace {

/// Bytes of the header, however many rows follow: a multiple of 64.
constexpr size_t kHeader = 128;
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string_view name(NumberType t) {
  constexpr std::array<std::string_view, 4> kNames = {"int8", "uint8", "int32", "uint32"};
  return kNames[static_cast<size_t>(t)];
}

NumberFile::NumberFile(const std::filesystem::path& stem, NumberFormats formats, NumberType type,
                       int64_t columns)
    : stem_(stem), type_(type), columns_(columns) {
  if (formats.npy) {
    npy_.open(stem.string() + ".npy", std::ios::binary);
    npy_ << npy_header();
  }
  if (formats.hex) hex_.open(stem.string() + ".hex", std::ios::binary);
}

/// That of NumPy's format 1.0, with the numbers there are so far.
std::string NumberFile::npy_header() const {
  constexpr std::array<std::string_view, 4> kTypes = {"|i1", "|u1", "<i4", "<u4"};
  const std::string shape =
      columns_ > 0 ? fmt::format("{}, {}", size_, columns_) : fmt::format("{},", size_);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 kTypes[static_cast<size_t>(type_)], shape);
  const std::string magic("\x93NUMPY\x01\x00", 8);
  const size_t left = kHeader - magic.size() - 2;
  text.resize(left - 1, ' ');
  const auto length = static_cast<char>(left);
  return magic + length + '\0' + text + '\n';
}

void NumberFile::put_number(int32_t number) {
  const auto bits = static_cast<uint32_t>(number);
  for (int i = 0; i < bytes_of(type_); ++i)
    row_.push_back(static_cast<char>(bits >> (8 * i) & 255));
}

std::string& NumberFile::put_hex(uint8_t byte) {
  line_.push_back(kDigits[byte >> 4]);
  line_.push_back(kDigits[byte & 15]);
  return line_;
}

void NumberFile::end_row() {
  ++size_;
  if (columns_ > 0) row_.resize(static_cast<size_t>(columns_ * bytes_of(type_)), '\0');
  if (npy_.is_open()) npy_.write(row_.data(), std::ssize(row_));
  if (hex_.is_open()) {
    line_.clear();
    for (size_t i = row_.size(); i-- > 0;) put_hex(static_cast<uint8_t>(row_[i]));
    line_.push_back('\n');
    hex_.write(line_.data(), std::ssize(line_));
  }
  row_.clear();
}

void NumberFile::write_row(std::span<const int32_t> numbers) {
  check(columns_ > 0 && std::ssize(numbers) <= columns_, "a row is longer than the file's");
  for (const int32_t n : numbers) put_number(n);
  end_row();
}
void NumberFile::write_row(std::span<const int8_t> numbers) {
  check(columns_ > 0 && std::ssize(numbers) <= columns_, "a row is longer than the file's");
  for (const int8_t n : numbers) put_number(n);
  end_row();
}
void NumberFile::write_bytes(std::span<const uint8_t> numbers) {
  check(columns_ == 0 && bytes_of(type_) == 1, "the file has rows");
  size_ += std::ssize(numbers);
  if (npy_.is_open())
    npy_.write(reinterpret_cast<const char*>(numbers.data()), std::ssize(numbers));
  if (!hex_.is_open()) return;
  line_.clear();
  for (const uint8_t n : numbers) put_hex(n).push_back('\n');
  hex_.write(line_.data(), std::ssize(line_));
}

Status NumberFile::close() {
  for (const auto& [file, ending] : {std::pair(&npy_, ".npy"), std::pair(&hex_, ".hex")}) {
    if (!file->is_open() && !file->fail()) continue;
    if (file == &npy_ && file->good()) {
      file->seekp(0);
      *file << npy_header();
    }
    file->close();
    if (file->fail())
      return Error{Errc::io, "can't be written (is the disk full?)", stem_.string() + ending};
  }
  return ok();
}

}  // namespace accsim::hw
