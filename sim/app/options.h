#pragma once
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/command.h"
#include "sim/app/torch_file.h"
#include "sim/base/result.h"
#include "sim/cost/costing_options.h"

namespace accsim::sim {

/// Rows, reduction and columns of a product from "MxKxN"; the error is about `option`.
Result<Dims> parse_product(const std::string& text, const char* option);
/// The seed of "random:SEED"; nullopt when it isn't that.
std::optional<uint64_t> random_seed(std::string_view text);

/// Rows of costing_options() on a command line, and what was given of each.
class CostingRows {
 public:
  /// Those of a use (OptionUse). The command keeps pointers into this.
  void add_to(Command& command, uint32_t use);
  /// The same for side B of a comparison, --b-objective and so on; what isn't given is as on A.
  void add_to_side_b(Command& command, uint32_t use);
  bool is_given(std::string_view option) const;  ///< of "--mapping": isn't it as by default?
  std::string first_given() const;               ///< the first that is; "": none
  /// These of side B, what wasn't given taken from A.
  CostingRows merged_over(const CostingRows& a) const;
  /// What they ask for; all that is wrong, `where` being the option as it was added.
  Result<CostingOptions> to_options() const;

 private:
  /// What was given of a row; where its value goes depends on the row.
  struct Given {
    const CostingOption* row;
    std::string standard, text;
    std::vector<std::string> texts{};
    bool flag = false;

    OptionTarget target();
    std::vector<std::string> words() const;
    bool is_usual() const { return text == standard && texts.empty() && !flag; }
  };
  Given& add_row(const CostingOption& row, const std::string& standard);
  std::string name_of(const CostingOption& row) const { return prefix_ + row.option.substr(2); }

  std::list<Given> given_;  ///< of the rows that were added
  std::string prefix_ = "--";
};

/// Options that say which graph a model file stands for; shared by all commands that read models.
class ModelOptions {
 public:
  /// `about`: what help says of the model itself.
  void add_to(Command& command, bool required,
              const std::string& about = "ONNX model file. Its weights are never read");
  /// Those that say how a model is to be read, for commands that take several models.
  void add_graph_options_to(Command& command) { rows_.add_to(command, kGraphRows); }
  /// That which limits how much is mapped, for commands that map networks.
  void add_programs_to(Command& command) { rows_.add_to(command, kProgramRows); }
  /// Those that limit what is computed and with what, for commands that run networks.
  void add_run_limits_to(Command& command) { rows_.add_to(command, kRunRows); }
  /// Those that cut the graph, for commands that look at parts of networks.
  void add_cut_to(Command& command) { rows_.add_to(command, kCutRows); }
  /// That which does attention in blocks, for commands that map networks or run them.
  void add_attention_to(Command& command) { rows_.add_to(command, kAttentionRows); }
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
  /// The first option that isn't as by default; "": none.
  std::string first_given() const { return rows_.first_given(); }

 private:
  std::string model_;
  CostingRows rows_;
  TorchFile torch_;
};

/// Options that pin the mapping.
class MappingOptions {
 public:
  void add_to(Command& command) { rows_.add_to(command, kMappingRows); }
  /// The same for side B of a comparison, --b-objective and so on; what isn't given is as on A.
  void add_to_side_b(Command& command) { rows_.add_to_side_b(command, kMappingRows); }
  std::string first_given() const { return rows_.first_given(); }  ///< as CostingRows has it
  /// These of side B, what wasn't given taken from A.
  MappingOptions merged_over(const MappingOptions& a) const;
  Result<MapOptions> to_map_options() const;
  /// Errors of costing side B: those of its own --b-mapping name it.
  Errors about_b(Errors errors) const;

 private:
  CostingRows rows_;
};

}  // namespace accsim::sim
