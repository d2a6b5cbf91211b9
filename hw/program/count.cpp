#include <algorithm>

#include "hw/program/program.h"

namespace accsim {
namespace {

/// Sums over the loop nest; `times_` is how often the current body runs.
class Counter {
 public:
  Counter(const Program& program, const HwConfig& hw) : program_(program), hw_(hw) {}

  Counts run() {
    visit(program_.body);
    return counts_;
  }

 private:
  void visit(const std::vector<Item>& body) {
    for (const Item& item : body) {
      if (const auto* loop = std::get_if<Loop>(&item.node)) {
        loops_.push_back(loop);
        times_ *= loop->count;
        visit(loop->body);
        times_ /= loop->count;
        loops_.pop_back();
      } else if (const auto* command = std::get_if<Command>(&item.node)) {
        counts_.commands += times_;
        std::visit([this](const auto& c) { add(c); }, *command);
      }
    }
  }

  /// Executions in which the command accumulates onto what is there.
  int64_t accumulating(const std::vector<int>& first_of, bool accumulate) const {
    if (accumulate) return times_;
    int64_t overwriting = times_;
    for (const Loop* loop : loops_)
      if (std::find(first_of.begin(), first_of.end(), loop->id) != first_of.end())
        overwriting /= loop->count;
    return times_ - overwriting;
  }

  Bytes& read(Buffer b) { return counts_.buffer_read[static_cast<size_t>(b)]; }
  Bytes& written(Buffer b) { return counts_.buffer_written[static_cast<size_t>(b)]; }
  Bytes total(int64_t bytes) const { return Bytes(bytes) * times_; }

  void accumulate_rows(int64_t sums, const std::vector<int>& first_of, bool accumulate) {
    const int64_t bytes = sums * hw_.accumulator_bytes();
    written(Buffer::accumulator) += total(bytes);
    read(Buffer::accumulator) += Bytes(bytes) * accumulating(first_of, accumulate);
  }

  void add(const LoadCommand& c) {
    const Bytes bytes = total(c.walk.bytes());
    written(c.buffer) += bytes;
    counts_.read[memory(c.tensor)] += bytes;
  }

  void add(const GemmCommand& c) {
    counts_.gemms += times_;
    counts_.macs += Macs(c.useful_macs) * times_;
    counts_.array_macs += Macs(c.m * c.k * c.n) * times_;
    read(Buffer::activation) += total(c.m * c.k * hw_.activation_bytes());
    read(Buffer::weight) += total(c.k * c.n * hw_.weight_bytes());
    if (program_.dataflow != Dataflow::output_stationary)
      accumulate_rows(c.m * c.n, c.first_of, c.accumulate);
  }

  void add(const DrainCommand& c) { accumulate_rows(c.m * c.n, c.first_of, c.accumulate); }

  void add(const PostCommand& c) {
    read(Buffer::accumulator) += total(c.rows * c.cols * hw_.accumulator_bytes());
    written(Buffer::output) += total(c.rows * c.cols * hw_.activation_bytes());
    if (!c.has_parameters) return;
    read(Buffer::parameter) += total((c.transposed ? c.rows : c.cols) * hw_.parameter_bytes());
  }

  void add(const VectorCommand& c) {
    read(Buffer::activation) += total(c.in_bytes);
    written(Buffer::output) += total(c.out_bytes);
    for (size_t i = 0; i < kLaneClasses; ++i) counts_.vector_ops[i] += c.ops[i] * times_;
  }

  void add(const StoreCommand& c) {
    const Bytes bytes = total(c.walk.bytes());
    read(Buffer::output) += bytes;
    counts_.written[memory(c.tensor)] += bytes;
  }

  size_t memory(int tensor) const {
    return static_cast<size_t>(program_.tensors[static_cast<size_t>(tensor)].memory);
  }

  const Program& program_;
  const HwConfig& hw_;
  Counts counts_;
  int64_t times_ = 1;
  std::vector<const Loop*> loops_;
};

template <size_t N>
void add(std::array<Bytes, N>& to, const std::array<Bytes, N>& from) {
  for (size_t i = 0; i < N; ++i) to[i] += from[i];
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  macs += other.macs;
  array_macs += other.array_macs;
  add(read, other.read);
  add(written, other.written);
  add(buffer_read, other.buffer_read);
  add(buffer_written, other.buffer_written);
  for (size_t i = 0; i < kLaneClasses; ++i) vector_ops[i] += other.vector_ops[i];
  commands += other.commands;
  gemms += other.gemms;
  return *this;
}

Counts count(const Program& program, const HwConfig& hw) { return Counter(program, hw).run(); }

}  // namespace accsim
