#pragma once
#include <map>
#include <string>
#include <string_view>

namespace accsim::sim {

/// The module of the network's source that a node was exported from, as "layer1.0.conv1". PyTorch's
/// exporter notes it beside the node, as `pkg.torch.onnx.name_scopes`: a list of Python strings
/// from the outermost module to the node. Its first versions wrote `namespace`. "": there is no
/// note, or the module is the network itself.
std::string module_from_notes(const std::map<std::string, std::string>& notes);

/// The module in the name of a node that is a path of scopes, as TorchScript's exporter
/// ("/layer1/layer1.0/conv1/Conv") and TensorFlow's ("model/conv1/Conv2D") write it: all but its
/// last part. A scope that repeats the one before it, and goes on with ".", stands for both.
std::string module_from_name(std::string_view name);

}  // namespace accsim::sim
