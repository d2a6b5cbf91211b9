#include "hw/engines/engine_program.h"

#include <gtest/gtest.h>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

using Pieces = std::vector<std::pair<int64_t, int64_t>>;

/// Beats and bytes of the requests of a read on a port of 8 bytes with pages of 2048.
Pieces pieces_of(const EngineCommand& command) {
  Pieces out;
  for (RowPieces pieces(command, vta_machine()); !pieces.done(); pieces.next())
    out.emplace_back(pieces.beats(), pieces.bytes());
  return out;
}

EngineCommand read(int64_t address, int64_t row_bytes, int64_t rows, int64_t pitch) {
  EngineCommand command;
  command.kind = tiled::kInp;
  command.address = address;
  command.row_bytes = row_bytes;
  command.rows = rows;
  command.pitch = pitch;
  return command;
}

TEST(RowPieces, AreRowsRequestsOfTheirOwn) {
  EXPECT_EQ(pieces_of(read(0, 32, 3, 32)), (Pieces{{4, 32}, {4, 32}, {4, 32}}));
}

TEST(RowPieces, AreRowsCutAtPages) {
  EXPECT_EQ(pieces_of(read(2048 - 24, 40, 2, 2048)), (Pieces{{3, 24}, {2, 16}, {3, 24}, {2, 16}}));
  EXPECT_EQ(pieces_of(read(1024, 5000, 1, 0)), (Pieces{{128, 1024}, {256, 2048}, {241, 1928}}));
}

TEST(RowPieces, AreBeatsTheLinesThatARowTouches) {
  EXPECT_EQ(pieces_of(read(4, 8, 2, 8)), (Pieces{{2, 8}, {2, 8}}));
}

std::string refusal(const EngineCommand& command) {
  const Status status = check_engine_program({command}, vta_machine());
  return status ? "" : status.errors().front().message;
}

TEST(EngineProgram, IsWhatNoMachineTakesRefused) {
  EXPECT_EQ(refusal(read(0, 16, 1, 0)), "");
  EXPECT_EQ(refusal(read(-1, 16, 1, 0)), "its rows are out of range");
  EXPECT_EQ(refusal(read(0, 16, 0, 0)), "its rows are out of range");
  EngineCommand command = read(0, 24, 1, 0);
  command.kind = tiled::kStore;
  EXPECT_EQ(refusal(command), "its rows aren't whole items");
  command = read(0, 16, 1, 0);
  command.padding.above = -1;
  EXPECT_EQ(refusal(command), "its padding is out of range");
  command.kind = tiled::kGemm;
  command.items = -1;
  EXPECT_EQ(refusal(command), "its number of items is out of range");
  command.kind = 12;
  EXPECT_EQ(refusal(command), "there is no kind 12");
}

TEST(EngineProgram, AreTokensOfOtherEnginesRefused) {
  EngineCommand command = read(0, 16, 1, 0);
  command.takes = tiled::kLoaded;
  EXPECT_EQ(refusal(command), "it takes tokens that aren't its engine's");
  command.takes = 0;
  command.posts = tiled::kFreed;
  EXPECT_EQ(refusal(command), "it posts tokens that aren't its engine's");
  command.posts = 16;
  EXPECT_EQ(refusal(command), "there is no token queue 4");
}

/// The longest way through memory that is taken: its last row ends below 2^63, as the sanitizers of
/// these tests see.
TEST(EngineProgram, HaveRowsThatAreFarApartAddresses) {
  constexpr int64_t kFar = int64_t{1} << 38;
  const EngineCommand command = read(kFar, 8, kMostRequests / 2, kFar);
  EXPECT_TRUE(check_engine_program({command}, vta_machine()));
  int64_t beats = 0;
  for (RowPieces pieces(command, vta_machine()); !pieces.done(); pieces.next())
    beats += pieces.beats();
  EXPECT_EQ(beats, kMostRequests / 2);
  EXPECT_EQ(refusal(read(0, 8, 1, kFar + 1)), "its rows are out of range");
  EXPECT_EQ(refusal(read(kFar + 1, 8, 1, 8)), "its rows are out of range");
  EXPECT_EQ(refusal(read(0, kFar + 1, 1, 8)), "its rows are out of range");
}

TEST(EngineProgram, AreCyclesBeyond64BitsRefused) {
  EngineCommand command;
  command.kind = tiled::kGemm;
  command.items = int64_t{1} << 40;
  EngineMachine machine = vta_machine();
  EXPECT_TRUE(check_engine_program({command}, machine));
  machine.kinds[tiled::kGemm].item_cycles = 1 << 20;
  EXPECT_EQ(check_engine_program(EngineProgram(2, command), machine).errors().front().code,
            Errc::overflow);
  EXPECT_EQ(check_engine_program({read(0, 8, kMostRequests, 8)}, machine).errors().front().code,
            Errc::capacity);
}

}  // namespace
}  // namespace accsim::hw
