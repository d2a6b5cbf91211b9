#include "sim/abi/matrix.h"

#include <utility>

#include "sim/abi/accsim.h"

namespace accsim::abi {

int32_t Matrix::value_at(int64_t row, int64_t column) const {
  const auto i = static_cast<size_t>(turned_ ? column * rows_ + row : row * columns_ + column);
  return std::visit([&](const auto& v) { return static_cast<int32_t>(v[i]); }, values_);
}

namespace {

/// Calls visit(index row by row, value) until it returns false.
template <class Values, class Visit>
void for_values(const Values& values, int64_t rows, int64_t columns, bool turned, Visit visit) {
  if (!turned) {
    for (int64_t i = 0; i < rows * columns; ++i)
      if (!visit(i, static_cast<int32_t>(values[static_cast<size_t>(i)]))) return;
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (!visit(r * columns + c, static_cast<int32_t>(values[static_cast<size_t>(c * rows + r)])))
        return;
}

}  // namespace

void Matrix::copy_values(int32_t* to) const {
  const auto put = [&](int64_t i, int32_t value) {
    to[i] = value;
    return true;
  };
  std::visit([&](const auto& v) { for_values(v, rows_, columns_, turned_, put); }, values_);
}

std::optional<int64_t> Matrix::first_difference(const int32_t* others) const {
  std::optional<int64_t> found;
  const auto compare = [&](int64_t i, int32_t value) {
    if (others[i] != value) found = i;
    return others[i] == value;
  };
  std::visit([&](const auto& v) { for_values(v, rows_, columns_, turned_, compare); }, values_);
  return found;
}

namespace {

Matrix of_gemm(const hw::GemmCommand& c, const hw::GoldenMachine& machine, int32_t kind) {
  const hw::RetiredCommand& r = machine.retired();
  switch (kind) {
    case ACCSIM_A:
      return {c.m, c.k, r.a};
    case ACCSIM_B:
      return {c.k, c.n, r.b};
    case ACCSIM_PRODUCTS:
      return {c.m, c.n, machine.products()};
    case ACCSIM_SUMS:
      return {c.m, c.n, std::span<const int32_t>(r.sums),
              r.dataflow == hw::Dataflow::input_stationary};
    default:
      return {};
  }
}

/// A row a channel: bias, multiplier, shift, and the multipliers of the other groups.
Matrix post_parameters(const hw::PostCommand& c, const hw::RetiredCommand& r) {
  std::vector<int32_t> values;
  const size_t channels = r.scales.size();
  for (size_t channel = 0; channel < channels; ++channel) {
    const hw::Requantise& s = r.scales[channel];
    values.insert(values.end(), {s.bias, s.multiplier, s.shift});
    for (size_t at = channel; at < r.group_multipliers.size(); at += channels)
      values.push_back(r.group_multipliers[at]);
  }
  return {c.channels(), 2 + c.groups, std::move(values)};
}

}  // namespace

Matrix matrix_of(const hw::GoldenMachine& machine, int32_t kind) {
  const hw::RetiredCommand& r = machine.retired();
  if (const auto* gemm = std::get_if<hw::GemmCommand>(r.command))
    return of_gemm(*gemm, machine, kind);
  if (const auto* drain = std::get_if<hw::DrainCommand>(r.command))
    return kind == ACCSIM_SUMS ? Matrix(drain->m, drain->n, std::span<const int32_t>(r.sums))
                               : Matrix();
  const std::span<const uint8_t> bytes = r.bytes;
  const auto* post = std::get_if<hw::PostCommand>(r.command);
  if (post && kind == ACCSIM_PARAMETERS) return post_parameters(*post, r);
  if (kind != ACCSIM_BYTES) return {};
  if (!post) return {bytes.empty() ? 0 : 1, std::ssize(bytes), bytes};
  const std::span<const int8_t> values(reinterpret_cast<const int8_t*>(bytes.data()), bytes.size());
  return {post->transposed ? post->cols : post->rows, post->channels(), values};
}

}  // namespace accsim::abi
