#include "sim/app/options.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/base/limit_ranges.h"
#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {
namespace {

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "NAME=VALUE"; the last '=' splits, names may hold one.
std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return {};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// An option that is given as NAME=N, any number of times, with different names.
struct NumberOption {
  const char *option, *name;
};

void take_numbers(const std::vector<std::string>& texts, const NumberOption& what,
                  std::map<std::string, int64_t>& out, Errors& errors) {
  for (const std::string& text : texts) {
    const auto [name, value] = split_assignment(text);
    const auto number = parse_int(value);
    if (name.empty() || !number || *number < 0)
      errors.push_back({Errc::usage,
                        fmt::format("'{}' is not {}=N with N a whole number", text, what.name),
                        what.option});
    else if (!out.emplace(name, *number).second)
      errors.push_back({Errc::usage, "'" + name + "' is given twice", what.option});
  }
}

}  // namespace

std::optional<Dims> parse_dims(std::string_view text) {
  Dims out;
  while (true) {
    const size_t x = text.find('x');
    const auto dim = parse_int(text.substr(0, x));
    if (!dim || *dim < 1) return std::nullopt;
    out.push_back(*dim);
    if (x == std::string_view::npos) return out;
    text.remove_prefix(x + 1);
  }
}

Result<Dims> parse_product(const std::string& text, const char* option) {
  const std::optional<Dims> dims = parse_dims(text);
  if (dims && dims->size() == 3) return *dims;
  return Error{Errc::usage, "'" + text + "' is not MxKxN, e.g. 64x64x64", option};
}

std::optional<uint64_t> random_seed(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom)) return std::nullopt;
  text.remove_prefix(kRandom.size());
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return seed;
}

void ModelOptions::add_to(Command& command, bool required, const std::string& about) {
  command.add("Model", {{.name = "model",
                         .to = &model_,
                         .about = about,
                         .kind = ValueKind::read_file,
                         .required = required}});
  add_graph_options_to(command);
}

void ModelOptions::add_graph_options_to(Command& command) {
  command.add(
      "Model",
      {{.name = "--bind",
        .to = &bindings_,
        .about =
            "Size of a symbolic dimension, e.g. --bind batch=8. --bind '*=8' gives a size to all "
            "others. A batch, which is a first axis, is 1 by default; any other size must be given",
        .metavar = "NAME=N"},
       {.name = "--input-shape",
        .to = &shapes_,
        .about = "Shape of a graph input, instead of the declared one, e.g. input=1x3x224x224",
        .metavar = "NAME=DIMS"},
       {.name = "--assume",
        .to = &sizes_,
        .about =
            "Size that only a run decides, e.g. the boxes that NonMaxSuppression leaves. NODE is "
            "the node whose output has it. Default: the largest possible size, and 1 for a Loop "
            "whose trip count isn't constant. Of an input that is an optional or a sequence, N is "
            "its number of tensors (default 1; 0 leaves an optional out)",
        .metavar = "NODE=N"},
       {.name = "--branch",
        .to = &branches_,
        .about =
            "Branch of an If whose condition only a run decides. Default: the branch with more "
            "multiply-accumulates. If both have as many, the branch that writes more elements",
        .metavar = "NODE=then|else"},
       {.name = "--allow-unsupported",
        .to = &allow_unsupported_,
        .about = "Cost operators without a rule as the traffic of their inputs and outputs"}});
  add_limits_to(command);
}

void ModelOptions::add_limits_to(Command& command) {
  command.add(
      "Limits",
      {{.name = std::string(kNodesOption),
        .to = &limits_.nodes,
        .about = "Most nodes, iterations and calls that loops and functions expand to",
        .range = OptionRange{0, kMostLimit},
        .shows_default = true},
       {.name = std::string(kGraphOption),
        .to = &graph_mib_,
        .about =
            "Most memory for names, shapes and attributes of what loops and functions expand to",
        .unit = "MiB",
        .range = OptionRange{1, kMostLimitMib},
        .shows_default = true},
       {.name = std::string(kRankOption),
        .to = &limits_.rank,
        .about = "Most dims of a tensor",
        .range = OptionRange{1, kMostLimit},
        .shows_default = true}});
}

void ModelOptions::add_programs_to(Command& command) {
  command.add(
      "Limits",
      {{.name = std::string(kProgramsOption),
        .to = &limits_.programs,
        .about = "Most different operations that are mapped, each among 40,000 tilings on average",
        .range = OptionRange{1, kMostLimit},
        .shows_default = true}});
}

