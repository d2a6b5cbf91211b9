#include "sim/base/variant.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace accsim {
namespace {

/// Gives `left` more allocations to vectors of this program's own allocator, then none.
int left = 0;

template <class T>
struct Scarce {
  using value_type = T;
  Scarce() = default;
  template <class U>
  explicit(false) Scarce(const Scarce<U>&) {}
  T* allocate(size_t n) {
    if (left == 0) throw std::bad_alloc();
    --left;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, size_t n) { std::allocator<T>().deallocate(p, n); }
  bool operator==(const Scarce&) const { return true; }
};
using Vector = std::vector<int, Scarce<int>>;
using Text = std::basic_string<char, std::char_traits<char>, Scarce<char>>;

/// Copies of each value, made and assigned, where there is no memory for one and where there is.
template <class V>
void expect_copies_fail(const std::vector<V>& values) {
  for (const V& value : values) {
    left = 0;
    EXPECT_THROW(V{value}, std::bad_alloc);
    V kept;
    EXPECT_THROW(kept = value, std::bad_alloc);
    EXPECT_TRUE(kept == V());
    left = 1;
    EXPECT_TRUE(V(value) == value);
  }
}

TEST(Variant, ACopyThatFailsLeavesNothing) {
  using V = Variant<std::monostate, int64_t, Text, Vector, std::shared_ptr<const int>>;
  left = 4;  // one for each, one for its copy in the list
  expect_copies_fail<V>({V(Text(100, 'x')), V(Vector{1, 2, 3})});
}

TEST(Variant, OfTheFirstAlternativeToo) {
  using V = Variant<Vector, Text>;
  left = 4;  // one for each, one for its copy in the list
  expect_copies_fail<V>({V(Vector{1, 2, 3}), V(Text(100, 'x'))});
}

TEST(Variant, IsAVariant) {
  using V = Variant<std::monostate, int64_t, std::string>;
  V v;
  EXPECT_EQ(v.index(), 0u);
  v = int64_t{7};
  EXPECT_EQ(std::get<int64_t>(v), 7);
  v = "seven";
  EXPECT_EQ(std::get<std::string>(v), "seven");
  EXPECT_EQ(std::visit([](const auto& x) { return sizeof(x); }, v), sizeof(std::string));
  const V moved = std::move(v);
  EXPECT_EQ(moved, V(std::string("seven")));
  static_assert(std::is_nothrow_move_constructible_v<V>);
  static_assert(std::is_nothrow_move_assignable_v<V>);
  static_assert(!std::is_copy_constructible_v<Variant<int, std::unique_ptr<int>>>);
}

TEST(Result, ACopyThatFailsLeavesNothing) {
  left = 1;
  const Result<Vector> result = Vector{1, 2, 3};
  left = 0;
  EXPECT_THROW(static_cast<void>(Result<Vector>(result)), std::bad_alloc);
  left = 1;
  EXPECT_EQ(Result<Vector>(result).value(), result.value());
}

}  // namespace
}  // namespace accsim
