#pragma once
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "hw/golden/golden.h"
#include "tests/hw/golden/tiny_program.h"

namespace accsim::test {

/// A hand-written program around lane commands: an activation and a parameter slot are loaded, the
/// output slot is stored as a whole. What no command writes there is garbage.
struct LaneProgram {
  std::vector<int> a, p;  ///< int8, of the slots from byte 0 on
  std::vector<Command> commands;

  static HwConfig machine() {
    HwConfig hw = small_machine();
    hw.vector.mac_lanes = 8;
    return hw;
  }
  static int64_t out_bytes() { return machine().buffer(Buffer::output).slot_bytes(); }

  Program program() const {
    Program out;
    out.name = "lanes";
    out.tensors = {{"a", MemoryId::dram, std::ssize(a)},
                   {"p", MemoryId::shared, std::ssize(p)},
                   {"y", MemoryId::dram, out_bytes()}};
    const auto add = [&](SyncKind kind, Queue q, Buffer b) {
      out.body.push_back(TinyProgram::sync(kind, q, b));
    };
    const auto filled = [&](Buffer b, int tensor, int64_t bytes) {
      if (bytes == 0) return;
      for (Item& i : TinyProgram::filled({b, tensor, 0, 0, {{}, bytes}, std::nullopt}))
        out.body.push_back(std::move(i));
      add(SyncKind::wait_full, Queue::vector, b);
    };
    filled(Buffer::activation, 0, std::ssize(a));
    filled(Buffer::parameter, 1, std::ssize(p));
    add(SyncKind::wait_free, Queue::vector, Buffer::output);
    for (const Command& c : commands) out.body.push_back({c});
    add(SyncKind::signal_full, Queue::vector, Buffer::output);
    if (!a.empty()) add(SyncKind::signal_free, Queue::vector, Buffer::activation);
    if (!p.empty()) add(SyncKind::signal_free, Queue::vector, Buffer::parameter);
    add(SyncKind::wait_full, Queue::store, Buffer::output);
    out.body.push_back({Command{StoreCommand{2, 0, 0, {{}, out_bytes()}}}});
    add(SyncKind::signal_free, Queue::store, Buffer::output);
    return out;
  }

  MemoryImage image() const {
    MemoryImage out(3);
    for (const int v : a) out[0].push_back(static_cast<uint8_t>(v));
    for (const int v : p) out[1].push_back(static_cast<uint8_t>(v));
    out[2].resize(static_cast<size_t>(out_bytes()));
    return out;
  }
};

/// All values of int8 in order.
inline std::vector<int> all_bytes() {
  std::vector<int> out(256);
  std::iota(out.begin(), out.end(), -128);
  return out;
}

/// The first bytes of the output slot that a program leaves, which must run.
inline std::vector<int> outputs(const LaneProgram& lanes, int64_t count) {
  MemoryImage image = lanes.image();
  const Status s = run_golden(lanes.program(), LaneProgram::machine(), image);
  EXPECT_TRUE(s.ok()) << s.errors().front().text();
  image[2].resize(static_cast<size_t>(count));
  return signed_values(image[2]);
}

}  // namespace accsim::test
