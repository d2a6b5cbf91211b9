#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "sim/elaborate/elaborate.h"
#include "sim/graph/graph.h"

namespace accsim::python {

/// A network that was read: its graph, and where it came from.
struct Model {
  std::shared_ptr<const sim::Graph> graph;
  std::string path;  ///< "" for one of bytes
  std::shared_ptr<const std::string> bytes;
  std::string name;                 ///< of bytes, in messages
  sim::ElaborateOptions options{};  ///< with which it was read
};
/// The graph with the file's integers, not with the reals that they stand for. Of a network that
/// has any it is read again.
std::shared_ptr<const sim::Graph> graph_as_written(const Model& model);

/// The network that an argument means: a Model (read again where options are given), a path, or
/// bytes.
Model model_of(nanobind::handle given, const sim::ElaborateOptions& options);

/// Adds Model to the module.
void add_model(nanobind::module_& module);

}  // namespace accsim::python
