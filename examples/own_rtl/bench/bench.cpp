// Checks dot_array.sv against the golden: Verilator and C++.
//
//     bench MACHINE M K N SEED
//
// Takes the tiles of the product MxKxN as the machine's mapper cuts them. Sends each tile's weights
// and activations, and compares every sum that leaves the array. Exit code 1 at the first
// difference, 2 when the golden can't be asked.
#include <accsim.h>
#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "Vdot_array.h"

namespace {

constexpr int kPatience = 1000;  // cycles in which nothing moves

/// Ends the program when a call of the golden fails.
void need(int32_t code) {
  if (code >= 0) return;
  std::fprintf(stderr, "bench: error: %s\n", accsim_message());
  std::exit(2);
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench: error: %s\n", what.c_str());
  std::exit(2);
}

/// When each port is busy: a generator (xorshift32) that all benches share.
class Traffic {
 public:
  explicit Traffic(uint32_t seed) : state_(seed) {}
  /// Once per cycle. Of 128 cycles the first half takes few results, the second half many.
  void next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    const bool few = (cycle_++ / 64) % 2 == 0;
    takes = few ? state_ % 4 == 0 : state_ % 4 != 0;
    offers = state_ / 4 % 4 != 0;
  }
  bool takes = false;   ///< the result that is there, if there is one
  bool offers = false;  ///< the next weights or activations

 private:
  uint32_t state_;
  int64_t cycle_ = 0;
};

/// What the golden says of its current command.
struct Tile {
  int64_t index, m, k, n, row;
  bool accumulate;
  std::vector<int32_t> a, b;
};

struct Machine {
  int64_t lanes, kernels, slot_rows;
};

class Bench {
 public:
  Bench(accsim_run* run, const Machine& machine, uint32_t seed)
      : run_(run), machine_(machine), traffic_(seed) {
    top_.clk_i = 0;
    for (const int reset : {1, 0, 1}) {
      top_.rst_ni = reset;
      top_.eval();
    }
  }

  /// All tiles; false at the first difference.
  bool check() {
    while (true) {
      const int32_t code = accsim_next(run_, ACCSIM_GEMM);
      need(code);
      if (code == ACCSIM_END) return is_silent();
      tile_ = next_tile();
      if (!check_tile()) return false;
      ++tiles_;
      sums_ += tile_.m * tile_.n;
    }
  }

  int64_t tiles() const { return tiles_; }
  int64_t sums() const { return sums_; }

 private:
  int64_t number(const char* name) const {
    int64_t value = 0;
    need(accsim_command_number(run_, name, &value));
    return value;
  }

  std::vector<int32_t> values(int32_t matrix) const {
    int64_t rows = 0, columns = 0;
    need(accsim_shape(run_, matrix, &rows, &columns));
    std::vector<int32_t> out(static_cast<size_t>(rows * columns));
    need(accsim_values(run_, matrix, rows * columns, out.data()));
    return out;
  }

  Tile next_tile() const {
    Tile t{tiles_, number("m"), number("k"), number("n"), 0, number("overwrites") == 0, {}, {}};
    t.row = number("slot") * machine_.slot_rows + number("address");
    t.a = values(ACCSIM_A);
    t.b = values(ACCSIM_B);
    if (t.k > machine_.lanes || t.n > machine_.kernels)
      fail("a tile is larger than the array; its machine must be weight stationary");
    return t;
  }

  /// Fills a port of bytes: the weights of one kernel, or one row of activations. Zeros follow.
  template <class Port>
  void put(Port& port, const std::vector<int32_t>& from, int64_t first, int64_t step) const {
    uint8_t bytes[sizeof(Port)] = {};
    for (int64_t l = 0; l < tile_.k; ++l)
      bytes[l] = static_cast<uint8_t>(from[static_cast<size_t>(first + l * step)]);
    std::memcpy(&port, bytes, sizeof(Port));
  }

  void offer_weights() {
    top_.weight_valid_i = 1;
    top_.weight_last_i = kernel_ == tile_.n - 1;
    put(top_.weight_data_i, tile_.b, kernel_, tile_.n);
  }

  void offer_row() {
    top_.act_valid_i = 1;
    top_.act_accumulate_i = tile_.accumulate;
    top_.act_row_i = tile_.row + row_;
    put(top_.act_data_i, tile_.a, row_ * tile_.k, 1);
  }

