#include "hw/cosim/cosim.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "hw/config/load.h"
#include "hw/timing/timing.h"
#include "tests/support/cosim_cases.h"
#include "tests/support/rtl_variants.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

class Cosim : public testing::Test {
 protected:
  void SetUp() override {
    options_ = test::rtl_options();
    if (!options_) GTEST_SKIP() << "verilator or a C++ compiler is missing";
    options_->assertions = true;
  }

  std::shared_ptr<const VerilatedCore> variant(const HwConfig& hw, Dataflow d) {
    auto v = VerilatedCore::load(hw, d, *options_);
    EXPECT_TRUE(v.ok()) << (v.ok() ? "" : v.errors()[0].text());
    return v.ok() ? *v : nullptr;
  }

  /// Programs that were run; different ones are reported.
  int run_random(const HwConfig& hw, Dataflow d, int count) {
    const auto core = variant(hw, d);
    int ran = 0;
    for (int i = 0; core && i < count; ++i) {
      std::mt19937 random(static_cast<unsigned>(i + 1));
      test::CosimCase one = test::random_case(hw, d, random);
      if (one.program.body.empty()) continue;
      const auto result = cosim(one.program, one.hw, *core, one.image);
      EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.errors()[0].text());
      if (!result.ok()) break;
      EXPECT_TRUE(result->all_equal()) << one.text << ": " << result->first_difference;
      ++ran;
    }
    return ran;
  }

  std::optional<VerilatedCoreOptions> options_;
};

TEST_F(Cosim, AreWeightStationaryProgramsEqual) {
  const Dataflow d = Dataflow::weight_stationary;
  EXPECT_GT(run_random(test::cosim_machine(4, 4, 2, 16, d), d, 30), 20);
}

TEST_F(Cosim, AreInputStationaryProgramsEqual) {
  const Dataflow d = Dataflow::input_stationary;
  EXPECT_GT(run_random(test::cosim_machine(4, 4, 2, 16, d), d, 30), 20);
}

TEST_F(Cosim, AreOutputStationaryProgramsEqual) {
  const Dataflow d = Dataflow::output_stationary;
  EXPECT_GT(run_random(test::cosim_machine(5, 7, 3, 13, d), d, 30), 20);
}

/// Cycles of a product on the core.
int64_t product_cycles(const VerilatedCore& core, const HwConfig& hw, int64_t m, int64_t k) {
  sim::GemmProblem p = sim::make_problem(test::product(m, k, hw.array.cols), hw);
  p.a = {"a", MemoryId::dram, false};
  p.b = {"b", MemoryId::dram, true};
  p.parameters = {"parameters", MemoryId::dram, true};
  p.out = {"out", MemoryId::dram, false};
  p.has_parameters = true;
  p.parameter_bytes = hw.parameter_bytes();
  sim::Tiling t{.pixels = m, .outputs = hw.array.cols, .channels = k};
  const Program program = sim::emit(p, hw, t);
  EXPECT_TRUE(verify(program, hw).ok());
  MemoryImage image;
  for (const ProgramTensor& tensor : program.tensors)
    image.emplace_back(static_cast<size_t>(tensor.bytes), uint8_t{0});
  const auto result = cosim(program, hw, core, image);
  EXPECT_TRUE(result.ok() && result->all_equal());
  return result.ok() ? result->rtl_cycles : 0;
}

