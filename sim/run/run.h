#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "sim/ref/executor.h"
#include "sim/report/dump.h"
#include "sim/report/quality.h"

namespace accsim::sim {

/// Where a graph input's values come from.
struct InputSource {
  std::string name;
  std::string file;   ///< .npy, or raw elements; "" for random values
  uint64_t seed = 0;  ///< of the random values
};

/// What `accsim run` was asked for.
struct RunRequest {
  std::string model;
  ElaborateOptions elaborate;
  std::vector<InputSource> inputs;  ///< the others are drawn with seed 0
  std::optional<uint64_t> weight_seed;
  std::string output;  ///< folder of the results; "" for none
  std::string dump;    ///< "", "all", an operator type or a glob of layer names; needs `output`
  bool raw = false;    ///< layers are dumped for other runtimes: write_raw_layer()
  int threads = 1;
  bool reals = false;  ///< the network on the reals that its integers stand for: real_graph()
  /// Of an int8 network: the number of inputs, where random ones count their seeds up; the number
  /// of first inputs that scales are calibrated on, 0: all; and the percentile of Calibration.
  int64_t count = 1, calibrate = 0;
  double percentile = 100;
  std::function<bool(size_t done, size_t of)> progress;
};

/// A network with its inputs, ready to run.
struct PreparedRun {
  Graph graph;
  ref::Arrays inputs;
  /// Counts these inputs, and all that a run makes, up to Limits::memory_bytes.
  std::shared_ptr<ref::MemoryCount> memory;
  std::vector<std::string> defaulted;  ///< inputs nobody named
  /// Files that have RunRequest::count inputs one behind the other: all of them.
  std::map<std::string, std::vector<ref::Array>> series = {};
};

/// Reads the model and the inputs. Input files give symbolic dims their size; where shapes depend
/// on the elements of an input file, the graph is made for those elements.
Result<PreparedRun> prepare_run(const RunRequest& request);

/// What was prepared, of the graph that is costed where that is another one
/// (CostedNetwork::in_blocks); else nothing.
std::optional<PreparedRun> in_blocks(const PreparedRun& prepared, const CostedNetwork& network);

/// The executor's options as a request has them, progress left out.
ref::RunOptions run_options(const PreparedRun& prepared, const RunRequest& request);

/// What a run computed and wrote.
struct RunSummary {
  ref::RunResult result;
  std::vector<std::string> written;                     ///< files, relative to the output folder
  size_t quantised = 0;                                 ///< products that ran in int8
  std::optional<QualityReport> quality = std::nullopt;  ///< of int8
};

/// Runs the network in float and writes what was asked for: OUTPUT.npy per graph output, and for
/// dumped layers tensors/*.npy and manifest.json. Takes the inputs, each until its last reader.
Result<RunSummary> run_network(PreparedRun& prepared, const RunRequest& request);

/// Collects layers of a run and writes their tensors, each once.
class Dumper {
 public:
  /// `raw`: add_layer() writes a folder for each layer, by write_raw_layer().
  Dumper(std::string folder, std::string what, bool raw = false)
      : folder_(std::move(folder)), what_(std::move(what)), raw_(raw) {}
  bool is_wanted(const Node& node) const;
  /// Writes tensor `id` with these elements unless it has been written; `apart` writes it under a
  /// name of its own and doesn't count as written.
  Result<DumpTensor> write_tensor(const Graph& graph, TensorId id, const ref::Array& array,
                                  bool apart = false);
  Status add_layer(const ref::NodeRun& run, const char* computed);
  void add_layer(DumpLayer layer) { manifest_.layers.push_back(std::move(layer)); }
  Status write_manifest(const std::string& model, const std::string& mode);

 private:
  Status add_raw(const ref::NodeRun& run, const char* computed);

  std::string folder_, what_;
  bool raw_;
  std::map<TensorId, DumpTensor> written_;
  DumpManifest manifest_;
};

/// Makes the folder of a request's results, with its parents, after checking that there is a layer
/// to dump. A manifest of an earlier run goes, as it would tell of files that are written anew.
Status prepare_output(const Graph& graph, const RunRequest& request);
/// Writes every graph output to the folder, if there is one, under file_name(), numbered where two
/// names would share a file; `written` of the summary gets the files in the graph's order.
Status write_outputs(const Graph& graph, const std::string& folder, RunSummary& summary);
/// NAME with everything but letters, digits, '.', '-' and '_' replaced, of at most 120 characters.
std::string plain_name(const std::string& name);
/// "NAME.npy" with a plain name.
std::string file_name(const std::string& name);

}  // namespace accsim::sim
