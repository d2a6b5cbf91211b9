#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace accsim::hw {

/// Types of numbers in files of vectors.
enum class NumberType : uint8_t { int8, uint8, int32, uint32 };
/// As manifests spell it: "int8", ...
std::string_view name(NumberType t);
/// Of one number.
constexpr int bytes_of(NumberType t) {
  return t == NumberType::int8 || t == NumberType::uint8 ? 1 : 4;
}

/// In which formats numbers are written.
struct NumberFormats {
  bool npy = true;  ///< for NumPy
  bool hex = true;  ///< for $readmemh: a line a row, its first number in the lowest bits
};

/// Numbers that are written row by row, whatever their count: `columns` a row, or without rows
/// (columns 0), one behind the other.
class NumberFile {
 public:
  /// `stem`: the path without .npy and .hex. Errors of the file system come with close_files().
  NumberFile(const std::filesystem::path& stem, NumberFormats formats, NumberType type,
             int64_t columns);

  /// A row of `columns` numbers or fewer; what is missing is 0.
  void write_row(std::span<const int32_t> numbers);
  void write_row(std::span<const int8_t> numbers);
  /// Numbers of a file without rows.
  void write_bytes(std::span<const uint8_t> numbers);
  /// Rows so far, or numbers.
  int64_t size() const { return size_; }
  int64_t columns() const { return columns_; }
  NumberType type() const { return type_; }
  /// Writes how many there are. Errc::io.
  Status close();

 private:
  void put_number(int32_t number);
  std::string& put_hex(uint8_t byte);
  void end_row();
  std::string npy_header() const;

  std::filesystem::path stem_;
  NumberType type_;
  int64_t columns_, size_ = 0;
  std::ofstream npy_, hex_;
  std::string row_;  ///< as bytes, little-endian
  std::string line_;
};

}  // namespace accsim::hw