void ModelOptions::add_run_limits_to(Command& command) {
  command.add(
      "Limits",
      {{.name = std::string(kMemoryOption),
        .to = &memory_mib_,
        .about = "Most memory for all arrays at a time, weights included",
        .unit = "MiB",
        .range = OptionRange{1, kMostLimitMib},
        .shows_default = true},
       {.name = std::string(kOperationsOption),
        .to = &limits_.giga_operations,
        .about =
            "Most operations of a run in float: multiply-accumulates, and other work by its time",
        .unit = "billion",
        .range = OptionRange{1, kMostLimit},
        .shows_default = true}});
}

void ModelOptions::add_cut_to(Command& command) {
  command.add(
      "Model",
      {{.name = "--from",
        .to = &cut_.from,
        .about =
            "Take only this node and all nodes that depend on it. NODE is its name or a tensor "
            "that it writes. Tensors from other nodes become inputs",
        .metavar = "NODE"},
       {.name = "--until",
        .to = &cut_.until,
        .about =
            "Take only this node and all nodes that it depends on. Its results become the outputs",
        .metavar = "NODE"}});
}

namespace {

/// What is wrong with a value of --key-blocks; "": nothing.
std::string is_key_blocks(const std::string& text) {
  const auto keys = key_blocks_of(text);
  return keys ? "" : keys.errors().front().message;
}

}  // namespace

void ModelOptions::add_attention_to(Command& command) {
  command.add(
      "Model",
      {{.name = "--key-blocks",
        .to = &key_blocks_,
        .about =
            "Compute attention in blocks of about N keys (online softmax), where it has at least "
            "twice as many keys. The scores of one block may stay on chip. The logarithms of the "
            "blocks' sums put the results together. auto: blocks where they are better, over "
            "thousands of keys. off: no blocks",
        .metavar = "auto|off|N",
        .offers = {"auto", "off"},
        .shows_default = true,
        .check = is_key_blocks}});
}

Result<ElaborateOptions> ModelOptions::to_elaborate_options() const {
  ElaborateOptions out;
  out.key_blocks = *key_blocks_of(key_blocks_);  // as checked
  out.cut = cut_;
  out.allow_unsupported = allow_unsupported_;
  out.limits = limits_;
  out.limits.graph_bytes = graph_mib_ << 20;
  out.limits.memory_bytes = memory_mib_ << 20;
  Errors errors;
  take_numbers(bindings_, {"--bind", "NAME"}, out.bindings, errors);
  take_numbers(sizes_, {"--assume", "NODE"}, out.sizes, errors);
  for (const std::string& text : branches_) {
    const auto [node, value] = split_assignment(text);
    if (node.empty() || (value != kThenBranch && value != kElseBranch))
      errors.push_back({Errc::usage, "'" + text + "' is not NODE=then or NODE=else", "--branch"});
    else if (!out.branches.emplace(node, value == kThenBranch).second)
      errors.push_back({Errc::usage, "'" + node + "' is given twice", "--branch"});
  }
  for (const std::string& text : shapes_) {
    const auto [input, value] = split_assignment(text);
    const auto dims = parse_dims(value);
    if (input.empty() || !dims)
      errors.push_back({Errc::usage, "'" + text + "' is not NAME=DIMS, e.g. input=1x3x224x224",
                        "--input-shape"});
    else if (!out.input_shapes.emplace(input, *dims).second)
      errors.push_back({Errc::usage, "'" + input + "' is given twice", "--input-shape"});
  }
  if (!errors.empty()) return errors;
  return out;
}

std::vector<std::string> ModelOptions::option_words() const {
  std::vector<std::string> out;
  for (const std::string& text : bindings_) out.insert(out.end(), {"--bind", text});
  for (const std::string& text : shapes_) out.insert(out.end(), {"--input-shape", text});
  for (const std::string& text : sizes_) out.insert(out.end(), {"--assume", text});
  for (const std::string& text : branches_) out.insert(out.end(), {"--branch", text});
  if (!cut_.from.empty()) out.insert(out.end(), {"--from", cut_.from});
  if (!cut_.until.empty()) out.insert(out.end(), {"--until", cut_.until});
  if (key_blocks_ != kBestBlocks) out.insert(out.end(), {"--key-blocks", key_blocks_});
  if (allow_unsupported_) out.emplace_back("--allow-unsupported");
  const Limits usual;
  const auto add = [&](std::string_view option, int64_t value, int64_t by_default) {
    if (value != by_default) out.insert(out.end(), {std::string(option), std::to_string(value)});
  };
  add(kNodesOption, limits_.nodes, usual.nodes);
  add(kGraphOption, graph_mib_, usual.graph_bytes >> 20);
  add(kRankOption, limits_.rank, usual.rank);
  add(kProgramsOption, limits_.programs, usual.programs);
  return out;
}

namespace {

std::vector<std::string> objective_words() { return {"cycles", "energy", "edp", "traffic"}; }
std::vector<std::string> effort_words() { return {"search", "rule"}; }
std::vector<std::string> dataflow_words() {
  std::vector<std::string> out;
  for (size_t i = 0; i < hw::kDataflows; ++i) {
    const auto d = static_cast<hw::Dataflow>(i);
    out.insert(out.end(), {std::string(hw::name(d)), std::string(short_name(d))});
  }
  return out;
}

}  // namespace

