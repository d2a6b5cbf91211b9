#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include "hw/program/command_counter.h"
#include "hw/timing/steps.h"
#include "sim/map/pitched_walk.h"
#include "sim/map/program_description.h"
#include "sim/map/request.h"

namespace accsim::sim {

/// Whether steps are those of a program in a chain (OpTrace).
enum class Marks : uint8_t { no, yes };

/// Writes the steps that timing needs and adds up the counts. With NoAddress for machines on which
/// no time depends on addresses, with hw::Affine for others.
template <class AddressType>
class CostSink {
 public:
  using Address = AddressType;

  CostSink(const hw::HwConfig& hw, hw::Dataflow dataflow, hw::StepWriter& steps,
           Marks marks = Marks::no)
      : steps_(steps), tally_(hw, dataflow), marks_(marks == Marks::yes) {
    steps.start_program(hw, dataflow);
  }
  const hw::Counts& counts() const { return tally_.counts(); }
  std::vector<OperandPort> ports() const {
    std::vector<OperandPort> out;
    for (const TensorUse& t : tensors_) out.push_back(t.port);
    return out;
  }
  /// Bytes in the shared buffer, by tensor: none of constants and regions.
  std::vector<int64_t> shared_bytes() const {
    std::vector<int64_t> out;
    for (const TensorUse& t : tensors_) out.push_back(t.shared_bytes);
    return out;
  }
  /// Behind all of a program: marks what it has stored.
  void set_marks() {
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].stored) steps_.mark({false, hw::Queue::store, static_cast<int>(i)});
  }

  void add_tensor(const Place& place, int64_t bytes) {
    const bool shared = place.memory == hw::MemoryId::shared && !place.constant;
    tensors_.push_back({place.memory, marks_ && !place.constant, false, place.port, place.pitch,
                        shared ? place.pitch.extent_of(bytes) : 0});
  }
  void add_region(int64_t bytes) {
    if (regions_.empty()) {
      steps_.share_channels();
      first_region_ = tensors_.size();
    }
    steps_.add_region(1);
    const OperandPort port{OperandPort::Side::region, static_cast<int>(regions_.size())};
    tensors_.push_back({hw::MemoryId::shared, false, false, port, {}, 0});
    regions_.push_back(bytes);
  }
  const std::vector<int64_t>& bytes_of_regions() const { return regions_; }
  void region_sync(hw::SyncKind kind, hw::Queue queue, int tensor) {
    steps_.region_sync(kind, queue, static_cast<size_t>(tensor) - first_region_);
  }
  template <class Fill>
  void add_stage(int from, int to, const hw::Walk& walk, Fill fill) {
    if (std::exchange(tensors_[static_cast<size_t>(from)].awaited, false))
      steps_.mark({true, hw::Queue::stage, from});
    steps_.stage(memory_of(from), walk_in_tensor(from, walk),
                 loop_strides<hw::StageCommand>(from, &hw::StageCommand::source, fill));
    tally_.count_stage(times_, memory_of(from), memory_of(to), walk.bytes());
  }
  template <class Body>
  void add_loop(std::string_view, int64_t count, Body body) {
    steps_.open_loop(count);
    loops_.push_back(count);
    times_ *= count;
    body(static_cast<int>(loops_.size()) - 1);
    times_ /= count;
    loops_.pop_back();
    steps_.close_loop();
  }
  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer buffer) {
    steps_.sync(kind, queue, buffer);
  }
  template <class Fill>
  void add_load(hw::Buffer to, int tensor, const hw::Walk& walk, Fill fill,
                int64_t transposed = 0) {
    if (std::exchange(tensors_[static_cast<size_t>(tensor)].awaited, false))
      steps_.mark({true, hw::Queue::load, tensor});
    const auto s = loop_strides<hw::LoadCommand>(tensor, &hw::LoadCommand::source, fill);
    if (transposed > 0)
      steps_.load_transposed(to, memory_of(tensor), walk_in_tensor(tensor, walk), s, transposed);
    else
      steps_.load(to, memory_of(tensor), walk_in_tensor(tensor, walk), s);
    tally_.count_load(times_, to, memory_of(tensor), walk.bytes());
  }
  template <class Fill>
  void load_gathered(hw::Buffer to, int tensor, const hw::Walk& walk, Fill) {
    if (std::exchange(tensors_[static_cast<size_t>(tensor)].awaited, false))
      steps_.mark({true, hw::Queue::load, tensor});
    steps_.load_gathered(to, memory_of(tensor), walk);
    tally_.count_load(times_, to, memory_of(tensor), walk.bytes());
    tally_.count_indices(times_, walk.levels[0].count);
  }
  template <class Fill>
  void add_gemm(const PassSizes& s, Fill) {
    steps_.gemm(s.m, s.k, s.n);
    tally_.count_gemm(times_, {s.m, s.k, s.n, s.useful_macs, s.weights}, accumulating_runs(s));
  }
  template <class Fill>
  void add_drain(const PassSizes& s, Fill) {
    steps_.drain();
    tally_.count_drain(times_, s.m, s.n, accumulating_runs(s));
  }
  template <class Fill>
  void add_post(const PostSizes& s, Fill) {
    steps_.post(s.rows, s.cols, s.groups);
    tally_.count_post(times_, s.rows, s.cols, s.transposed, s.has_parameters, s.groups);
    if (s.residual) tally_.count_residual(times_, s.rows * s.cols);
    if (s.table) tally_.look_ups(times_, s.rows * s.cols);
  }
  void set_table(hw::Queue unit) {
    steps_.set_table(unit);
    tally_.set_table(times_);
  }
  void add_vector(const hw::VectorCommand& c) {
    steps_.vector(c);
    tally_.count_vector(times_, c);
  }
  template <class Fill>
  void add_row(const hw::RowCommand& c, Fill) {
    steps_.row(c);
    tally_.count_row(times_, c);
  }
  template <class Fill>
  void add_lane(const hw::LaneCommand& c, Fill) {
    steps_.lane(c);
    tally_.count_lane(times_, c);
  }
  template <class Fill>
  void add_store(int tensor, const hw::Walk& walk, Fill fill) {
    tensors_[static_cast<size_t>(tensor)].stored = true;
    steps_.store(memory_of(tensor), walk_in_tensor(tensor, walk),
                 loop_strides<hw::StoreCommand>(tensor, &hw::StoreCommand::target, fill));
    tally_.count_store(times_, memory_of(tensor), walk.bytes());
  }

 private:
  struct TensorUse {
    hw::MemoryId memory;
    bool awaited;  ///< its first load waits for marks
    bool stored;
    OperandPort port;
    Pitch pitch;
    int64_t shared_bytes;
  };

  /// The walk as it is in a tensor whose rows may have a pitch.
  hw::Walk walk_in_tensor(int tensor, const hw::Walk& walk) const {
    return pitched(walk, tensors_[static_cast<size_t>(tensor)].pitch);
  }
  /// By how much the loops around it move a transfer, which `fill` writes.
  template <class Command, class Fill>
  hw::LoopStrides loop_strides(int tensor, hw::Affine Command::*place, Fill fill) const {
    hw::LoopStrides out;
    if constexpr (std::is_same_v<Address, hw::Affine>) {
      if (memory_of(tensor) != hw::MemoryId::dram) return out;
      Command command;
      fill(command);
      const Pitch& pitch = tensors_[static_cast<size_t>(tensor)].pitch;
      const hw::Affine at =
          pitch.is_dense() ? std::move(command.*place) : pitched(std::move(command.*place), pitch);
      for (const auto& t : at.terms) out.push_back({static_cast<size_t>(t.loop), t.coeff});
    }
    return out;
  }
  hw::MemoryId memory_of(int tensor) const { return tensors_[static_cast<size_t>(tensor)].memory; }
  int64_t accumulating_runs(const PassSizes& s) const {
    if (s.accumulate) return times_;
    int64_t firsts = times_;
    for (const int loop : s.first_of) firsts /= loops_[static_cast<size_t>(loop)];
    return times_ - firsts;
  }

  hw::StepWriter& steps_;
  hw::CommandCounter tally_;
  int64_t times_ = 1;
  InlineVector<int64_t, 32> loops_;
  const bool marks_;
  std::vector<TensorUse> tensors_;
  std::vector<int64_t> regions_;  ///< bytes of each
  size_t first_region_ = 0;       ///< among the tensors
};

}  // namespace accsim::sim
