// A small model's bytes through the reference executor, with drawn weights and inputs, twice: the
// same must come out.
#include "sim/run/run.h"

#include <algorithm>
#include <cstring>

#include "sim/lower/lower.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

/// Of what the executor is given: it is measured in other tests.
constexpr int64_t kMostMacs = 2'000'000, kMostElements = 300'000;

bool is_small(const Graph& graph) {
  int64_t all = 0;
  for (const Tensor& tensor : graph.tensors) {
    const int64_t here = tensor.dtype == DType::undefined ? 0 : elements(tensor.dims);
    if (here < 0 || here > kMostElements - all) return false;
    all += here;
  }
  const auto lowered = lower(graph);
  if (!lowered) return true;  // no cost, but maybe values
  int64_t macs = 0;
  for (const Layer& layer : lowered->layers) {
    if (layer.macs > kMostMacs - macs) return false;
    macs += layer.macs;
  }
  return true;
}

bool equal(const ref::Arrays& a, const ref::Arrays& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    const auto bytes = static_cast<size_t>(x.second.bytes());
    return x.first == y.first && x.second.dims() == y.second.dims() &&
           x.second.bytes() == y.second.bytes() &&
           (bytes == 0 || std::memcmp(x.second.raw_data(), y.second.raw_data(), bytes) == 0);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  RunRequest request;
  request.model = test::input_file("input.onnx", test::text_of(data, size));
  request.elaborate.limits = test::small_limits();
  request.weight_seed = 1;
  request.reals = size % 2 == 1;
  auto prepared = prepare_run(request);
  if (!prepared || !is_small(prepared->graph)) return 0;
  const ref::Arrays inputs = prepared->inputs;
  const auto ran = run_network(*prepared, request);
  if (!ran) return 0;
  prepared->inputs = inputs;
  const auto again = run_network(*prepared, request);
  check(again.ok() && equal(ran->result.outputs, again->result.outputs), "a run isn't repeatable");
  return 0;
}
