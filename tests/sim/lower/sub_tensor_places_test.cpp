#include "sim/lower/sub_tensor_places.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

/// Tensors of floats, none of which lies in another one.
struct Tensors {
  Graph graph;
  Lowered lowered;

  explicit Tensors(const std::vector<int64_t>& sizes) {
    for (const int64_t size : sizes) {
      Tensor t;
      t.dtype = DType::float32;
      t.dims = {size};
      graph.tensors.push_back(t);
    }
    lowered.sub_tensors.assign(sizes.size(), {});
  }
};

constexpr auto kAllTake = [](TensorId, const SubTensor&) { return true; };

/// Layer of a Reshape.
Layer view(TensorId from, TensorId to) {
  Layer l;
  l.inputs = {from};
  l.outputs = {to};
  return l;
}

TEST(SubTensorPlaces, OfWhatLiesInATensorMoveWithIt) {
  Tensors n({16, 64, 256});
  SubTensorPlaces places(n.graph, n.lowered);
  const SubTensor in_one{1, 8, {8, 32}}, in_two{2, 64, {32, 128}};
  ASSERT_TRUE(places.move_into(0, in_one, kAllTake));
  EXPECT_EQ(places.place_in_root(0), in_one);
  ASSERT_TRUE(places.move_into(1, in_two, kAllTake));
  EXPECT_EQ(places.place_in_root(1), in_two);
  EXPECT_EQ(places.root_of(0), 2);
  for (int64_t k = 0; k < 16; ++k) {
    const SubTensor part = places.place_in_root(0);
    EXPECT_EQ(part.offset + part.pitch.offset_of(k),
              64 + in_two.pitch.offset_of(8 + in_one.pitch.offset_of(k)));
  }
}

TEST(SubTensorPlaces, StayWhereOneOfThemIsNotTaken) {
  Tensors n({16, 64, 256});
  SubTensorPlaces places(n.graph, n.lowered);
  ASSERT_TRUE(places.move_into(0, {1, 8, {8, 32}}, kAllTake));
  const std::vector<SubTensor> before = n.lowered.sub_tensors;
  std::vector<TensorId> asked;
  const auto all_but_first = [&](TensorId id, const SubTensor& was) {
    EXPECT_EQ(was, before[static_cast<size_t>(id)]);
    EXPECT_NE(n.lowered.sub_tensors[static_cast<size_t>(id)], was)
        << "it is asked where it would lie";
    asked.push_back(id);
    return id != 0;
  };
  EXPECT_FALSE(places.move_into(1, {2, 64, {32, 128}}, all_but_first));
  EXPECT_EQ(asked, (std::vector<TensorId>{1, 0}));
  EXPECT_EQ(n.lowered.sub_tensors, before);
  EXPECT_TRUE(places.is_free(1));
  EXPECT_TRUE(places.move_into(1, {2, 0, {}}, kAllTake)) << "and may move elsewhere";
}

TEST(SubTensorPlaces, OfOneTensorHaveRowsOfOnePitch) {
  Tensors n({16, 16, 16, 256});
  SubTensorPlaces places(n.graph, n.lowered);
  EXPECT_TRUE(places.move_into(0, {3, 0, {8, 32}}, kAllTake));
  EXPECT_FALSE(places.move_into(1, {3, 8, {8, 64}}, kAllTake));
  EXPECT_TRUE(places.move_into(1, {3, 8, {8, 32}}, kAllTake));
  EXPECT_TRUE(places.move_into(2, {3, 128, {}}, kAllTake)) << "without rows";
}

TEST(SubTensorPlaces, OfViewsAreAllOfWhatTheyShow) {
  Tensors n({16, 16, 16});
  n.graph.inputs = {0};
  n.graph.outputs = {1};
  SubTensorPlaces places(n.graph, n.lowered);
  places.note_view(view(0, 1));
  EXPECT_EQ(places.root_of(1), 0);
  EXPECT_TRUE(places.is_given(1));
  EXPECT_TRUE(places.is_result(0)) << "a view of it is";
  EXPECT_FALSE(places.is_free(0)) << "results stay where they are";
  EXPECT_TRUE(places.is_free(2));
  places.keep_place(2);
  EXPECT_FALSE(places.is_free(2));
}

}  // namespace
}  // namespace accsim::sim
