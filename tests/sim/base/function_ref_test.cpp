#include "sim/base/function_ref.h"

#include <gtest/gtest.h>

#include <string>

namespace accsim {
namespace {

int twice(FunctionRef<int(int)> f, int v) { return f(f(v)); }

TEST(FunctionRef, CallsALambdaThatKeepsCount) {
  int calls = 0;
  auto add = [&calls](int v) { return ++calls, v + 3; };
  EXPECT_EQ(twice(add, 1), 7);
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, ChangesTheObjectAndNotACopy) {
  struct Counter {
    int count = 0;
    void operator()() { ++count; }
  } counter;
  const FunctionRef<void()> first = counter;
  const FunctionRef<void()> second = first;
  first();
  second();
  EXPECT_EQ(counter.count, 2);
}

TEST(FunctionRef, CallsConstantsAndPassesReferences) {
  const auto append = [](std::string& text, const std::string& more) { text += more; };
  const FunctionRef<void(std::string&, const std::string&)> f = append;
  std::string text = "a";
  f(text, "b");
  EXPECT_EQ(text, "ab");
}

}  // namespace
}  // namespace accsim
