// Part of every test program of a mutated tree (cpp_run.py puts it there): which mutants each test
// reaches goes to the file that ACCSIM_REACHED names, a line a test: its name, then their numbers.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace {

class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* file) : out_(std::fopen(file, "w")) {}

 private:
  void OnTestEnd(const testing::TestInfo& test) override {
    std::fprintf(out_, "%s.%s", test.test_suite_name(), test.name());
    for (int i = 0; i < accsim_mutant::kMost; ++i)
      if (accsim_mutant::reached[i] != 0) std::fprintf(out_, " %d", i);
    std::fprintf(out_, "\n");
    std::fflush(out_);
    // What a fixture's set-up reaches belongs to the test after it.
    std::memset(accsim_mutant::reached, 0, sizeof accsim_mutant::reached);
  }

  std::FILE* out_;
};

const bool kRecorded = [] {
  if (const char* const file = std::getenv("ACCSIM_REACHED"); file != nullptr)
    testing::UnitTest::GetInstance()->listeners().Append(new Recorder(file));
  return true;
}();

}  // namespace
