#include "hw/vectors/vectors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "hw/random/random_program.h"
#include "tests/support/machines.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

class Vectors : public ::testing::Test {
 protected:
  /// A random program.
  void draw(Dataflow dataflow) {
    hw_ = test::small_machine(8, 8);
    std::mt19937 random(3);
    for (int i = 0; i < 100 && !drawn_; ++i) drawn_ = random_program(hw_, dataflow, random);
    ASSERT_TRUE(drawn_);
  }
  Result<VectorSummary> write(const std::string& name, const VectorOptions& options) const {
    fs::create_directory(folder_ / name);
    const VectorOrigin origin{"accsim", "8x8", "a program", 3};
    return write_vectors(drawn_->program, hw_, drawn_->image, origin, options, folder_ / name);
  }
  std::vector<nlohmann::json> lines(const std::string& name) const {
    std::ifstream in(folder_ / name);
    std::vector<nlohmann::json> out;
    for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }

  const test::TempFolder temporary_;
  const fs::path folder_ = temporary_.path();
  HwConfig hw_;
  std::optional<ProgramWithImage> drawn_;
};

TEST_F(Vectors, HaveEveryCommandThatGoldenRetires) {
  for (const Dataflow dataflow :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    drawn_.reset();
    draw(dataflow);
    const std::string name(accsim::hw::name(dataflow));
    const auto done = write(name, {});
    ASSERT_TRUE(done) << done.errors().front().text();
    const auto all = lines(name + "/commands.jsonl");
    size_t at = 0;
    MemoryImage image = drawn_->image;
    const RetireHook compare = [&](const RetiredCommand& r) {
      ASSERT_LT(at, all.size());
      EXPECT_EQ(all[at]["command"], r.ordinal);
      EXPECT_EQ(all[at]["queue"], accsim::hw::name(queue_of(*r.command)));
      EXPECT_EQ(all[at].value("bytes", std::vector<int64_t>{0, 0})[1], std::ssize(r.bytes));
      ++at;
    };
    ASSERT_TRUE(run_golden(drawn_->program, hw_, image, compare));
    EXPECT_EQ(at, all.size());
    EXPECT_EQ(done->commands, std::ssize(all));
    for (size_t t = 0; t < image.size(); ++t) {
      std::string bytes(image[t].begin(), image[t].end());
      const auto file = folder_ / name / fmt::format("memory_after/{:03}.npy", t);
      EXPECT_EQ(text_of(file).substr(128), bytes);
    }
  }
}

TEST_F(Vectors, AreTheSameBytesForTheSameProgram) {
  draw(Dataflow::weight_stationary);
  ASSERT_TRUE(write("one", {}));
  ASSERT_TRUE(write("two", {}));
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "one")) {
    if (!entry.is_regular_file()) continue;
    const fs::path other = folder_ / "two" / fs::relative(entry, folder_ / "one");
    EXPECT_EQ(text_of(entry.path()), text_of(other)) << other;
    ++files;
  }
  EXPECT_GT(files, 10);
}

TEST_F(Vectors, OfTilesHaveAllGemmsAndPosts) {
  draw(Dataflow::weight_stationary);
  std::map<std::string_view, int64_t> kinds;
  MemoryImage image = drawn_->image;
  ASSERT_TRUE(run_golden(drawn_->program, hw_, image, [&](const RetiredCommand& r) {
    kinds["gemm"] += std::holds_alternative<GemmCommand>(*r.command) ? 1 : 0;
    kinds["post"] += std::holds_alternative<PostCommand>(*r.command) ? 1 : 0;
  }));
  const auto done = write("tiles", {.level = VectorLevel::tile});
  ASSERT_TRUE(done) << done.errors().front().text();
  EXPECT_EQ(std::ssize(lines("tiles/tiles.jsonl")), kinds["gemm"]);
  EXPECT_EQ(std::ssize(lines("tiles/posts.jsonl")), kinds["post"]);
  EXPECT_FALSE(fs::exists(folder_ / "tiles" / "commands.jsonl"));
  // The table of the tiles has a row of eleven numbers per line.
  const std::string table = text_of(folder_ / "tiles" / "tiles.hex");
  EXPECT_EQ(std::ssize(table), kinds["gemm"] * (11 * 8 + 1));
  const auto first = lines("tiles/tiles.jsonl").front();
  EXPECT_EQ(table.substr(80, 8), fmt::format("{:08x}", first["m"].get<int>()));
}

TEST_F(Vectors, EndWhenTheyAreInterrupted) {
  draw(Dataflow::weight_stationary);
  int64_t told = 0;
  const auto stop = [&](int64_t done, int64_t) {
    told = done;
    return false;
  };
  const auto done = write("stopped", {.progress = stop});
  EXPECT_EQ(done.ok(), told == 0) << "a program of fewer commands than between two reports";
  EXPECT_FALSE(told > 0 && fs::exists(folder_ / "stopped" / "manifest.json"));
}

}  // namespace
}  // namespace accsim::hw