/// Blocks of three rows and two, and of one row each.
TEST_F(Cosim, AreProgramsEqualThatFillSeveralRowsPerCycle) {
  const Dataflow d = Dataflow::weight_stationary;
  HwConfig uneven = test::cosim_machine(5, 7, 3, 13, d), all = test::cosim_machine(4, 4, 2, 16, d);
  uneven.array.fill_rows = 2;
  all.array.fill_rows = 4;
  for (HwConfig hw : {uneven, all}) {
    EXPECT_GT(run_random(hw, d, 30), 20);
    const auto core = variant(hw, d);
    ASSERT_TRUE(core);
    hw.dram = {{16'000'000}, {16'000'000}, 0};
    const int64_t rows = hw.array.rows, fill = ceil_div(rows, hw.array.fill_rows);
    // One row of activations meets 20 blocks of weights, or 40: each costs its fill. The port loads
    // as many bytes a cycle as it is wide.
    const auto loads = [&](int64_t k) {
      const int64_t port = hw.buffer(Buffer::weight).width;
      return ceil_div(k, port) + ceil_div(k * hw.array.cols, port);
    };
    EXPECT_EQ(product_cycles(*core, hw, 1, 40 * rows) - product_cycles(*core, hw, 1, 20 * rows),
              20 * fill + loads(40 * rows) - loads(20 * rows));
  }
}

TEST_F(Cosim, DoBackToBackGemmsLeaveNoBubble) {
  const Dataflow d = Dataflow::weight_stationary;
  HwConfig hw = test::cosim_machine(4, 4, 2, 16, d);
  const auto core = variant(hw, d);
  ASSERT_TRUE(core);
  hw.dram = {{16'000'000}, {16'000'000}, 0};
  for (const int64_t m : {4, 7, 32}) {
    // Twice the reduction is 8 gemms more in the same tile: each may cost its rows and no more than
    // the port needs for the larger operands (16 bytes a cycle).
    const int64_t operands = ceil_div(m * 32, 16) + ceil_div(4 * 32, 16);
    EXPECT_EQ(product_cycles(*core, hw, m, 64) - product_cycles(*core, hw, m, 32),
              8 * m + operands);
  }
}

/// Its sums lie in other rows, and it waits for slots where the core doesn't.
TEST_F(Cosim, IsAMachineWithAnotherAccumulatorSeen) {
  const Dataflow d = Dataflow::weight_stationary;
  HwConfig hw = test::cosim_machine(4, 4, 2, 16, d);
  const auto core = variant(hw, d);
  ASSERT_TRUE(core);
  int rows = 0, cycles = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    test::CosimCase one = test::random_case(hw, d, random);
    if (one.program.body.empty()) continue;
    HwConfig other = one.hw;  // has an accumulator slot less than the core
    other.buffers[static_cast<size_t>(Buffer::accumulator)].slots = 1;
    other.buffers[static_cast<size_t>(Buffer::accumulator)].kib /= 2;
    const auto result = cosim(one.program, other, *core, one.image);
    ASSERT_TRUE(result.ok()) << result.errors()[0].text();
    cycles += !result->cycles_equal;  // unless memory sets its pace
    if (result->values_equal) continue;
    EXPECT_NE(result->first_difference.find(" of the accumulators, golden "), std::string::npos);
    ++rows;
  }
  EXPECT_GT(rows, 0);
  EXPECT_GT(cycles, 0);
}

/// Text in a file of rtl/ and what stands there instead.
struct Fault {
  const char *file, *find, *replace;
};

