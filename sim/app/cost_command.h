#pragma once
#include <string>

#include "sim/app/annotate_options.h"
#include "sim/app/console.h"
#include "sim/app/options.h"
#include "sim/app/trace_options.h"
#include "sim/cost/cost.h"

namespace accsim::sim {

/// `accsim --hw MACHINE model.onnx`: what the program does without a command's name.
class CostCommand {
 public:
  void add_to(Command& program);
  /// Command line and version are what pages and annotated models quote.
  int run(const Console& console, const std::string& command, const std::string& version) const;

 private:
  struct Quoted {
    std::string command, version;
  };

  void add_output_to(Command& program);
  void add_table_to(Command& program);
  /// What options ask for of one another.
  void check_options(Errors& errors) const;
  int print_outputs(const Graph& graph, const CostedNetwork& costed, const Console& console,
                    const Quoted& quoted) const;
  std::string report_page(const CostedNetwork& costed, const Quoted& quoted) const;

  ModelOptions model_;
  MappingOptions mapping_;
  TraceOptions trace_;
  AnnotateOptions annotate_;
  std::string hw_, json_, csv_, html_, dump_, by_;
  bool all_ = false, quiet_ = false;
};

}  // namespace accsim::sim
