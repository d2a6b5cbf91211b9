#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "hw/golden/machine.h"

namespace accsim::abi {

/// Numbers of a command, row by row, as int32. It lives as long as the command is the machine's.
class Matrix {
 public:
  using Values =
      std::variant<std::span<const int8_t>, std::span<const uint8_t>, std::span<const int32_t>,
                   std::span<const uint32_t>, std::vector<int32_t>>;
  Matrix() : Matrix(0, 0, std::vector<int32_t>()) {}
  /// `turned`: the values lie column by column.
  Matrix(int64_t rows, int64_t columns, Values values, bool turned = false)
      : rows_(rows), columns_(columns), values_(std::move(values)), turned_(turned) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t size() const { return rows_ * columns_; }
  int32_t value_at(int64_t row, int64_t column) const;
  void copy_values(int32_t* to) const;
  /// Where, row by row, the first value differs; nullopt when all are equal.
  std::optional<int64_t> first_difference(const int32_t* others) const;

 private:
  int64_t rows_, columns_;
  Values values_;
  bool turned_;
};

/// The matrix of the machine's command that accsim.h calls `kind`; 0 x 0 where it has none.
Matrix matrix_of(const hw::GoldenMachine& machine, int32_t kind);

}  // namespace accsim::abi
