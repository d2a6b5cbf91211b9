// A sweep's YAML beside a machine (machine.yaml) and a network with symbols (net.onnx); the first
// legal point of one that is accepted is costed.
#include <filesystem>

#include "sim/sweep/evaluate.h"
#include "sim/sweep/show_data.h"
#include "sim/sweep/space.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

/// Points that are gone through: constraints may hold of none of millions.
constexpr int64_t kMostSeen = 5000;

void put_beside() {
  const std::string source = ACCSIM_SOURCE_DIR;
  std::filesystem::copy_file(source + "/configs/8x8.yaml", test::temp_path("machine.yaml"));
  std::filesystem::copy_file(source + "/tests/fuzz/files/net.onnx", test::temp_path("net.onnx"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool once = (put_beside(), true);
  static_cast<void>(once);
  const auto spec = load_sweep(test::input_file("input.yaml", test::text_of(data, size)));
  if (!spec) return 0;
  space_json(*spec);
  Space space(*spec);
  check(space.size() > 0, "a space without points");
  if (space.size() > kMostSeen) return 0;
  PointSource source(*spec);
  const int64_t point = source.next_point();
  check((point >= 0) == count_points(*spec).ok(), "points aren't counted as they are drawn");
  if (point < 0) return 0;
  check(space.point_of_steps(space.steps_of_point(point)) == point,
        "a point isn't numbered by its steps");
  auto evaluator = Evaluator::create(*spec);
  if (evaluator) evaluator->evaluate_point(point);
  return 0;
}
