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
  std::string name;  ///< of bytes, in messages
};

/// What bind, input_shapes and allow_unsupported of a call ask for.
sim::ElaborateOptions elaborate_options(nanobind::handle bind, nanobind::handle input_shapes,
                                        bool allow_unsupported);

/// The network that an argument means: a Model (read again where options are given), a path, or
/// bytes.
Model model_of(nanobind::handle given, const sim::ElaborateOptions& options);

/// Adds Model to the module.
void add_model(nanobind::module_& module);

}  // namespace accsim::python
