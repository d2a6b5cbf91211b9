#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/command.h"
#include "sim/app/torch_file.h"
#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/key_blocks_word.h"
#include "sim/map/mapping_words.h"

namespace accsim::sim {

/// "2x3x4"; nullopt when it isn't one, or a dim is below 1.
std::optional<Dims> parse_dims(std::string_view text);
/// Rows, reduction and columns of a product from "MxKxN"; the error is about `option`.
Result<Dims> parse_product(const std::string& text, const char* option);
/// The seed of "random:SEED"; nullopt when it isn't that.
std::optional<uint64_t> random_seed(std::string_view text);

/// Options that say which graph a model file stands for; shared by all commands that read models.
class ModelOptions {
 public:
  /// `about`: what help says of the model itself.
  void add_to(Command& command, bool required,
              const std::string& about = "ONNX model file. Its weights are never read");
  /// Those that say how a model is to be read, for commands that take several models.
  void add_graph_options_to(Command& command);
  /// That which limits how much is mapped, for commands that map networks.
  void add_programs_to(Command& command);
  /// Those that limit what is computed and with what, for commands that run networks.
  void add_run_limits_to(Command& command);
  /// Those that cut the graph, for commands that look at parts of networks.
  void add_cut_to(Command& command);
  /// That which does attention in blocks, for commands that map networks or run them.
  void add_attention_to(Command& command);
  /// Those for models that are TorchScript files, where a command reads by load_model().
  void add_torch_to(Command& command) { torch_.add_to(command); }
  const std::string& model_path() const { return model_; }
  Result<ElaborateOptions> to_elaborate_options() const;
  /// The model's graph; errors as TorchFile::load_exported()'s.
  Result<Graph> load_model(const ElaborateOptions& options) const {
    return torch_.load_exported(model_, options);
  }
  /// Calls `use` with the model as an ONNX file; as TorchFile::with_onnx().
  Status with_onnx(const std::function<Status(const std::string&)>& use) const {
    return torch_.with_onnx(model_, use);
  }
  /// Those that were given, but for the model, as words of a command line.
  std::vector<std::string> option_words() const;

 private:
  void add_limits_to(Command& command);

  std::string model_;
  std::vector<std::string> bindings_, shapes_, sizes_, branches_;
  GraphCut cut_;
  Limits limits_;
  /// Limits::graph_bytes and memory_bytes as the options have them.
  int64_t graph_mib_ = Limits{}.graph_bytes >> 20, memory_mib_ = Limits{}.memory_bytes >> 20;
  std::string key_blocks_ = kBestBlocks;
  bool allow_unsupported_ = false;
  TorchFile torch_;
};

/// Options that pin the mapping.
class MappingOptions {
 public:
  void add_to(Command& command);
  /// The same for side B of a comparison, --b-objective and so on; what isn't given is as on A.
  void add_to_side_b(Command& command);
  std::string first_given() const;  ///< the first option of side B that was; "": none
  std::string first_chosen()
      const;  ///< the first of side A that isn't what it is by default; "": none
  /// These of side B, what wasn't given taken from A.
  MappingOptions merged_over(const MappingOptions& a) const;
  /// Errors name the options, which begin with `prefix`.
  Result<MapOptions> to_map_options(const std::string& prefix = "--") const;
  /// Errors of costing side B: those of its own --b-mapping name it.
  Errors about_b(Errors errors) const;
  /// What pins mappings, --dataflow and --mapping, as words of a command line.
  std::vector<std::string> pin_words() const;

 private:
  std::string first_unlike(const MappingWords& usual, const std::string& prefix) const;

  MappingWords words_;
};

}  // namespace accsim::sim
