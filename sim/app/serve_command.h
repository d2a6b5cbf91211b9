#pragma once
#include <string>
#include <vector>

#include "sim/app/options.h"
#include "sim/app/sub_command.h"

namespace accsim::sim {

/// `accsim serve`: the live page, on 127.0.0.1 until Ctrl-C.
class ServeCommand : public SubCommand {
 public:
  void add_to(Command& program);
  int run(const std::string& version) const;

 private:
  bool store_exists() const;

  ModelOptions graph_;
  MappingOptions mapping_;
  std::vector<std::string> models_;
  std::string hw_, store_;
  int port_ = 0;
  int64_t most_upload_ = 256;
  int64_t most_seconds_ = 300;
  int64_t most_memory_ = 8192;  ///< MiB
};

}  // namespace accsim::sim
