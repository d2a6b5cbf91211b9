// Stops on inputs that begin with "bad": what scripts/fuzz and the tests do with a finding.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  accsim::check(!accsim::test::text_of(data, size).starts_with("bad"), "bad input");
  return 0;
}
