#pragma once
#include "hw/program/contract.h"
#include "hw/program/program.h"

namespace accsim::hw {

/// Adds up what commands do, each `times` over: the arithmetic behind count_program(), also for
/// whoever knows the commands without having the program.
class CommandCounter {
 public:
  CommandCounter(const HwConfig& hw, Dataflow dataflow) : hw_(&hw), dataflow_(dataflow) {}

  /// A layer whose gemms have this dataflow.
  void begin_layer(Dataflow dataflow) { dataflow_ = dataflow; }

  void count_load(int64_t times, Buffer to, MemoryId from, int64_t bytes) {
    bytes_written_to(to) += Bytes(bytes) * times;
    counts_.read[from] += Bytes(bytes) * times;
    counts_.commands += times;
  }
  /// So many indices of a gathered load.
  void count_indices(int64_t times, int64_t items) {
    bytes_read_from(Buffer::parameter) += Bytes(items * Gather::kIndexBytes) * times;
  }
  /// A GemmCommand's sizes, and what its weights are.
  struct Gemm {
    int64_t m, k, n, useful_macs;
    Encoding weights;
  };
  /// `accumulating`: of the executions, those that add to what is in the accumulator. The rows of
  /// weights are read whole, each as many as the useful products have: k of n, or n of k.
  void count_gemm(int64_t times, const Gemm& g, int64_t accumulating) {
    const auto& [m, k, n, useful_macs, encoding] = g;
    counts_.commands += times;
    counts_.gemms += times;
    counts_.preload_cycles +=
        times * contract::template_of(hw_->array).preload_cycles(hw_->array, dataflow_);
    counts_.macs += Macs(useful_macs) * times;
    counts_.array_macs += Macs(m * k * n) * times;
    bytes_read_from(Buffer::activation) += Bytes(m * k * hw_->activation_bytes()) * times;
    const int64_t weights = useful_macs / m;
    const int64_t rows = dataflow_ == Dataflow::input_stationary ? n : k;
    const int64_t bytes = encoding.is_packed() ? rows * encoding.row_bytes(ceil_div(weights, rows))
                                               : encoding.row_bytes(weights);
    bytes_read_from(Buffer::weight) += Bytes(bytes) * times;
    if (dataflow_ != Dataflow::output_stationary) count_accumulation(times, m * n, accumulating);
  }
  void count_drain(int64_t times, int64_t m, int64_t n, int64_t accumulating) {
    counts_.commands += times;
    count_accumulation(times, m * n, accumulating);
  }
  void count_post(int64_t times, int64_t rows, int64_t cols, bool transposed, bool has_parameters,
                  int64_t groups = 1) {
    counts_.commands += times;
    bytes_read_from(Buffer::accumulator) +=
        Bytes(rows * cols * groups * hw_->accumulator_bytes()) * times;
    bytes_written_to(Buffer::output) += Bytes(rows * cols * hw_->activation_bytes()) * times;
    if (has_parameters)
      bytes_read_from(Buffer::parameter) +=
          Bytes((transposed ? rows : cols) *
                (hw_->parameter_bytes() + (groups - 1) * PostCommand::kGroupBytes)) *
          times;
  }
  void count_vector(int64_t times, const VectorCommand& c) {
    counts_.commands += times;
    bytes_read_from(Buffer::activation) += Bytes(c.in_bytes) * times;
    bytes_written_to(Buffer::output) += Bytes(c.out_bytes) * times;
    for (size_t i = 0; i < kLaneClasses; ++i) counts_.vector_ops[i] += c.ops[i] * times;
  }
  /// A residual of as many bytes as the post has sums is read from the output slot.
  void count_residual(int64_t times, int64_t sums) {
    bytes_read_from(Buffer::output) += Bytes(sums * hw_->activation_bytes()) * times;
  }
  /// Each reads a byte of a unit's table, which is counted, and priced, as one of the parameters
  /// that it came from.
  void look_ups(int64_t times, int64_t results) {
    bytes_read_from(Buffer::parameter) += Bytes(results) * times;
  }
  void set_table(int64_t times) {
    counts_.commands += times;
    bytes_read_from(Buffer::parameter) += Bytes(SetTableCommand::kBytes) * times;
  }
  void count_lane(int64_t times, const LaneCommand& c) {
    counts_.commands += times;
    const int64_t elements = c.row_count() * c.run;
    const int64_t taps_taken = c.taps_taken() * c.run;
    bytes_read_from(Buffer::activation) += Bytes(taps_taken) * times;
    if (c.weighs())
      bytes_read_from(Buffer::parameter) +=
          Bytes(taps_taken + elements * LaneCommand::kChannelBytes) * times;
    else if (c.b)
      bytes_read_from(c.b->buffer) += Bytes(c.b->splat ? c.row_count() : elements) * times;
    bytes_written_to(Buffer::output) += Bytes(c.out_bytes()) * times;
    if (c.epilogue.table) look_ups(times, c.out_bytes());
    counts_.lane_macs += Macs(c.macs) * times;
    (c.weighs() ? counts_.weighed : counts_.vector_ops[lane_class(c)]) += taps_taken * times;
    counts_.joined += c.columns_joined() * c.run * times;
  }
  void count_row(int64_t times, const RowCommand& c) {
    counts_.commands += times;
    const int64_t elements = c.row_count() * c.length();
    const bool softmax = c.op == RowOp::softmax;
    const int64_t passes = softmax ? 3 : 2;
    bytes_read_from(Buffer::activation) += Bytes(elements * passes * (c.mask ? 2 : 1)) * times;
    bytes_read_from(Buffer::parameter) +=
        Bytes(softmax ? RowCommand::kTableBytes
                      : elements / c.per_channel * RowCommand::kChannelBytes) *
        times;
    const int64_t logarithms = c.logarithm ? c.row_count() : 0;
    bytes_written_to(Buffer::output) += Bytes(elements + logarithms) * times;
    const int64_t exponentials = softmax ? 2 : 0;  // passes that need them
    counts_.vector_ops[0] += elements * (passes - exponentials) * times;
    counts_.vector_ops[1] += elements * exponentials * times;
    // A row's division, and of a normalisation the root before it; a logarithm.
    counts_.divisions += (c.row_count() * (softmax ? 1 : 2) + logarithms) * times;
  }
  void count_store(int64_t times, MemoryId to, int64_t bytes) {
    counts_.commands += times;
    bytes_read_from(Buffer::output) += Bytes(bytes) * times;
    counts_.written[to] += Bytes(bytes) * times;
  }

  void count_stage(int64_t times, MemoryId from, MemoryId to, int64_t bytes) {
    counts_.commands += times;
    counts_.read[from] += Bytes(bytes) * times;
    counts_.written[to] += Bytes(bytes) * times;
    counts_.staged += Bytes(bytes) * times;
  }

  const Counts& counts() const { return counts_; }

 private:
  Bytes& bytes_read_from(Buffer b) { return counts_.buffer_read[static_cast<size_t>(b)]; }
  Bytes& bytes_written_to(Buffer b) { return counts_.buffer_written[static_cast<size_t>(b)]; }
  void count_accumulation(int64_t times, int64_t sums, int64_t accumulating) {
    const int64_t bytes = sums * hw_->accumulator_bytes();
    bytes_written_to(Buffer::accumulator) += Bytes(bytes) * times;
    bytes_read_from(Buffer::accumulator) += Bytes(bytes) * accumulating;
  }

  const HwConfig* hw_;
  Dataflow dataflow_;
  Counts counts_;
};

}  // namespace accsim::hw
