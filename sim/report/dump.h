#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// manifest.json of a folder of dumped tensors (accsim.dump/1). Files are relative to the folder:
/// .npy, or raw elements in others.
struct DumpTensor {
  std::string name, file;
  DType dtype = DType::undefined;
  Dims dims;
  bool stored = false;  ///< in the layer's model, and no input of it
};
/// One dumped node of the graph with the tensors around it.
struct DumpLayer {
  std::string name, op_type;
  std::vector<DumpTensor> inputs, outputs;  ///< absent ones are left out
  std::string computed;                     ///< "float", "int8", ...
  std::string model{};                      ///< file of the layer as a model; "": none
};
/// All that a run dumped, in the order in which nodes ran; `mode` is "float", "int8", ...
struct DumpManifest {
  std::string model, mode;
  std::vector<DumpLayer> layers;
};

/// The manifest as accsim.dump/1; parse_manifest() reads it back.
std::string to_json(const DumpManifest& manifest);
/// Errors name the file and what is missing or of the wrong kind.
Result<DumpManifest> parse_manifest(const std::string& text, const std::string& file);

/// The first element of a tensor that is beyond the tolerance.
struct FirstElement {
  Dims index;
  double a = 0, b = 0;  ///< what it is on either side
};
/// How one layer's output, or a tensor of a file, differs between two sides.
struct LayerDiff {
  std::string layer, op_type, tensor;
  double max_abs = 0, mean_abs = 0, max_rel = 0, snr_db = 0, cosine = 1;
  int64_t elements = 0, beyond = 0;   ///< beyond atol + rtol * |a|
  std::string problem;                ///< other shape, or missing in one of the folders
  std::optional<FirstElement> first;  ///< of those beyond
  bool differs() const { return beyond > 0 || !problem.empty(); }
};
/// Two dumps compared, layer by layer in the order of folder `a`; or two files, tensor by tensor.
struct DiffReport {
  std::string a, b;
  double atol = 0, rtol = 0;
  bool of_files = false;
  std::vector<LayerDiff> layers;
  int first = -1;  ///< index of the first layer beyond the tolerance; -1: none is
  std::vector<std::string> only_a, only_b;  ///< layers of which the other folder has no output
  /// Tensors beyond the tolerance that layers of both folders read and none writes: inputs and
  /// weights of the network. Not a difference of a layer.
  std::vector<std::string> inputs;
};

/// accsim.diff/1.
std::string to_json(const DiffReport& report);
/// A table for people, the first layer beyond the tolerance named at the end. No line is wider than
/// `width` (at least 60).
std::string to_text(const DiffReport& report, size_t width);

}  // namespace accsim::sim
