#include "hw/program/visit.h"

#include <gtest/gtest.h>

#include <string>

namespace accsim::hw {
namespace {

Item load(int tensor) {
  LoadCommand c;
  c.tensor = tensor;
  return {Command{std::move(c)}};
}
Item store(int tensor) {
  StoreCommand c;
  c.tensor = tensor;
  return {Command{std::move(c)}};
}
Item loop(int id, int64_t count, std::vector<Item> body) {
  return {Loop{id, "l", count, std::move(body)}};
}

/// layer; load 0; 3 x (wait; load 1; 5 x (store 2; load 3); mark 4); store 5
std::vector<Item> nest() {
  return {{LayerHead{"a", {}}},
          load(0),
          loop(0, 3,
               {{Sync{SyncKind::wait_free, Queue::load, Buffer::weight}},
                load(1),
                loop(1, 5, {store(2), load(3)}),
                {Mark{false, Queue::store, 4}}}),
          store(5)};
}

/// A letter an item, with its tensor.
class Letters {
 public:
  std::string text;

  auto all() {
    return Overloaded{[this](const LoadCommand& c) { add('l', c.tensor); },
                      [this](const StoreCommand& c) { add('s', c.tensor); },
                      [this](const Sync&) { text += "w "; },
                      [this](const Mark& m) { add('m', m.tensor); },
                      [this](const LayerHead& h) { text += h.name + " "; }};
  }

 private:
  void add(char letter, int tensor) { text += letter + std::to_string(tensor) + " "; }
};

TEST(VisitNest, IsEachItemVisitedOnceInTheOrderOfTheText) {
  Letters letters;
  EXPECT_TRUE(visit_nest(nest(), letters.all()));
  EXPECT_EQ(letters.text, "a l0 w l1 s2 l3 m4 s5 ");
}

/// A Command is taken as it is, or as its kind.
TEST(VisitNest, IsWhatAHandlerDoesNotTakeLeftOut) {
  std::vector<int> loads;
  visit_nest(nest(), [&](const LoadCommand& c) { loads.push_back(c.tensor); });
  EXPECT_EQ(loads, (std::vector{0, 1, 3}));
  int commands = 0;
  visit_nest(nest(), [&](const Command&) { ++commands; });
  EXPECT_EQ(commands, 5);
  int rows = 0;
  visit_nest(nest(), [&](const RowCommand&) { ++rows; });
  EXPECT_EQ(rows, 0);
}

TEST(VisitNest, DoesALoopsHandlerSayHowOftenItsBodyIsWalked) {
  int loads = 0;
  const auto count_load = [&](const LoadCommand&) { ++loads; };
  visit_nest(nest(), Overloaded{count_load, [](const Loop& l, const auto& inner) {
                                  for (int64_t i = 0; i < l.count; ++i) inner();
                                }});
  EXPECT_EQ(loads, 1 + 3 * (1 + 5));
  loads = 0;
  visit_nest(nest(), Overloaded{count_load, [](const Loop&, const auto&) {}});
  EXPECT_EQ(loads, 1);
}

TEST(VisitNest, DoesAHandlerSeeTheLoopsAroundACommand) {
  std::vector<int> around;
  std::vector<std::vector<int>> seen;
  const auto in_loop = [&](const Loop& l, const auto& inner) {
    around.push_back(l.id);
    inner();
    around.pop_back();
  };
  visit_nest(nest(), Overloaded{in_loop, [&](const Command&) { seen.push_back(around); }});
  EXPECT_EQ(seen, (std::vector<std::vector<int>>{{}, {0}, {0, 1}, {0, 1}, {}}));
}

/// Within a loop, too: neither the rest of its body nor another round follows.
TEST(VisitNest, DoesItEndWhereAHandlerReturnsFalse) {
  for (int end = 0; end < 4; ++end) {
    int commands = 0;
    const auto rounds = [](const Loop& l, const auto& inner) {
      for (int64_t i = 0; i < l.count; ++i) inner();
    };
    const auto command = [&](const Command&) { return commands++ < end; };
    EXPECT_FALSE(visit_nest(nest(), Overloaded{rounds, command}));
    EXPECT_EQ(commands, end + 1);
  }
  EXPECT_TRUE(visit_nest(nest(), [](const Command&) { return true; }));
}

TEST(VisitNest, DoesALoopsHandlerEndIt) {
  Letters letters;
  EXPECT_FALSE(visit_nest(nest(), Overloaded{letters.all(), [](const Loop&, const auto& inner) {
                                               inner();
                                               return false;
                                             }}));
  EXPECT_EQ(letters.text, "a l0 w l1 s2 l3 ");
}

TEST(VisitNest, CanAHandlerChangeWhatItVisits) {
  std::vector<Item> body = nest();
  visit_nest(body, Overloaded{[](LoadCommand& c) { c.tensor += 10; },
                              [](Loop& l, const auto& inner) {
                                l.count *= 2;
                                inner();
                              }});
  Letters letters;
  int64_t counts = 1;
  visit_nest(body, Overloaded{letters.all(), [&](const Loop& l, const auto& inner) {
                                counts *= l.count;
                                inner();
                              }});
  EXPECT_EQ(letters.text, "a l10 w l11 s2 l13 m4 s5 ");
  EXPECT_EQ(counts, 2 * 3 * 2 * 5);
}

TEST(VisitNest, IsThereOneIsAskedNoFurtherThanToTheFirst) {
  int asked = 0;
  const auto reads = [&](int tensor) {
    return any_in_nest(nest(), [&asked, tensor](const LoadCommand& c) {
      ++asked;
      return c.tensor == tensor;
    });
  };
  EXPECT_TRUE(reads(1));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(reads(3));
  EXPECT_FALSE(reads(2));
  EXPECT_TRUE(has_command<StoreCommand>(nest()));
  EXPECT_FALSE(has_command<StageCommand>(nest()));
}

TEST(VisitNest, DoTimesMultiplyTheCountsOfTheLoopsAround) {
  std::vector<std::pair<int, int64_t>> seen;
  visit_times(nest(),
              [&](const LoadCommand& c, int64_t times) { seen.emplace_back(c.tensor, times); });
  EXPECT_EQ(seen, (std::vector<std::pair<int, int64_t>>{{0, 1}, {1, 3}, {3, 3 * 5}}));
  int64_t all = 0;
  visit_times(nest(), [&](const Command&, int64_t times) { all += times; });
  EXPECT_EQ(all, 1 + 3 * (1 + 5 * 2) + 1);
}

/// Stores go, loads are doubled, all else stays where it is.
TEST(RewriteNest, DoesWhatIsAppendedStandInAnItemsPlace) {
  std::vector<Item> body = nest();
  rewrite_nest(body, [](Item item, std::vector<Item>& to) {
    const auto* command = std::get_if<Command>(&item.node);
    if (command && std::holds_alternative<StoreCommand>(*command)) return;
    if (command) to.push_back(item);
    to.push_back(std::move(item));
  });
  Letters letters;
  std::vector<int> loops;
  visit_nest(body, Overloaded{letters.all(), [&](const Loop& l, const auto& inner) {
                                loops.push_back(l.id);
                                inner();
                              }});
  EXPECT_EQ(letters.text, "a l0 l0 w l1 l1 l3 l3 m4 ");
  EXPECT_EQ(loops, (std::vector{0, 1}));
}

}  // namespace
}  // namespace accsim::hw
