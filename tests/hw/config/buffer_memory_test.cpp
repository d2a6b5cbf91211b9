#include "hw/config/buffer_memory.h"

#include <gtest/gtest.h>

namespace accsim::hw {
namespace {

/// Ports narrower than the array's rows.
HwConfig narrow_machine() {
  HwConfig hw;
  hw.array.rows = 16;
  hw.array.cols = 24;
  for (BufferConfig& b : hw.buffers) b = {.kib = 32, .slots = 2, .width = 4};
  return hw;
}

double width(const HwConfig& hw, Buffer b) { return slot_memory(hw, b).width; }

TEST(BufferMemory, IsASlotAsWideAsItsWidestPort) {
  HwConfig hw = narrow_machine();
  EXPECT_EQ(width(hw, Buffer::activation), 16) << "a row of the array's activations";
  EXPECT_EQ(width(hw, Buffer::weight), 24) << "a row of weights";
  EXPECT_EQ(width(hw, Buffer::accumulator), 24 * 4) << "a row of sums";
  EXPECT_EQ(width(hw, Buffer::parameter), 4);
  EXPECT_EQ(width(hw, Buffer::output), 4);
  hw.types.activation = hw.types.weight = DType::bfloat16;
  EXPECT_EQ(width(hw, Buffer::activation), 32);
  EXPECT_EQ(width(hw, Buffer::weight), 48);
  for (BufferConfig& b : hw.buffers) b.width = 64;
  for (const Buffer b : {Buffer::activation, Buffer::weight, Buffer::parameter, Buffer::output})
    EXPECT_EQ(width(hw, b), 64);
}

TEST(BufferMemory, IsASlotAMemory) {
  const HwConfig hw = narrow_machine();
  for (size_t b = 0; b < kBuffers; ++b) {
    EXPECT_EQ(buffer_bytes(hw, static_cast<Buffer>(b)), 32 * 1024);
    EXPECT_EQ(slot_memory(hw, static_cast<Buffer>(b)).bytes, 16 * 1024);
  }
}

/// Dot products read entries of both operands, and have as many rows of sums as places.
TEST(BufferMemory, AreTheSumsOfDotProductsTheirPlaces) {
  HwConfig hw = narrow_machine();
  hw.array.form = ArrayForm::dot_product;
  hw.array.engine.places = 40;
  EXPECT_EQ(width(hw, Buffer::weight), 16);
  EXPECT_EQ(width(hw, Buffer::accumulator), 24 * 4);
  EXPECT_EQ(slot_memory(hw, Buffer::accumulator).bytes, 40 * 24 * 4);
  EXPECT_EQ(buffer_bytes(hw, Buffer::accumulator), 2 * 40 * 24 * 4);
  EXPECT_EQ(slot_memory(hw, Buffer::activation).bytes, 16 * 1024);
}

/// A rate of less than 8 bytes says nothing of an access.
TEST(BufferMemory, IsTheSharedMemoryAsWideAsItsFasterDirection) {
  HwConfig hw;
  hw.shared.kib = 2;
  hw.shared.channel = {{3000}, {40500}, 0};
  EXPECT_EQ(shared_memory(hw).bytes, 2048);
  EXPECT_EQ(shared_memory(hw).width, 40.5);
  hw.shared.channel.write.milli = 4000;
  EXPECT_EQ(shared_memory(hw).width, 8);
}

}  // namespace
}  // namespace accsim::hw
