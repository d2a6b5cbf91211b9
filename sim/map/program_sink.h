#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/map/pitched_walk.h"
#include "sim/map/program_description.h"
#include "sim/map/request.h"

namespace accsim::sim {

/// Builds the Program that was described; its addresses are Affine.
class ProgramSink {
 public:
  using Address = hw::Affine;

  explicit ProgramSink(hw::Dataflow dataflow) {
    out_.dataflow = dataflow;
    bodies_.push_back(&out_.body);
  }
  hw::Program take_program() { return std::move(out_); }

  void add_tensor(const Place& place, int64_t bytes) {
    out_.tensors.push_back({place.name, place.memory, place.pitch.extent_of(bytes)});
    pitches_.push_back(place.pitch);
  }
  /// Behind the tensors: a region of one slot.
  void add_region(int64_t bytes) {
    const auto name = "staged " + std::to_string(regions_++);
    out_.tensors.push_back({name, hw::MemoryId::shared, bytes, 1});
  }
  template <class Body>
  void add_loop(std::string_view name, int64_t count, Body body) {
    hw::Loop loop{out_.loops++, std::string(name), count, {}};
    bodies_.push_back(&loop.body);
    body(loop.id);
    bodies_.pop_back();
    loop.body.shrink_to_fit();  // programs are kept, and ragged ones have thousands of loops
    bodies_.back()->push_back({std::move(loop)});
  }
  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer buffer) {
    bodies_.back()->push_back({hw::Sync{kind, queue, buffer}});
  }
  /// Of a region, which is that tensor.
  void region_sync(hw::SyncKind kind, hw::Queue queue, int tensor) {
    bodies_.back()->push_back({hw::Sync{kind, queue, hw::Buffer::activation, tensor}});
  }
  /// From a tensor in DRAM into the slot of a region, from its first byte on.
  template <class Fill>
  void add_stage(int from, int to, const hw::Walk& walk, Fill fill) {
    hw::StageCommand c;
    c.from = from;
    c.to = to;
    c.walk = walk;
    append_command(std::move(c), [&](hw::StageCommand& stage) {
      fill(stage);
      if (!has_pitch(from)) return;
      const Pitch& pitch = pitches_[static_cast<size_t>(from)];
      stage.source = pitched(std::move(stage.source), pitch);
      stage.walk = pitched(stage.walk, pitch);
    });
  }
  /// `transposed`: as LoadCommand has it.
  template <class Fill>
  void add_load(hw::Buffer to, int tensor, const hw::Walk& walk, Fill fill,
                int64_t transposed = 0) {
    hw::LoadCommand c;
    c.buffer = to;
    c.tensor = tensor;
    c.walk = walk;
    c.transposed = transposed;
    append_command(std::move(c), [&](hw::LoadCommand& load) {
      fill(load);
      if (!has_pitch(tensor)) return;
      const Pitch& pitch = pitches_[static_cast<size_t>(tensor)];
      load.source = pitched(std::move(load.source), pitch);
      load.walk = pitched(load.walk, pitch);
      if (load.padded) load.padded = pitched(std::move(*load.padded), pitch);
    });
  }
  /// `fill` says what gathers its items, those of the walk's outermost level.
  template <class Fill>
  void load_gathered(hw::Buffer to, int tensor, const hw::Walk& walk, Fill fill) {
    add_load(to, tensor, walk, fill);
  }
  template <class Fill>
  void add_gemm(const PassSizes& sizes, Fill fill) {
    hw::GemmCommand c;
    c.m = sizes.m;
    c.k = sizes.k;
    c.n = sizes.n;
    c.useful_macs = sizes.useful_macs;
    c.first_of.assign(sizes.first_of.begin(), sizes.first_of.end());
    c.accumulate = sizes.accumulate;
    fill(c);
    c.weights.encoding = sizes.weights;
    append_command(std::move(c), [](hw::GemmCommand&) {});
  }
  template <class Fill>
  void add_drain(const PassSizes& sizes, Fill fill) {
    hw::DrainCommand c;
    c.m = sizes.m;
    c.n = sizes.n;
    c.first_of.assign(sizes.first_of.begin(), sizes.first_of.end());
    c.accumulate = sizes.accumulate;
    append_command(std::move(c), fill);
  }
  template <class Fill>
  void add_post(const PostSizes& sizes, Fill fill) {
    hw::PostCommand c;
    c.rows = sizes.rows;
    c.cols = sizes.cols;
    c.transposed = sizes.transposed;
    c.has_parameters = sizes.has_parameters;
    c.groups = sizes.groups;
    append_command(std::move(c), fill);
  }
  /// From the first bytes of the slot.
  void set_table(hw::Queue unit) {
    append_command(hw::SetTableCommand{unit, hw::Affine(0)}, [](hw::SetTableCommand&) {});
  }
  void add_vector(const hw::VectorCommand& c) {
    append_command(hw::VectorCommand(c), [](hw::VectorCommand&) {});
  }
  /// All of the command but its addresses.
  template <class Fill>
  void add_row(const hw::RowCommand& c, Fill fill) {
    append_command(hw::RowCommand(c), fill);
  }
  /// `c` without its addresses.
  template <class Fill>
  void add_lane(const hw::LaneCommand& c, Fill fill) {
    append_command(hw::LaneCommand(c), fill);
  }
  template <class Fill>
  void add_store(int tensor, const hw::Walk& walk, Fill fill) {
    hw::StoreCommand c;
    c.tensor = tensor;
    c.walk = walk;
    append_command(std::move(c), [&](hw::StoreCommand& store) {
      fill(store);
      if (!has_pitch(tensor)) return;
      const Pitch& pitch = pitches_[static_cast<size_t>(tensor)];
      store.target = pitched(std::move(store.target), pitch);
      store.walk = pitched(store.walk, pitch);
    });
  }

 private:
  bool has_pitch(int tensor) const {
    const auto i = static_cast<size_t>(tensor);
    return i < pitches_.size() && !pitches_[i].is_dense();
  }

  template <class C, class Fill>
  void append_command(C command, Fill fill) {
    fill(command);
    bodies_.back()->emplace_back().node.template emplace<hw::Command>(std::move(command));
  }

  hw::Program out_;
  std::vector<std::vector<hw::Item>*> bodies_;
  std::vector<Pitch> pitches_;  ///< by tensor; regions have none
  int regions_ = 0;
};

}  // namespace accsim::sim
