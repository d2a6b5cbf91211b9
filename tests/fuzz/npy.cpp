// A .npy file's bytes; what was read must be written and read again as the same. NaN is one value:
// float16 has no room for the payload of a float32's NaN.
#include "sim/ref/npy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/fuzz/target.h"

namespace {

using namespace accsim::sim;

bool equal_halves(const ref::Array& a, const ref::Array& b) {
  const float* of_a = a.data<float>();
  const float* of_b = b.data<float>();
  return std::equal(of_a, of_a + a.size(), of_b, [](float x, float y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  });
}

bool equal(const ref::Array& a, const ref::Array& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == accsim::DType::float16) return equal_halves(a, b);
  const auto bytes = static_cast<size_t>(a.size() * ref::kind_bytes(a.kind()));
  return bytes == 0 || std::memcmp(a.raw_data(), b.raw_data(), bytes) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = ref::from_npy(accsim::test::text_of(data, size), "input.npy");
  if (!array) return 0;
  const auto again = ref::from_npy(ref::to_npy(*array), "again.npy");
  accsim::check(again.ok() && equal(*array, *again), "an array is written as another one");
  return 0;
}