void MappingOptions::add_to(Command& command) {
  command.add(
      "Mapping",
      {{.name = "--dataflow",
        .to = &words_.dataflow,
        .about =
            "Pin the dataflow: weight_stationary (ws), input_stationary (is) or output_stationary "
            "(os). The machine needn't list it. Default: the best dataflow that the machine lists",
        .metavar = "NAME",
        .offers = dataflow_words()},
       {.name = "--mapping",
        .to = &words_.mappings,
        .about =
            "Pin the mapping, or parts of it, e.g. \"conv*=7x56 n64 k256 mnk\" or \"im2col\". It "
            "applies to layers whose name matches the glob. Of several options the first match "
            "counts",
        .metavar = "[GLOB=]TOKENS"},
       {.name = "--objective",
        .to = &words_.objective,
        .about =
            "Figure that mappings minimise: cycles, energy, edp (energy-delay product) or traffic "
            "(DRAM bytes)",
        .choices = objective_words(),
        .shows_default = true},
       {.name = "--slack",
        .to = &words_.slack,
        .about =
            "With --objective cycles: cycles that the network may take above its fewest, to save "
            "energy and DRAM traffic. Each product has the same slack at first. 0: the fewest "
            "cycles",
        .metavar = "PERCENT",
        .shows_default = true},
       {.name = "--effort",
        .to = &words_.effort,
        .about =
            "search: try every tiling that its bound doesn't exclude. rule: take one tiling per "
            "layer by a fixed rule, for speed",
        .choices = effort_words(),
        .shows_default = true}});
}

void MappingOptions::add_to_side_b(Command& command) {
  words_.objective = words_.effort = words_.slack = "";
  command.add({{.name = "--b-dataflow",
                .to = &words_.dataflow,
                .about = "--dataflow of B; default: as for A",
                .metavar = "NAME",
                .offers = dataflow_words()},
               {.name = "--b-mapping",
                .to = &words_.mappings,
                .about = "--mapping of B, in place of all pins of A",
                .metavar = "[GLOB=]TOKENS"},
               {.name = "--b-objective",
                .to = &words_.objective,
                .about = "--objective of B; default: as for A",
                .choices = objective_words()},
               {.name = "--b-slack",
                .to = &words_.slack,
                .about = "--slack of B; default: as for A",
                .metavar = "PERCENT"},
               {.name = "--b-effort",
                .to = &words_.effort,
                .about = "--effort of B; default: as for A",
                .choices = effort_words()}});
}

std::string MappingOptions::first_unlike(const MappingWords& usual,
                                         const std::string& prefix) const {
  if (!words_.dataflow.empty()) return prefix + "dataflow";
  if (!words_.mappings.empty()) return prefix + "mapping";
  if (words_.objective != usual.objective) return prefix + "objective";
  if (words_.effort != usual.effort) return prefix + "effort";
  if (words_.slack != usual.slack) return prefix + "slack";
  return "";
}

std::string MappingOptions::first_given() const {
  MappingWords none;
  none.objective = none.effort = none.slack = "";
  return first_unlike(none, "--b-");
}

std::string MappingOptions::first_chosen() const { return first_unlike(MappingWords(), "--"); }

Errors MappingOptions::about_b(Errors errors) const {
  for (Error& e : errors)
    if (e.where == "--mapping" && !words_.mappings.empty()) e.where = "--b-mapping";
  return errors;
}

MappingOptions MappingOptions::merged_over(const MappingOptions& a) const {
  MappingOptions out = *this;
  if (out.words_.dataflow.empty()) out.words_.dataflow = a.words_.dataflow;
  if (out.words_.mappings.empty()) out.words_.mappings = a.words_.mappings;
  if (out.words_.objective.empty()) out.words_.objective = a.words_.objective;
  if (out.words_.effort.empty()) out.words_.effort = a.words_.effort;
  if (out.words_.slack.empty()) out.words_.slack = a.words_.slack;
  return out;
}

std::vector<std::string> MappingOptions::pin_words() const {
  std::vector<std::string> out;
  if (!words_.dataflow.empty()) out.insert(out.end(), {"--dataflow", words_.dataflow});
  for (const std::string& text : words_.mappings) out.insert(out.end(), {"--mapping", text});
  return out;
}

Result<MapOptions> MappingOptions::to_map_options(const std::string& prefix) const {
  auto options = map_options(words_);
  if (options) return options;
  Errors errors = options.errors();
  for (Error& e : errors)
    if (e.where.starts_with("--")) e.where.replace(0, 2, prefix);
  return errors;
}

}  // namespace accsim::sim
