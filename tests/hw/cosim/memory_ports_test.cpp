#include "hw/cosim/memory_ports.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

constexpr uint64_t kShared = uint64_t{1} << rtl::kTensorShift;  ///< where tensor 1 begins

/// A tensor of 64 bytes in DRAM, and one in the shared buffer.
class AtThePorts : public testing::Test {
 protected:
  AtThePorts() : hw_(test::small_machine()) {
    program_.tensors = {{.name = "far", .memory = MemoryId::dram, .bytes = 64},
                        {.name = "near", .memory = MemoryId::shared, .bytes = 64}};
    image_ = {std::vector<uint8_t>(64, 1), std::vector<uint8_t>(64, 2)};
    for (ChannelConfig* c : {&hw_.dram, &hw_.shared.channel}) c->read = c->write = {64'000};
    hw_.dram.latency = 7;
    hw_.shared.channel.latency = 3;
  }
  int64_t latency(bool shared) const { return shared ? 3 : 7; }
  static rtl::Request beat(bool shared, uint64_t offset, uint32_t bytes = 8) {
    return {true, shared, true, bytes, (shared ? kShared : 0) + offset, {5, 6, 7}};
  }

  HwConfig hw_;
  Program program_;
  MemoryImage image_;
  rtl::Cycle io_;
};

TEST_F(AtThePorts, ReadsComeBackWithTheirTagAfterTheLatency) {
  for (const bool shared : {false, true}) {
    MemoryPorts ports(program_, hw_, image_);
    image_[shared][8] = 99;
    io_.read = beat(shared, 8);
    ASSERT_EQ(ports.take_read(io_, 10), "");
    ASSERT_TRUE(io_.read_ready);
    image_[shared][8] = 0;  // what is written later isn't read
    for (int64_t cycle = 10; cycle <= 12 + latency(shared); ++cycle) {
      ports.return_data(io_, cycle);
      EXPECT_EQ(io_.data_valid[shared], cycle == 11 + latency(shared)) << cycle;
      EXPECT_FALSE(io_.data_valid[!shared]);
    }
    EXPECT_EQ(io_.data[shared][0], 99);
    EXPECT_EQ(io_.data_tag[shared], (rtl::Tag{5, 6, 7}));
  }
}

TEST_F(AtThePorts, StoresAreInMemoryAfterTheLatency) {
  for (const bool shared : {false, true}) {
    MemoryPorts ports(program_, hw_, image_);
    io_.write = beat(shared, 16);
    io_.write_data.fill(77);
    ASSERT_EQ(ports.take_write(io_, 10), "");
    ASSERT_TRUE(io_.write_ready);
    EXPECT_EQ(ports.store_latency(), latency(shared));
    EXPECT_EQ(ports.offset_in(shared, io_.write.address), 16);
    for (int64_t cycle = 10; cycle <= 11 + latency(shared); ++cycle) {
      ports.deliver_writes(io_, cycle);
      EXPECT_EQ(io_.write_done[shared], cycle == 10 + latency(shared)) << cycle;
      EXPECT_EQ(image_[shared][23], cycle < 10 + latency(shared) ? 1 + shared : 77) << cycle;
    }
    EXPECT_EQ(image_[shared][24], 1 + shared);
  }
}

TEST_F(AtThePorts, CopiesTakeBothLatencies) {
  MemoryPorts ports(program_, hw_, image_);
  io_.copy = {true, false, true, 8, 0, kShared + 32, 4};
  ASSERT_EQ(ports.take_copy(io_, 10), "");
  ASSERT_TRUE(io_.copy_ready);
  EXPECT_EQ(ports.copy_latency(), 7 + 3);
  for (int64_t cycle = 10; cycle <= 22; ++cycle) {
    ports.deliver_writes(io_, cycle);
    EXPECT_EQ(io_.copy_done, cycle == 10 + 1 + 10) << cycle;
    EXPECT_EQ(image_[1][32], cycle < 21 ? 2 : 1) << cycle;
  }
  EXPECT_EQ(io_.copy_done_tag, 4);
}

TEST_F(AtThePorts, SayWhatLeavesItsTensor) {
  MemoryPorts ports(program_, hw_, image_);
  io_.read = io_.write = beat(true, 60);
  io_.copy = {true, true, true, 8, kShared, 60, 0};
  EXPECT_EQ(ports.take_read(io_, 0), "reads outside its tensors");
  EXPECT_EQ(ports.take_write(io_, 0), "writes outside its tensors");
  EXPECT_EQ(ports.take_copy(io_, 0), "copies outside its tensors");
}

/// A byte in four cycles: the first request waits, and is another one then.
TEST_F(AtThePorts, NoticeTheFirstRequestThatChangesBeforeItIsTaken) {
  hw_.dram.read = {250};
  MemoryPorts ports(program_, hw_, image_);
  io_.read = beat(false, 0, 1);
  for (const int64_t cycle : {0, 1}) {
    EXPECT_EQ(ports.take_read(io_, cycle), "");
    EXPECT_FALSE(io_.read_ready);
  }
  EXPECT_EQ(ports.changed(), "");
  for (const int64_t cycle : {2, 3}) {
    io_.read.address = static_cast<uint64_t>(cycle);
    EXPECT_EQ(ports.take_read(io_, cycle), "");
  }
  EXPECT_TRUE(io_.read_ready);
  EXPECT_EQ(ports.changed(), "the core changes a request in cycle 2");
}

}  // namespace
}  // namespace accsim::hw
