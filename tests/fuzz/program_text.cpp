// A program file's text: what is read is written as text of the same programs.
#include "hw/program/read_program.h"
#include "tests/fuzz/target.h"

namespace {

std::string text_of_all(const std::vector<accsim::hw::Program>& programs) {
  std::string out;
  for (const accsim::hw::Program& p : programs) out += program_text(p) + "\n";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace accsim;
  const auto read = hw::parse_programs(test::text_of(data, size), "input");
  if (!read) return 0;
  const std::string text = text_of_all(*read);
  const auto again = hw::parse_programs(text, "again");
  check(again.ok(), "a program is written as none");
  check(text_of_all(*again) == text, "a program is written as another one");
  return 0;
}
