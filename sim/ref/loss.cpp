#include <fmt/format.h>

#include <cmath>

#include "sim/operators/rules.h"
#include "sim/ref/kernel_context.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

/// Log-probabilities to a loss: the negated one of each label, weighed by class; labels equal to
/// ignore_index count nothing.
Status add_losses(KernelContext& step, const std::vector<double>& log_prob) {
  const Dims& x = step.dims(0);
  const int64_t classes = x[1], inner = elements(x, 2, x.size());
  const std::vector<int64_t> labels = step.integers(1);
  const std::vector<double> weights = step.reals(2);
  const bool ignores = step.has_attr("ignore_index");
  const int64_t ignored = int_attr(step, "ignore_index", 0);
  std::vector<double> loss(labels.size(), 0);
  double sum = 0, weight_sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (ignores && labels[i] == ignored) continue;
    if (labels[i] < 0 || labels[i] >= classes)
      return bad_node(step, fmt::format("label {} is outside {} classes", labels[i], classes));
    const double weight = weights.empty() ? 1 : weights[static_cast<size_t>(labels[i])];
    const auto n = static_cast<int64_t>(i) / inner, p = static_cast<int64_t>(i) % inner;
    loss[i] = -weight * log_prob[static_cast<size_t>((n * classes + labels[i]) * inner + p)];
    sum += loss[i];
    weight_sum += weight;
  }
  const std::string reduction = step.attr("reduction", "mean");
  if (reduction == "none")
    step.put_output(0, loss);
  else
    step.put_output(0, std::vector<double>{reduction == "sum" ? sum : sum / weight_sum});
  return ok();
}

Status nll_loss(KernelContext& step) { return add_losses(step, step.reals(0)); }

Status cross_entropy(KernelContext& step) {
  std::vector<double> x = step.reals(0);
  const Lines l = lines_along(step.dims(0), 1);
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      double most = -std::numeric_limits<double>::infinity(), total = 0;
      for (int64_t n = 0; n < l.length; ++n)
        most = std::max(most, x[static_cast<size_t>(l.offset_of(o, i, n))]);
      for (int64_t n = 0; n < l.length; ++n)
        total += std::exp(x[static_cast<size_t>(l.offset_of(o, i, n))] - most);
      for (int64_t n = 0; n < l.length; ++n)
        x[static_cast<size_t>(l.offset_of(o, i, n))] -= most + std::log(total);
    }
  if (step.output_count() > 1) step.put_output(1, x);
  return add_losses(step, x);
}

constexpr KernelRow kLossKernels[] = {
    {"NegativeLogLikelihoodLoss", nll_loss},
    {"SoftmaxCrossEntropyLoss", cross_entropy},
};

}  // namespace

std::span<const KernelRow> loss_kernels() { return kLossKernels; }

}  // namespace accsim::sim::ref
