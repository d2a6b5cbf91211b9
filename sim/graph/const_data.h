#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/variant.h"

namespace accsim::sim {

/// The value of a small constant tensor in row-major order: integers and booleans as int64 (bool is
/// 0 or 1), floats as double. Dims and element type stand with the tensor that has the value.
class ConstData {
 public:
  explicit ConstData(std::vector<int64_t> integers) : data_(std::move(integers)) {}
  explicit ConstData(std::vector<double> reals) : data_(std::move(reals)) {}

  bool is_integer() const { return std::holds_alternative<std::vector<int64_t>>(data_); }
  size_t size() const {
    return std::visit([](const auto& v) { return v.size(); }, data_);
  }
  /// The integer elements; call only when is_integer().
  const std::vector<int64_t>& integers() const { return std::get<std::vector<int64_t>>(data_); }
  /// The real elements; call only when !is_integer().
  const std::vector<double>& reals() const { return std::get<std::vector<double>>(data_); }
  /// Element i of either kind, as a double.
  double as_double(size_t i) const {
    return is_integer() ? static_cast<double>(integers()[i]) : reals()[i];
  }

 private:
  Variant<std::vector<int64_t>, std::vector<double>> data_;
};

/// Shared, never changed; null where a value isn't known.
using ConstPtr = std::shared_ptr<const ConstData>;

}  // namespace accsim::sim
