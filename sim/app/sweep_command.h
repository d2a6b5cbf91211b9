#pragma once
#include <string>
#include <vector>

#include "sim/app/console.h"
#include "sim/app/sub_command.h"
#include "sim/sweep/show.h"

namespace accsim::sim {

/// `accsim sweep`: design spaces, their stores, and their shards on a cluster.
class SweepCommand : public SubCommand {
 public:
  void add_to(Command& program);
  /// `version` is written into stores.
  int run(const std::string& version, const Console& console) const;

 private:
  void add_show();
  void add_merge();
  void add_submit();
  int run_spec(const std::string& version, const Console& console) const;
  int run_show() const;
  int write_shown(const TableView& view, const StoreMeta& meta, const ShowOptions& options) const;
  int run_merge() const;
  int run_submit() const;

  Command *show_ = nullptr, *merge_ = nullptr, *submit_ = nullptr;
  std::string spec_, store_, shard_;
  int threads_ = 0;
  std::string shown_, pareto_, where_, csv_, json_, html_, columns_;
  bool dump_ = false;
  std::string out_, folder_, partition_, time_;
  std::vector<std::string> shards_;
  int64_t nodes_ = 1;
  bool dry_run_ = false;
};

}  // namespace accsim::sim
