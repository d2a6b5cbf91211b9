// Random rows through the vector unit's row operations, beside their definitions in double:
//   build/dev/tests/random_rows [ROWS] [SEED]
// Exit code 1 when an element is further away than docs/vector-arithmetic.md allows, or when
// TensorFlow Lite's softmax is nearer, or its L2 normalisation by more than a channel's multiplier
// loses.
#include <cstdio>
#include <cstdlib>

#include "tests/hw/golden/row_trials.h"

namespace {

bool print(const char* name, const accsim::test::RowErrors& e) {
  std::printf("%-22s %11lld elements, max %.7f, mean %.7f, %.4f of the bound\n", name,
              static_cast<long long>(e.elements), e.max, e.mean(), e.worst_share);
  return e.worst_share <= 1;
}

bool nearer(const accsim::test::RowErrors& ours, const accsim::test::RowErrors& lite,
            double loss = 0) {
  return ours.max <= lite.max + loss && ours.mean() <= lite.mean() + loss;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1'000'000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
  accsim::test::RowTrials trials(seed);
  trials.run(rows);
  std::printf("%lld rows; distances to the real result in output steps\n",
              static_cast<long long>(rows));
  bool good = print("softmax", trials.softmax);
  print("  TensorFlow Lite", trials.lite_softmax);
  good &= print("softmax of 4096", trials.long_softmax);
  good &= print("softmax with mask", trials.masked);
  good &= print("LayerNorm", trials.layer_norm);
  good &= print("RMSNorm", trials.rms_norm);
  good &= print("L2 as RMSNorm", trials.l2);
  print("  TensorFlow Lite", trials.lite_l2);
  good &= print("mean", trials.average);
  good &= nearer(trials.softmax, trials.lite_softmax) &&
          nearer(trials.l2, trials.lite_l2, trials.kMultiplierLoss);
  return good ? 0 : 1;
}
