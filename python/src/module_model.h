#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace accsim::python {

/// Names of nodes as PyTorch's exporter makes them, "/layer1/layer1.0/conv1/Conv", as paths of
/// modules: "layer1.0.conv1" where it is the module's only node, else "layer1.0.conv1/Conv".
std::vector<std::string> module_paths(const std::vector<std::string>& names);

/// Adds _load_module(), _stored_names() and _made() to the module.
void add_module_model(nanobind::module_& module);

}  // namespace accsim::python
