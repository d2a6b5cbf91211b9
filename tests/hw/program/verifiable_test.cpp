#include "hw/program/verifiable.h"

#include <gtest/gtest.h>

namespace accsim::hw {
namespace {

/// One command, in a loop in a loop behind others.
Program nested(Command command) {
  Program p;
  Loop inner{1, "inner", 2, {}};
  inner.body.push_back({Command{StoreCommand{}}});
  inner.body.push_back({std::move(command)});
  Loop outer{0, "outer", 2, {}};
  outer.body.push_back({Sync{SyncKind::wait_free, Queue::load, Buffer::output}});
  outer.body.push_back({std::move(inner)});
  p.body.push_back({Mark{}});
  p.body.push_back({std::move(outer)});
  p.loops = 2;
  return p;
}

TEST(Verifiable, IsWhatTheCoreHas) {
  EXPECT_TRUE(is_verifiable({}));
  for (const Command& c :
       {Command{LoadCommand{}}, Command{GemmCommand{}}, Command{DrainCommand{}},
        Command{PostCommand{}}, Command{StoreCommand{}}, Command{SetTableCommand{}},
        Command{LaneCommand{}}, Command{RowCommand{}}, Command{StageCommand{}}})
    EXPECT_TRUE(is_verifiable(nested(c))) << c.index();
}

TEST(Verifiable, IsNotWhatItLacks) {
  EXPECT_FALSE(is_verifiable(nested(VectorCommand{})));
  LoadCommand padded, sums, words;
  padded.padded.emplace();
  sums.buffer = Buffer::accumulator;
  words.transposed = 2;
  for (const LoadCommand& c : {padded, sums, words}) EXPECT_FALSE(is_verifiable(nested(c)));
  words.transposed = 1;
  EXPECT_TRUE(is_verifiable(nested(words)));
}

}  // namespace
}  // namespace accsim::hw
