#pragma once
#include <functional>
#include <vector>

#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// Scaled dot-product attention on double arrays: q batch x q_heads x q_len x head, k and v batch x
/// kv_heads x total x head (v_head). Query heads that share keys are neighbours.
struct AttentionTask {
  int64_t batch = 0, q_heads = 0, kv_heads = 0, q_len = 0, total = 0, head = 0, v_head = 0;
  const double *q = nullptr, *k = nullptr, *v = nullptr;
  double scale = 1, softcap = 0;
  /// A score a head that takes part in the softmax's sum and in nothing else; may be empty.
  std::vector<double> sinks{};
  /// Added to the score of query i and key j; may be empty.
  std::function<double(int64_t batch, int64_t head, int64_t i, int64_t j)> bias;
  enum class Keep { none, scores, capped, biased, softmax } keep = Keep::none;
};
/// What compute_attention() computes.
struct AttentionResult {
  std::vector<double> out;   ///< batch x q_heads x q_len x v_head
  std::vector<double> kept;  ///< batch x q_heads x q_len x total, as `keep` asks for
};
/// Attention of all heads: scores of queries and keys, scaled, capped, biased, softmax, times
/// values; batches and heads run in parallel. Scores count as memory.
AttentionResult compute_attention(RunState& state, const AttentionTask& task);

/// batch x length x (heads * size) to batch x heads x length x size, and back.
std::vector<double> split_heads(const std::vector<double>& x, int64_t batch, int64_t length,
                                int64_t heads);
/// The inverse of split_heads(): batch x heads x length x size to batch x length x (heads *
/// size).
std::vector<double> join_heads(const std::vector<double>& x, int64_t batch, int64_t heads,
                               int64_t length);
/// Past and new keys along the length: both batch * heads rows of length x size.
std::vector<double> append_length(const std::vector<double>& past, const std::vector<double>& fresh,
                                  int64_t rows);

/// One head's vector turned in pairs by cached cosines and sines (`half` of each).
void rotate_head(double* x, const double* cos, const double* sin, int64_t half, bool interleaved);

}  // namespace accsim::sim::ref
