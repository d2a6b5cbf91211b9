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

/// Keywords of a call that say how a model is read; None where one isn't given.
struct GraphWords {
  nanobind::object bind = nanobind::none();          ///< symbol -> size
  nanobind::object input_shapes = nanobind::none();  ///< graph input -> shape
  nanobind::object assume = nanobind::none();        ///< node -> size
  nanobind::object branch = nanobind::none();        ///< node -> "then" or "else"
  bool allow_unsupported = false;
  nanobind::object key_blocks = nanobind::none();  ///< "auto", "off" or a number
  nanobind::object max_nodes = nanobind::none();   ///< whole numbers, as those below
  nanobind::object max_graph_mib = nanobind::none();
  nanobind::object max_rank = nanobind::none();
  nanobind::object max_programs = nanobind::none();    ///< of calls that cost networks
  nanobind::object max_memory_mib = nanobind::none();  ///< of calls that run them
};
/// What they ask for; what is wrong with them is raised.
sim::ElaborateOptions elaborate_options(const GraphWords& words);

/// The network that an argument means: a Model (read again where options are given), a path, or
/// bytes.
Model model_of(nanobind::handle given, const sim::ElaborateOptions& options);

/// Adds Model to the module.
void add_model(nanobind::module_& module);

}  // namespace accsim::python
