// Mutations of programs: a number, an item of a list; now and then another program.
#include <algorithm>

#include "tests/fuzz/program_bytes.h"
#include "tests/fuzz/target.h"

namespace test = accsim::test;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  test::ProgramCase c =
      random() % 64 == 0 ? test::draw_case(random) : test::decode(test::text_of(data, size));
  for (auto times = 1 + random() % 4; times > 0; --times) test::change(c, random);
  const std::string bytes = test::encode(c);
  if (bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