  bool check_tile() {
    kernel_ = row_ = result_ = 0;
    for (int idle = 0; result_ < tile_.m; ++idle) {
      if (!cycle()) return false;
      if (moved_) idle = 0;
      if (idle == kPatience) return miss();
    }
    return true;
  }

  /// One cycle: false when a result isn't the golden's. What is offered stays until it is taken.
  bool cycle() {
    traffic_.next();
    top_.sum_ready_i = traffic_.takes;
    if (traffic_.offers && !top_.weight_valid_i && kernel_ < tile_.n) offer_weights();
    if (traffic_.offers && !top_.act_valid_i && kernel_ == tile_.n && row_ < tile_.m) offer_row();
    top_.eval();
    const bool weights = top_.weight_valid_i && top_.weight_ready_o;
    const bool row = top_.act_valid_i && top_.act_ready_o;
    const bool result = top_.sum_valid_o && top_.sum_ready_i;
    moved_ = weights || row || result;
    if (result && !check_row()) return false;
    for (const int clock : {1, 0}) {
      top_.clk_i = static_cast<CData>(clock);
      top_.eval();
    }
    if (weights) top_.weight_valid_i = 0, ++kernel_;
    if (row) top_.act_valid_i = 0, ++row_;
    return true;
  }

  bool check_row() {
    if (result_ == tile_.m) return report("a result too many");
    for (int64_t c = 0; c < tile_.n; ++c) {
      const auto mine = static_cast<int32_t>(top_.sum_data_o[static_cast<size_t>(c)]);
      const int32_t code = accsim_check_value(run_, ACCSIM_SUMS, result_, c, mine);
      need(code);
      if (code == ACCSIM_DIFFERS) return differ(c, mine);
    }
    ++result_;
    return true;
  }

  bool differ(int64_t column, int32_t mine) const {
    int32_t golden = 0;
    need(accsim_value(run_, ACCSIM_SUMS, result_, column, &golden));
    return report("row " + std::to_string(result_) + ", column " + std::to_string(column) + ": " +
                  std::to_string(mine) + ", golden " + std::to_string(golden));
  }

  bool miss() const {
    return report("row " + std::to_string(result_) + ": no result in " + std::to_string(kPatience) +
                  " cycles");
  }

  bool report(const std::string& what) const {
    const char* command = "";
    need(accsim_command_text(run_, &command));
    std::printf("tile %lld (%s): %s\n", static_cast<long long>(tile_.index), command, what.c_str());
    return false;
  }

  /// Nothing more comes after the last tile.
  bool is_silent() {
    for (int i = 0; i < kPatience; ++i)
      if (!cycle()) return false;
    return true;
  }

  accsim_run* run_;
  Machine machine_;
  Traffic traffic_;
  Vdot_array top_;
  Tile tile_{};
  int64_t kernel_ = 0, row_ = 0, result_ = 0;  // of the tile, so far
  int64_t tiles_ = 0, sums_ = 0;
  bool moved_ = false;
};

/// The numbers of the machine that say how its accumulators lie.
Machine describe(const accsim_machine* machine) {
  const auto number = [&](const char* path) {
    double value = 0;
    need(accsim_machine_number(machine, path, &value));
    return static_cast<int64_t>(value);
  };
  Machine m{number("array.rows"), number("array.cols"), 0};
  const int64_t slot_bytes =
      number("buffers.accumulator.kib") * 1024 / number("buffers.accumulator.slots");
  m.slot_rows = slot_bytes / (m.kernels * int64_t{sizeof(int32_t)});
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("usage: bench MACHINE M K N SEED");
  int64_t numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = std::atoll(argv[i + 2]);
  const auto [m, k, n, seed] = numbers;

  accsim_machine* machine = nullptr;
  accsim_run* run = nullptr;
  need(accsim_machine_open(argv[1], &machine));
  need(accsim_open_product(machine, m, k, n, static_cast<uint64_t>(seed), &run));
  Bench bench(run, describe(machine), static_cast<uint32_t>(seed));
  const bool equal = bench.check();
  accsim_close(run);
  accsim_machine_close(machine);
  if (!equal) return 1;
  std::printf("%lld tiles, %lld sums: all equal\n", static_cast<long long>(bench.tiles()),
              static_cast<long long>(bench.sums()));
  return 0;
}
