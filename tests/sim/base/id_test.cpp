#include "sim/base/id.h"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace accsim {
namespace {

class Fruit : public Id<Fruit, 3> {
 public:
  constexpr Fruit() = default;
  static const Fruit apple, pear, plum;
};
constexpr Fruit Fruit::apple = nth(0), Fruit::pear = nth(1), Fruit::plum = nth(2);

enum class Plain { one };

template <class T>
concept CastsToIndex = requires(T id) {
  static_cast<size_t>(id);
};
template <class T>
concept IndexesArray = requires(T id, std::array<int, 3> all) {
  all[id];
};
static_assert(CastsToIndex<Plain> && !CastsToIndex<Fruit> && !IndexesArray<Fruit>);
static_assert(!std::is_constructible_v<Fruit, int>);
static_assert(IsId<Fruit> && !IsId<Plain> && sizeof(Fruit) == 1);

TEST(Id, AllAreThereOnceInTheirOrder) {
  EXPECT_EQ(Fruit::all(), (std::array{Fruit::apple, Fruit::pear, Fruit::plum}));
  EXPECT_LT(Fruit::apple, Fruit::plum);
  EXPECT_EQ(Fruit(), Fruit::apple);
}

TEST(PerId, HasAnElementForEachOfThem) {
  PerId<Fruit, int> count;
  for (const Fruit f : Fruit::all()) EXPECT_EQ(count[f], 0);
  count[Fruit::pear] = 5;
  count += {1, 2, 3};
  EXPECT_EQ(count, (PerId<Fruit, int>{1, 7, 3}));
  int sum = 0;
  for (const int n : count) sum += n;
  EXPECT_EQ(sum, 11);
}

}  // namespace
}  // namespace accsim
