#include "sim/base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

namespace accsim {
namespace {

/// What a shell gives a command for the word.
std::string through_a_shell(const std::string& word) {
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(("printf %s " + word).c_str(), "r"),
                                                    pclose);
  std::array<char, 64> text{};
  const size_t size = shell ? fread(text.data(), 1, text.size(), shell.get()) : 0;
  return {text.data(), size};
}

TEST(ShellWord, DoesAShellGiveTheWordAgain) {
  for (const char* word : {"batch=1", "*=8", "past + 1=4", "it's=2", "$x=1", "a;b=3", "?=1"})
    EXPECT_EQ(through_a_shell(shell_word(word)), word);
  EXPECT_EQ(shell_word("x=1x3x224x224"), "x=1x3x224x224") << "quoted only where it must be";
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace accsim