/// What a random program gives on a 4x4 core with faults: one whose sums have several terms.
class CosimFault : public Cosim {
 protected:
  Result<CosimResult> run_with(const std::vector<Fault>& faults) {
    const Dataflow d = Dataflow::weight_stationary;
    const HwConfig hw = test::cosim_machine(4, 4, 2, 16, d);
    const fs::path copy = test::beside_program(
        std::string("rtl_fault_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(copy);
    fs::create_directories(copy / "hw");
    fs::copy(options_->source_dir / "rtl", copy / "rtl");
    fs::copy(options_->source_dir / "hw/cosim", copy / "hw/cosim", fs::copy_options::recursive);
    for (const Fault& f : faults) {
      const fs::path file = copy / "rtl" / f.file;
      std::ifstream in(file);
      std::string text(std::istreambuf_iterator<char>(in), {});
      const size_t at = text.find(f.find);
      EXPECT_NE(at, std::string::npos) << f.file << " has no " << f.find;
      if (at == std::string::npos) continue;
      text.replace(at, std::string_view(f.find).size(), f.replace);
      std::ofstream(file) << text;
    }
    options_->source_dir = copy;
    const auto core = variant(hw, d);
    if (!core) return Error{Errc::io, "the core isn't built", ""};
    std::mt19937 random(2);
    test::CosimCase one = test::random_case(hw, d, random);
    EXPECT_FALSE(one.program.body.empty());
    return cosim(one.program, one.hw, *core, one.image);
  }
};

TEST_F(CosimFault, IsAWrongSumSeen) {
  const auto result = run_with({{"array_ws.sv", "below[r-1][c] + ", "below[r-1][c] - "}});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->values_equal);
  EXPECT_TRUE(result->cycles_equal);
  EXPECT_TRUE(result->first_difference.starts_with("execute command 0"));
  EXPECT_NE(result->first_difference.find(": the sum of row "), std::string::npos);
  EXPECT_NE(result->first_difference.find(", golden "), std::string::npos);
}

/// Sums that nothing reads again, where no store can show them.
TEST_F(CosimFault, IsASumInAnotherRowSeen) {
  const auto result = run_with({{"acc_bank.sv", "write_row_o = row_q", "write_row_o = ~row_q"}});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->values_equal);
  EXPECT_TRUE(result->cycles_equal);
  EXPECT_NE(result->first_difference.find(" of the accumulators, golden "), std::string::npos);
}

TEST_F(CosimFault, IsAFailedAssertionAnError) {
  // Takes tokens that aren't there.
  const auto result = run_with({{"token_counter.sv", "count_q != '0", "1'b1"}});
  ASSERT_FALSE(result.ok());
  const std::string text = result.errors()[0].text();
  EXPECT_NE(text.find("fails the assertion at token_counter_sva.sv:"), std::string::npos) << text;
  EXPECT_NE(text.find("in cycle"), std::string::npos) << text;
}

TEST_F(CosimFault, IsACoreOfAnotherPackageRefused) {
  const std::string fields = "word_t       n;\n    word_t       k;";
  struct Other {
    const char* fields;
    bool refused;
  };
  for (const Other& other :
       {Other{"word_t k;\n word_t n;", true},
        Other{"word_t n;  // only blanks and this differ\n word_t k;", false}}) {
    const fs::path copy = test::beside_program("rtl_package");
    fs::remove_all(copy);
    fs::create_directories(copy / "rtl");
    std::ifstream in(fs::path(kSource) / "rtl/accsim_pkg.sv");
    std::string text(std::istreambuf_iterator<char>(in), {});
    const size_t at = text.find(fields);
    ASSERT_NE(at, std::string::npos);
    std::ofstream(copy / "rtl/accsim_pkg.sv") << text.replace(at, fields.size(), other.fields);
    options_->source_dir = copy;
    const Dataflow d = Dataflow::weight_stationary;
    const auto core = VerilatedCore::load(test::cosim_machine(4, 4, 2, 16, d), d, *options_);
    ASSERT_FALSE(core.ok());  // a package alone is no core
    const std::string said = core.errors()[0].text();
    EXPECT_EQ(said.find("isn't the one") != std::string::npos, other.refused) << said;
  }
}

TEST_F(CosimFault, IsAWriteWithoutAStoreAnError) {
  // Each beat retires a store, so that beats are left when no store is.
  options_->assertions = false;
  const auto result =
      run_with({{"store_unit.sv", "free_o       = retire_o", "free_o = retire_o && out_last_q"},
                {"store_unit.sv", "req_ready_i && out_last_q;", "req_ready_i;"}});
  ASSERT_FALSE(result.ok());
  const std::string text = result.errors()[0].text();
  EXPECT_NE(text.find("writes and has no store to do"), std::string::npos) << text;
}

TEST_F(CosimFault, IsARegisterWithoutResetSeen) {
  const auto result = run_with({{"slot_ring.sv", "base_q <= '0;", "base_q <= base_q;"}});
  ASSERT_FALSE(result.ok() && result->all_equal()) << "registers begin with random values";
}

