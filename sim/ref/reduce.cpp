#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/operators/fold.h"
#include "sim/operators/reduction/reduction_rules.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// The reduced elements of one output: long runs at a list of offsets.
struct Runs {
  std::vector<int64_t> starts;
  int64_t length = 0, step = 0;
  int64_t element_count() const { return static_cast<int64_t>(starts.size()) * length; }
};

struct Plan {
  std::vector<int64_t> outputs;  ///< where each output's elements start
  Runs runs;
};

Result<Plan> plan_of(const KernelContext& step) {
  const Result<std::vector<int64_t>> axes = reduced_axes(step);
  if (!axes) return axes.errors();
  const Strides strides = row_major(step.dims(0));
  Dims kept, gone;
  Strides kept_by, gone_by;
  for (size_t d = 0; d < strides.size(); ++d) {
    const bool reduced = std::ranges::binary_search(*axes, static_cast<int64_t>(d));
    (reduced ? gone : kept).push_back(step.dims(0)[d]);
    (reduced ? gone_by : kept_by).push_back(strides[d]);
  }
  Plan plan;
  plan.outputs = strided_offsets(kept, kept_by);
  if (elements(gone) == 0) return plan;  // of nothing, whatever the other dims are
  const StridedLoops<1> walk(gone, {gone_by});
  plan.runs.length = walk.dims.back();
  plan.runs.step = walk.strides[0].back();
  plan.runs.starts = strided_offsets({walk.dims.begin(), walk.dims.end() - 1},
                                     {walk.strides[0].begin(), walk.strides[0].end() - 1});
  return plan;
}

/// What numbers are added up in: double for reals, 64-bit integers that wrap.
template <class T>
using Total =
    std::conditional_t<std::is_floating_point_v<T>, double,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

template <class A>
A wrapping_add(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class A>
A wrapping_mul(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}
template <class A>
A wrapping_abs(A a) {
  return a < 0 ? wrapping_mul(a, static_cast<A>(-1)) : a;
}

/// Folds the elements of one output into `total` by next(total, element).
template <class T, class A, class F>
A fold_runs(const T* in, const Runs& runs, A total, F next) {
  for (const int64_t start : runs.starts)
    for (int64_t i = 0; i < runs.length; ++i)
      total = next(total, static_cast<A>(in[start + i * runs.step]));
  return total;
}

/// A real result as a total: of integers without its fraction, and something even of infinity.
template <class A>
A total_of(double v) {
  if constexpr (std::is_floating_point_v<A>)
    return v;
  else
    return static_cast<A>(to_integer(std::is_signed_v<A> ? DType::int64 : DType::uint64, v));
}

struct Sum {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return fold_runs(in, runs, A{}, [](A a, A v) { return wrapping_add(a, v); });
  }
};
struct Mean {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    const auto count = static_cast<A>(runs.element_count());
    if constexpr (std::is_integral_v<A>)
      if (count == 0) return A{};
    return Sum::reduce_runs<T, A>(in, runs) / count;
  }
};
struct Prod {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return fold_runs(in, runs, A{1}, [](A a, A v) { return wrapping_mul(a, v); });
  }
};
struct MaxOf {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    using Limits = std::numeric_limits<T>;
    const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return fold_runs(in, runs, static_cast<A>(least),
                     [](A a, A v) { return a < v || v != v ? v : a; });
  }
};
struct MinOf {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    using Limits = std::numeric_limits<T>;
    const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return fold_runs(in, runs, static_cast<A>(most),
                     [](A a, A v) { return v < a || v != v ? v : a; });
  }
};
struct SumSquare {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return fold_runs(in, runs, A{}, [](A a, A v) { return wrapping_add(a, wrapping_mul(v, v)); });
  }
};
struct L1 {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return fold_runs(in, runs, A{}, [](A a, A v) { return wrapping_add(a, wrapping_abs(v)); });
  }
};
struct L2 {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return total_of<A>(std::sqrt(static_cast<double>(SumSquare::reduce_runs<T, A>(in, runs))));
  }
};
struct LogSum {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    return total_of<A>(std::log(static_cast<double>(Sum::reduce_runs<T, A>(in, runs))));
  }
};
struct LogSumExp {
  template <class T, class A>
  static A reduce_runs(const T* in, const Runs& runs) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    double most = fold_runs(in, runs, -kInf, [](double a, double v) { return std::max(a, v); });
    if (std::isinf(most)) most = most > 0 || runs.element_count() == 0 ? 0 : most;
    if (most == -kInf) return total_of<A>(most);
    const double total =
        fold_runs(in, runs, 0.0, [=](double a, double v) { return a + std::exp(v - most); });
    return total_of<A>(std::log(total) + most);
  }
};

template <class F>
Status reduce_axes(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Result<Plan> plan = plan_of(step);
  if (!plan) return plan.errors();
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    const auto count = static_cast<int64_t>(plan->outputs.size());
    const int64_t grain = 1 + 16384 / (plan->runs.element_count() + 1);
    step.pool().parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o)
        out[o] = static_cast<T>(F::template reduce_runs<T, Total<T>>(
            in + plan->outputs[static_cast<size_t>(o)], plan->runs));
    });
  });
  return ok();
}

constexpr KernelRow kReduceKernels[] = {
    {"ReduceL1", reduce_axes<L1>},         {"ReduceL2", reduce_axes<L2>},
    {"ReduceLogSum", reduce_axes<LogSum>}, {"ReduceLogSumExp", reduce_axes<LogSumExp>},
    {"ReduceMax", reduce_axes<MaxOf>},     {"ReduceMean", reduce_axes<Mean>},
    {"ReduceMin", reduce_axes<MinOf>},     {"ReduceProd", reduce_axes<Prod>},
    {"ReduceSum", reduce_axes<Sum>},       {"ReduceSumSquare", reduce_axes<SumSquare>},
};

}  // namespace

std::span<const KernelRow> reduce_kernels() { return kReduceKernels; }

}  // namespace accsim::sim::ref
