#pragma once
#include <string>

#include "sim/ref/executor.h"
#include "sim/report/dump.h"

namespace accsim::sim {

/// Writes a node that has run, for other runtimes, into the folder `layer` of `root`: layer.onnx
/// with its constants stored, and raw elements (ref::to_raw()) of every input, PORT_NAME.bin, and
/// of every output, PORT_NAME.out. Each file is whole or not there. Gives its entry of the
/// manifest, but for how it was computed.
Result<DumpLayer> write_raw_layer(const ref::NodeRun& run, const std::string& root,
                                  const std::string& layer);

}  // namespace accsim::sim
