#include "sim/lower/cache_updates.h"

#include <gtest/gtest.h>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::as_index;
using test::ModelBuilder;

constexpr int64_t kHeads = 4, kRoom = 32, kSize = 8;
const Dims kCache{1, kHeads, kRoom, kSize}, kFresh{1, kHeads, 1, kSize};

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

ModelBuilder with_cache() {
  ModelBuilder b(24);
  b.input("cache", kCache).input("fresh", kFresh);
  return b;
}

/// The layer of tensor "out" reads so many elements and writes `written` ones in runs of `run`.
void expect_update(const test::LaidOut& net, int64_t read, int64_t written, int64_t run) {
  const Layer& l = net.layer("out");
  ASSERT_EQ(l.work.size(), 1U);
  const auto& op = std::get<MemoryOp>(l.work[0]);
  int64_t sum = 0;
  for (const Access& a : op.inputs) {
    EXPECT_NE(a.port, ValuePort(0)) << "the cache";
    sum += a.elements;
  }
  EXPECT_EQ(sum, read);
  EXPECT_EQ(op.outputs, (std::vector<Access>{{0, written, run}}));
}

constexpr int64_t kToken = kHeads * kSize;

TEST(CacheUpdates, OfTuplesWriteTheirSlices) {
  ModelBuilder b = with_cache();
  b.input("places", {1, kHeads, 1, 3}, DType::int64);
  b.node("ScatterND", {"cache", "places", "fresh"}, {"out"}).output("out");
  expect_update(test::LaidOut(b), kToken + kHeads * 3, kToken, kSize);
}

/// As exporters write a static cache: the length is turned to the front and back.
TEST(CacheUpdates, StayBehindTransposes) {
  ModelBuilder b = with_cache();
  b.input("place", {1, 1}, DType::int64).input("q", {1, kHeads, 2, kSize});
  const Attribute front = ModelBuilder::ints("perm", {2, 0, 1, 3});
  b.node("Transpose", {"cache"}, {"turned"}, {front});
  b.node("Transpose", {"fresh"}, {"turned_fresh"}, {front});
  b.node("ScatterND", {"turned", "place", "turned_fresh"}, {"out"});
  b.node("Transpose", {"out"}, {"back"}, {ModelBuilder::ints("perm", {1, 2, 0, 3})});
  b.node("Transpose", {"back"}, {"keys"}, {ModelBuilder::ints("perm", {0, 1, 3, 2})});
  b.node("MatMul", {"q", "keys"}, {"scores"}).output("back").output("scores");
  const test::LaidOut net(b);
  expect_update(net, kToken + 1, kToken, kSize);
  EXPECT_EQ(net.layout("back"), row_major_layout(kCache)) << "where the cache lies";
  for (const char* view : {"turned", "turned_fresh", "back", "keys"})
    EXPECT_EQ(net.layer(view).fate, Fate::view) << view;
}

TEST(CacheUpdates, OfElementsWriteThemOneByOne) {
  ModelBuilder b = with_cache();
  b.input("places", kFresh, DType::int64);
  b.node("ScatterElements", {"cache", "places", "fresh"}, {"out"}, {number("axis", 2)});
  b.output("out");
  expect_update(test::LaidOut(b), 2 * kToken, kToken, 1);
}

TEST(CacheUpdates, OfAnExpandedIndexWriteSlices) {
  ModelBuilder b = with_cache();
  b.input("place", {1, 1, 1, 1}, DType::int64);
  b.constant("shape", {4}, {1, kHeads, 1, kSize});
  b.node("Expand", {"place", "shape"}, {"places"});
  b.node("ScatterElements", {"cache", "places", "fresh"}, {"out"}, {number("axis", 2)});
  b.output("out");
  expect_update(test::LaidOut(b), 2 * kToken, kToken, kSize);
}

TEST(CacheUpdates, OfRowsAreMadeForIt) {
  ModelBuilder b = with_cache();
  b.input("place", {1}, DType::int64);
  b.node("TensorScatter", {"cache", "fresh", "place"}, {"out"}).output("out");
  expect_update(test::LaidOut(b), kToken + 1, kToken, kSize);
}

/// Whoever reads the cache as it was must find it; what isn't given back lies anywhere.
TEST(CacheUpdates, AreCopiesOfWhatIsStillReadOrIsnTGivenBack) {
  for (const bool read : {false, true}) {
    ModelBuilder b = with_cache();
    b.input("places", {1, kHeads, 1, 3}, DType::int64);
    b.node("ScatterND", {"cache", "places", "fresh"}, {"out"});
    b.node("Relu", {read ? "cache" : "out"}, {"relu"}).output("relu");
    if (read) b.output("out");
    const test::LaidOut net(b);
    const auto& op = std::get<MemoryOp>(net.layer("out").work.at(0));
    EXPECT_EQ(op.outputs.at(0).elements, elements(kCache));
  }
}

TEST(CacheUpdates, AreNoneWhereElementsAreAdded) {
  ModelBuilder b = with_cache();
  b.input("places", {1, kHeads, 1, 3}, DType::int64);
  b.node("ScatterND", {"cache", "places", "fresh"}, {"out"}, {{"reduction", "", "add"}});
  b.output("out");
  EXPECT_EQ(test::LaidOut(b).layer("out").work.size(), 2U);
}

}  // namespace
}  // namespace accsim::sim
