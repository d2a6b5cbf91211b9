#pragma once
#include "tests/support/programs.h"

namespace accsim::test {

inline hw::Item region_sync(hw::SyncKind kind, hw::Queue queue, int region) {
  return {hw::Sync{kind, queue, hw::Buffer::activation, region}};
}

/// Bytes from program()'s "in" through a region of two slots in the shared buffer, its tensor 3,
/// into an output slot and to "out"; a walk of three runs of `run` bytes, 7 apart from run to run.
struct RegionProgram {
  int64_t run;
  hw::StageCommand in;
  hw::LoadCommand load;
  hw::StoreCommand store;
  std::vector<hw::ProgramTensor> more;  ///< behind the region

  explicit RegionProgram(int64_t run_) : run(run_) {
    in = {0, 3, 0, 0, {{{3, run + 7}}, run}};
    load = {hw::Buffer::output, 3, 0, 0, {{}, 3 * run}, {}};
    store = {1, 0, 0, {{}, 3 * run}};
  }

  std::vector<hw::Item> filled() const {
    return {region_sync(hw::SyncKind::wait_free, hw::Queue::stage, 3),
            {hw::Command{in}},
            region_sync(hw::SyncKind::signal_full, hw::Queue::stage, 3)};
  }
  std::vector<hw::Item> read() const {
    return {sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::output),
            region_sync(hw::SyncKind::wait_full, hw::Queue::load, 3),
            {hw::Command{load}},
            region_sync(hw::SyncKind::signal_free, hw::Queue::load, 3),
            sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::output),
            sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output),
            {hw::Command{store}},
            sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output)};
  }
  hw::Program program(std::vector<hw::Item> body, int loops = 0) const {
    hw::Program p = test::program(std::move(body), loops);
    p.tensors.push_back({"ring", hw::MemoryId::shared, 2 * 3 * run, 2});
    for (const hw::ProgramTensor& t : more) p.tensors.push_back(t);
    return p;
  }
  hw::Program program() const {
    std::vector<hw::Item> body = filled();
    append(body, read());
    return program(std::move(body));
  }
};

}  // namespace accsim::test
