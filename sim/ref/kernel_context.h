#pragma once
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/operators/node_view.h"
#include "sim/ref/array.h"
#include "sim/ref/texts.h"
#include "sim/ref/thread_pool.h"

namespace accsim::sim::ref {

/// What all nodes of a run share.
struct RunState {
  explicit RunState(int threads, std::optional<uint64_t> seed = std::nullopt,
                    std::shared_ptr<MemoryCount> count = nullptr)
      : pool(threads),
        memory(count ? std::move(count) : std::make_shared<MemoryCount>()),
        weight_seed(seed) {}
  ThreadPool pool;
  std::shared_ptr<MemoryCount> memory;
  std::optional<uint64_t> weight_seed;  ///< stored tensors without elements are drawn with it
  size_t random_weights = 0;            ///< how many have been drawn
  /// Operations that may be computed because of values, beyond what shapes say (run_operations()).
  double most_operations = std::numeric_limits<double>::infinity();
  double operations = 0;                                     ///< of those, so far
  std::shared_ptr<Texts> texts = std::make_shared<Texts>();  ///< all strings of the run
};

/// What a kernel sees of its node: attributes and shapes (NodeView; shape rules have checked them),
/// the inputs' elements, and room for the outputs.
class KernelContext : public NodeView {
 public:
  /// `inputs`: as the node's, absent ones empty.
  KernelContext(const Graph& graph, const Node& node, std::vector<Array> inputs, RunState& state);

  ThreadPool& pool() const { return state_.pool; }
  const std::shared_ptr<MemoryCount>& memory() const { return state_.memory; }
  RunState& state() const { return state_; }

  /// Input i. Precondition: has_input(i).
  const Array& input_array(size_t i) const;
  template <class T>
  const T* data(size_t i) const {
    return input_array(i).template data<T>();
  }
  /// Converted elements of a present input; {} when it is absent. They count as memory until the
  /// node is done. If this is the node's largest input, its results count once, too: kernels that
  /// convert their inputs have results in the same type before put().
  std::vector<double> reals(size_t i) const;
  // Not the base's: that one reads constants, this one what a run has computed.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method)
  std::vector<int64_t> integers(size_t i) const;
  /// The first element of input i, or the fallback when it is absent or empty.
  double real_or(size_t i, double fallback) const;

  /// Output i, allocated with the graph's type and dims on first use. Precondition: has_output(i).
  Array& output_array(size_t i);
  template <class T>
  T* result(size_t i) {
    return output_array(i).template data<T>();
  }
  const Dims& out_dims(size_t i) const { return output(i).dims; }
  /// Takes so many operations of RunState::most_operations; Errc::capacity beyond them.
  Status spend_operations(double operations) const;
  /// Gives output i these elements, converted to its type (integers saturate not, they wrap); does
  /// nothing when nobody wants it. Precondition: as many as the output has.
  void put_output(size_t i, std::span<const double> values);
  void put_output(size_t i, std::span<const int64_t> values);
  /// Output i is this array (of the same type and number of elements) under the output's dims.
  void share_output(size_t i, const Array& array);

  const std::vector<Array>& inputs() const { return inputs_; }
  std::vector<Array>& outputs() { return outputs_; }

 private:
  void hold_converted(size_t i) const;
  template <class Value>
  void put_values(size_t i, std::span<const Value> values, int64_t (*whole)(DType, Value));

  std::vector<Array> inputs_;
  std::vector<Array> outputs_;
  RunState& state_;
  mutable std::deque<Held> held_;
  mutable bool holds_results_ = false;
};

/// Computes the outputs of one node. Errors: Errc::unsupported for what the operator allows and the
/// kernel doesn't do, Errc::invalid for inputs that break the operator's definition.
using Kernel = Status (*)(KernelContext&);

inline constexpr std::string_view kOnnx = "";  ///< ONNX's own domain

/// Which operator a kernel computes.
struct KernelRow {
  std::string_view op;
  Kernel run;
  std::string_view domain = kOnnx;
  bool moves = false;  ///< writes elements of inputs, whatever they are: strings, too
};

/// The families, each in its own files.
std::span<const KernelRow> elementwise_kernels();
std::span<const KernelRow> activation_kernels();
std::span<const KernelRow> move_kernels();
std::span<const KernelRow> index_kernels();
std::span<const KernelRow> reduce_kernels();
std::span<const KernelRow> norm_kernels();
std::span<const KernelRow> softmax_kernels();
std::span<const KernelRow> loss_kernels();
std::span<const KernelRow> conv_kernels();
std::span<const KernelRow> matmul_kernels();
std::span<const KernelRow> attention_kernels();
std::span<const KernelRow> rotary_kernels();
std::span<const KernelRow> stateful_kernels();
std::span<const KernelRow> recurrent_kernels();
std::span<const KernelRow> pool_kernels();
std::span<const KernelRow> resize_kernels();
std::span<const KernelRow> sampling_kernels();
std::span<const KernelRow> roi_kernels();
std::span<const KernelRow> patch_kernels();
std::span<const KernelRow> quant_kernels();
std::span<const KernelRow> signal_kernels();
std::span<const KernelRow> contrib_kernels();
std::span<const KernelRow> contrib_attention_kernels();
std::span<const KernelRow> group_query_kernels();
std::span<const KernelRow> contrib_matmul_kernels();
std::span<const KernelRow> contrib_moe_kernels();

/// Every row of every family.
std::span<const KernelRow* const> all_kernels();

/// The row of an operator; nullptr when it has no kernel (OpRow::no_kernel says why).
const KernelRow* find_kernel(std::string_view domain, std::string_view op);

/// "Slice: only ..." as Errc::unsupported.
Error refuse(const NodeView& node, std::string_view what);

/// An error when the attribute (its default, when absent) is none of the words, which are separated
/// by spaces.
Status one_of(const NodeView& node, const char* attribute, const char* fallback,
              std::string_view words);

/// Kernel of operators whose value rule (the op table's) computes everything: the inputs become
/// values, the rule runs, the result becomes the output. Slow, exact, for small tensors.
Status by_value_rule(KernelContext& step);

}  // namespace accsim::sim::ref