TEST(VerilatedCore, AreTheParametersThoseOfTheMachine) {
  const HwConfig hw = test::small_machine(5, 7);
  const auto p = core_parameters(hw, Dataflow::weight_stationary);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ((*p)[0], "Rows=5");
  EXPECT_EQ((*p)[1], "Cols=7");
  EXPECT_NE(std::find(p->begin(), p->end(), "AccRows=146"), p->end());  // 4 KiB / (7 * 4)
}

TEST(VerilatedCore, AreTypesThatTheCoreDoesNotComputeRefused) {
  HwConfig real = test::small_machine();
  real.types.accumulator = DType::float32;
  for (const auto parameters : {rtl_parameters, core_parameters}) {
    const auto p = parameters(real, Dataflow::weight_stationary);
    ASSERT_FALSE(p.ok());
    EXPECT_EQ(p.errors()[0].code, Errc::unsupported);
  }
}

// The ports of rtl/ are as wide as a machine has them; those of the Verilated core are arrays of a
// length.
TEST(VerilatedCore, IsOnlyCoSimulationLimitedToItsWidestPort) {
  HwConfig hw = test::small_machine();
  hw.buffers[static_cast<size_t>(Buffer::activation)].width = rtl::kMaxPort;
  EXPECT_TRUE(core_parameters(hw, Dataflow::weight_stationary).ok());
  hw.buffers[static_cast<size_t>(Buffer::activation)].width = rtl::kMaxPort + 1;
  hw.buffers[static_cast<size_t>(Buffer::output)].width = 4096;
  const auto p = rtl_parameters(hw, Dataflow::weight_stationary);
  ASSERT_TRUE(p.ok());
  for (const char* wanted : {"ActPort=513", "OutPort=4096"})
    EXPECT_NE(std::find(p->begin(), p->end(), wanted), p->end()) << wanted;
  const auto core = core_parameters(hw, Dataflow::weight_stationary);
  ASSERT_FALSE(core.ok());
  ASSERT_EQ(core.errors().size(), 2u) << "one for each port";
  EXPECT_EQ(core.errors()[0].code, Errc::unsupported);
  EXPECT_EQ(core.errors()[0].message,
            "buffers.activation.width is 513; co-simulation's ports have at most 512 bytes");
}

// *_bytes_o of rtl/ have 16 bits.
TEST(VerilatedCore, IsAPortRefusedWhoseBytesABeatCannotCount) {
  HwConfig hw = test::small_machine();
  hw.buffers[static_cast<size_t>(Buffer::weight)].width = 65535;
  EXPECT_TRUE(rtl_parameters(hw, Dataflow::weight_stationary).ok());
  hw.buffers[static_cast<size_t>(Buffer::weight)].width = 65536;
  const auto p = rtl_parameters(hw, Dataflow::weight_stationary);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.errors()[0].code, Errc::unsupported);
}

TEST(VerilatedCore, HasEveryInt8MachineOfConfigsParameters) {
  for (const char* name : {"8x8", "16x16", "64x64", "64x64-hbm", "64x64-hbm-banked"}) {
    const auto hw = load_hw(kSource + "/configs/" + std::string(name) + ".yaml");
    ASSERT_TRUE(hw.ok()) << name;
    EXPECT_TRUE(rtl_parameters(*hw, Dataflow::output_stationary).ok()) << name;
  }
}

TEST(VerilatedCore, DoesAMissingToolGiveAnError) {
  const VerilatedCoreOptions options{.source_dir = kSource,
                                     .cache_dir = test::beside_program("rtl_variants"),
                                     .verilator = "no-such-tool"};
  const auto v = VerilatedCore::load(test::small_machine(), Dataflow::weight_stationary, options);
  ASSERT_FALSE(v.ok());
  EXPECT_EQ(v.errors()[0].code, Errc::io);
  const std::string message = v.errors()[0].text();
  EXPECT_NE(message.find("'no-such-tool' --version: there is no such tool"), message.npos)
      << message;
  EXPECT_NE(message.find("scripts/setup verify"), message.npos) << message;
}

}  // namespace
}  // namespace accsim::hw
