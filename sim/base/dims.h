#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace accsim {

/// A fully known tensor shape, outermost dimension first. {} is a scalar.
using Dims = std::vector<int64_t>;

/// Product of the dims; nullopt when it leaves 62 bits.
std::optional<int64_t> checked_elements(const Dims& dims);
/// Product of the dims of a shape that import has already checked.
int64_t elements(const Dims& dims);
/// Product of dims [from, to).
int64_t elements(const Dims& dims, size_t from, size_t to);
/// "1x3x224x224"; "scalar" for {}.
std::string to_string(const Dims& dims);
/// NumPy broadcast of two shapes; nullopt when they don't go together.
std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b);

}  // namespace accsim
