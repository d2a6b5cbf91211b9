// A .npy file's bytes; what was read must be written and read again as the same.
#include "sim/ref/npy.h"

#include <cstring>

#include "tests/fuzz/target.h"

namespace {

using namespace accsim::sim;

bool equal(const ref::Array& a, const ref::Array& b) {
  const auto bytes = static_cast<size_t>(a.size() * ref::kind_bytes(a.kind()));
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         (bytes == 0 || std::memcmp(a.raw_data(), b.raw_data(), bytes) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = ref::from_npy(accsim::test::text_of(data, size), "input.npy");
  if (!array) return 0;
  const auto again = ref::from_npy(ref::to_npy(*array), "again.npy");
  accsim::check(again.ok() && equal(*array, *again), "an array is written as another one");
  return 0;
}
