// Random rows with what the golden makes of them, one JSON object a line, for
// tests/oracle/row_math.py: print_rows [COUNT] [SEED]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "hw/golden/row_math.h"

namespace {

using namespace accsim::hw;
using Row = std::vector<int8_t>;

class Printer {
 public:
  explicit Printer(unsigned seed) : random_(seed) {}

  void softmax() {
    const Row row = any_row(), mask = integer(0, 1) ? any_row_of(row.size()) : Row();
    const SoftmaxScales s{.input = any_scale(-8, 2),
                          .mask = mask.empty() ? 0 : any_scale(-8, 4),
                          .output = {integer(0, 1) ? 1.0 / 256 : any_scale(-11, 0), zero()}};
    const bool logarithm = ++softmaxes_ % 2 == 0;
    const ElementScale scale{std::exp2(-(softmaxes_ % 71) / 10.0), softmaxes_ * 37 % 256 - 128};
    Row out(row.size());
    const SoftmaxSum sum = softmax_row(*softmax_tables(s), row, mask, out);
    if (logarithm) out.push_back(softmax_log_value(*softmax_log(s, scale), sum));
    std::printf(R"({"op": "%s", "input": %.17g, "mask": %.17g, "output": %.17g, "zero": %d, )",
                logarithm ? "logarithm" : "softmax", s.input, s.mask, s.output.scale,
                s.output.zero);
    std::printf(R"("log_scale": %.17g, "log_zero": %d, )", scale.scale, scale.zero);
    list("masks", mask);
    rows(row, out);
  }

  void norm() {
    const Row row = any_row();
    const auto length = static_cast<int64_t>(row.size());
    const double input = any_scale(-6, 0), output = any_scale(-6, 0);
    const double epsilon = integer(0, 2) ? any_scale(-28, 0) : 0;
    NormConstants n{.centred = integer(0, 1) == 1,
                    .input_zero = zero(),
                    .unit_bits = norm_unit_bits(length),
                    .epsilon = *norm_epsilon(epsilon, input, length),
                    .output_zero = zero()};
    if (integer(0, 3) == 0) n.low = n.output_zero;
    const int64_t per = integer(1, 5);
    std::vector<NormChannel> channels;
    std::printf(
        R"({"op": "norm", "centred": %s, "input": %.17g, "epsilon": %.17g, "output": %.17g, )"
        R"("input_zero": %d, "zero": %d, "low": %d, "per": %lld, "channels": [)",
        n.centred ? "true" : "false", input, epsilon, output, n.input_zero, n.output_zero, n.low,
        static_cast<long long>(per));
    for (int64_t i = 0; i * per < length; ++i) {
      const double gamma = (integer(0, 9) ? 1 : -1) * any_scale(-12, 3);
      const double beta = output * real(-300, 300);
      std::printf("%s[%.17g, %.17g]", i ? ", " : "", gamma, beta);
      channels.push_back(*norm_channel(gamma, beta, output, n.unit_bits));
    }
    std::printf("], ");
    Row out(row.size());
    norm_row(n, row, channels, per, out);
    rows(row, out);
  }

  void reduction() {
    const Row row = any_row();
    const bool mean = integer(0, 1) == 1;
    const double scale = any_scale(-10, 1);
    const RowReduction r{mean ? mean_scale(static_cast<int64_t>(row.size())) : *fixed_scale(scale),
                         zero(), zero()};
    std::printf(R"({"op": "%s", "scale": %.17g, "input_zero": %d, "zero": %d, )",
                mean ? "mean" : "scaled_sum", scale, r.input_zero, r.output_zero);
    rows(row, {reduce_row(r, row)});
  }

 private:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// A real number between powers of two, now and then a power of two.
  double any_scale(int low, int high) {
    return std::exp2(integer(0, 4) ? real(low, high) : integer(low, high));
  }
  int zero() { return integer(0, 1) ? 0 : integer(-128, 127); }

  /// Uniform between two bounds that may be equal.
  Row any_row_of(size_t length) {
    int low = integer(-128, 127), high = integer(-128, 127);
    if (low > high) std::swap(low, high);
    Row row(length);
    for (int8_t& x : row) x = static_cast<int8_t>(integer(low, high));
    return row;
  }
  /// Mostly short, so that the terms are few and what each loses shows.
  Row any_row() { return any_row_of(static_cast<size_t>(std::exp2(real(0, 11)))); }

  static void list(const char* name, const Row& values) {
    std::printf("\"%s\": [", name);
    for (size_t i = 0; i < values.size(); ++i) std::printf("%s%d", i ? ", " : "", values[i]);
    std::printf("], ");
  }
  static void rows(const Row& row, const Row& out) {
    list("row", row);
    list("out", out);
    std::printf("\"elements\": %zu}\n", row.size());
  }

  std::mt19937 random_;
  int softmaxes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1000;
  Printer printer(static_cast<unsigned>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1));
  for (int64_t i = 0; i < count; ++i) {
    if (i % 5 < 2) printer.softmax();
    if (i % 5 == 2 || i % 5 == 3) printer.norm();
    if (i % 5 == 4) printer.reduction();
  }
  return 0;
}
