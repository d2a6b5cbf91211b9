#include "sim/cost/costing_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/limit_ranges.h"
#include "sim/base/parse_number.h"
#include "sim/map/slack_word.h"

namespace accsim::sim {
namespace {

using Words = std::vector<std::string>;

// Words that aren't numbers, texts or assignments.

constexpr const char *kBestBlocks = "auto", *kNoBlocks = "off";

Status take_key_blocks(const std::string& word, CostingOptions& to) {
  const std::optional<int64_t> keys = word == kNoBlocks ? 0 : parse_number<int64_t>(word);
  const bool is_number = keys && *keys >= 1 && *keys <= kMostLimit;
  if (word != kBestBlocks && word != kNoBlocks && !is_number)
    return Error{Errc::usage,
                 fmt::format("'{}' is not {}, {} or a number of keys, 1 to {}", word, kBestBlocks,
                             kNoBlocks, kMostLimit),
                 ""};
  to.elaborate.key_blocks = keys;
  return ok();
}
Words key_blocks_words(const CostingOptions& of) {
  const std::optional<int64_t>& keys = of.elaborate.key_blocks;
  if (!keys) return {};
  return {*keys == 0 ? kNoBlocks : std::to_string(*keys)};
}

Words dataflow_names() {
  Words out;
  for (size_t i = 0; i < hw::kDataflows; ++i) {
    const auto d = static_cast<hw::Dataflow>(i);
    out.insert(out.end(), {std::string(hw::name(d)), std::string(short_name(d))});
  }
  return out;
}
Status take_dataflow(const std::string& word, CostingOptions& to) {
  for (size_t i = 0; i < hw::kDataflows; ++i) {
    const auto d = static_cast<hw::Dataflow>(i);
    if (word != short_name(d) && word != hw::name(d)) continue;
    to.map.dataflows = {d};
    return ok();
  }
  return Error{Errc::usage,
               fmt::format("'{}' is not a dataflow; use weight_stationary (ws), input_stationary "
                           "(is) or output_stationary (os)",
                           word),
               ""};
}
Words dataflow_words(const CostingOptions& of) {
  Words out;
  for (const hw::Dataflow d : of.map.dataflows) out.emplace_back(hw::name(d));
  return out;
}

Status take_pin(const std::string& word, CostingOptions& to) {
  Result<MappingPin> pin = parse_pin(word);
  if (!pin) return pin.errors();
  to.map.pins.push_back(std::move(*pin));
  return ok();
}
Words pin_words(const CostingOptions& of) {
  Words out;
  for (const MappingPin& pin : of.map.pins) out.push_back(pin.text);
  return out;
}

Words objective_names() {
  Words out;
  for (size_t i = 0; i < kObjectives; ++i) out.emplace_back(name(static_cast<Objective>(i)));
  return out;
}
Status take_objective(const std::string& word, CostingOptions& to) {
  to.map.objective = *objective_from(word);  // one of the choices
  return ok();
}
Words objective_words(const CostingOptions& of) {
  if (of.map.objective == Objective::cycles) return {};
  return {std::string(name(of.map.objective))};
}

Status take_slack(const std::string& word, CostingOptions& to) {
  const std::optional<double> slack = slack_from(word);
  if (!slack)
    return Error{Errc::usage, fmt::format("'{}' is not 0 or a percentage up to 100%, as 1%", word),
                 ""};
  to.map.slack = *slack;
  return ok();
}
Words slack_words(const CostingOptions& of) {
  if (of.map.slack == kDefaultSlack) return {};
  return {slack_text(of.map.slack)};
}

Status take_effort(const std::string& word, CostingOptions& to) {
  to.map.effort = word == "rule" ? MapEffort::rule : MapEffort::search;
  return ok();
}
Words effort_words(const CostingOptions& of) {
  if (of.map.effort == MapEffort::search) return {};
  return {"rule"};
}

// The rows.

Words default_text(int64_t limit, bool mib) { return {std::to_string(mib ? limit >> 20 : limit)}; }

CostingOption limit_row(std::string_view option, uint32_t uses, int64_t& (*to)(CostingOptions&),
                        const char* about, std::string unit = "", int64_t least = 1) {
  CostingOptions usual;
  const bool mib = unit == "MiB";
  return {.option = std::string(option),
          .uses = uses,
          .to = to,
          .group = "Limits",
          .about = about,
          .metavar = "N",
          .unit = std::move(unit),
          .least = least,
          .most = mib ? kMostLimitMib : kMostLimit,
          .standard = default_text(to(usual), mib).front(),
          .annotation = "int | None"};
}

CostingOption value_row() {
  return {
      .option = "--value",
      .uses = kGraphRows,
      .to = +[](CostingOptions& o) -> std::map<std::string, GivenValue>& {
        return o.elaborate.values;
      },
      .about =
          "Elements of a tensor that only data knows and that shapes depend on: numbers, as "
          "limit=3 or ends=1,2, a list in brackets, which states the shape, or a .npy or .json "
          "file. TENSOR is an input of the graph or what a node computes. It is computed all the "
          "same",
      .metavar = "TENSOR=VALUE",
      .repeatable = true,
      .annotation = "dict[str, object] | None"};
}

std::vector<CostingOption> graph_rows() {
  return {
      {.option = "--bind",
       .uses = kGraphRows | kRunKeywords | kModelKeys,
       .to = +[](CostingOptions& o) -> std::map<std::string, int64_t>& {
         return o.elaborate.bindings;
       },
       .about =
           "Size of a symbolic dimension, e.g. --bind batch=8. --bind '*=8' gives a size to all "
           "others. A batch, which is a first axis, is 1 by default; any other size must be given",
       .metavar = "NAME=N",
       .repeatable = true,
       .annotation = "dict[str, int] | None"},
      {.option = "--input-shape",
       .uses = kGraphRows | kRunKeywords,
       .to = +[](CostingOptions& o) -> std::map<std::string, Dims>& {
         return o.elaborate.input_shapes;
       },
       .about = "Shape of a graph input, instead of the declared one, e.g. input=1x3x224x224",
       .metavar = "NAME=DIMS",
       .repeatable = true,
       .keyword = "input_shapes",
       .annotation = "dict[str, collections.abc.Sequence[int]] | None"},
      {.option = "--assume",
       .uses = kGraphRows,
       .to =
           +[](CostingOptions& o) -> std::map<std::string, int64_t>& { return o.elaborate.sizes; },
       .about =
           "Size that only a run decides, e.g. the boxes that NonMaxSuppression leaves. NODE is "
           "the node whose output has it. Default: the largest possible size, and 1 for a Loop "
           "whose trip count isn't constant. Of an input that is an optional or a sequence, N is "
           "its number of tensors (default 1; 0 leaves an optional out)",
       .metavar = "NODE=N",
       .repeatable = true,
       .annotation = "dict[str, int] | None"},
      value_row(),
      {.option = "--branch",
       .uses = kGraphRows,
       .to =
           +[](CostingOptions& o) -> std::map<std::string, bool>& { return o.elaborate.branches; },
       .about = "Branch of an If whose condition only a run decides. Default: the branch with more "
                "multiply-accumulates. If both have as many, the branch that writes more elements",
       .metavar = "NODE=then|else",
       .repeatable = true,
       .annotation = "dict[str, str] | None"},
      {.option = "--allow-unsupported",
       .uses = kGraphRows | kModelKeys,
       .to = +[](CostingOptions& o) -> bool& { return o.elaborate.allow_unsupported; },
       .about = "Cost operators without a rule as the traffic of their inputs and outputs",
       .annotation = "bool"},
  };
}

std::vector<CostingOption> cut_rows() {
  return {
      {.option = "--from",
       .uses = kCutRows,
       .to = +[](CostingOptions& o) -> std::string& { return o.elaborate.cut.from; },
       .about = "Take only this node and all nodes that depend on it. NODE is its name or a tensor "
                "that it writes. Tensors from other nodes become inputs",
       .metavar = "NODE"},
      {.option = "--until",
       .uses = kCutRows,
       .to = +[](CostingOptions& o) -> std::string& { return o.elaborate.cut.until; },
       .about =
           "Take only this node and all nodes that it depends on. Its results become the outputs",
       .metavar = "NODE"},
  };
}

std::vector<CostingOption> mapping_rows() {
  return {
      {.option = "--dataflow",
       .uses = kMappingRows,
       .to = OptionWord{take_dataflow, dataflow_words},
       .group = "Mapping",
       .about =
           "Pin the dataflow: weight_stationary (ws), input_stationary (is) or output_stationary "
           "(os). The machine needn't list it. Default: the best dataflow that the machine lists",
       .metavar = "NAME",
       .offers = dataflow_names(),
       .annotation = "str | None"},
      {.option = "--mapping",
       .uses = kMappingRows,
       .to = OptionWord{take_pin, pin_words},
       .group = "Mapping",
       .about =
           "Pin the mapping, or parts of it, e.g. \"conv*=7x56 n64 k256 mnk\" or \"im2col\". It "
           "applies to layers whose name matches the glob. Of several options the first match "
           "counts",
       .metavar = "[GLOB=]TOKENS",
       .repeatable = true,
       .annotation = "str | list[str] | None"},
      {.option = "--objective",
       .uses = kMappingRows | kSpecKeys | kPageKeys,
       .to = OptionWord{take_objective, objective_words},
       .group = "Mapping",
       .about =
           "Figure that mappings minimise: cycles, energy, edp (energy-delay product) or traffic "
           "(DRAM bytes)",
       .choices = objective_names(),
       .standard = "cycles",
       .annotation = "str"},
      {.option = "--slack",
       .uses = kMappingRows | kSpecKeys,
       .to = OptionWord{take_slack, slack_words},
       .group = "Mapping",
       .about =
           "With --objective cycles: cycles that the network may take above its fewest, to save "
           "energy and DRAM traffic. Each product has the same slack at first. 0: the fewest "
           "cycles",
       .metavar = "PERCENT",
       .standard = slack_text(kDefaultSlack),
       .annotation = "str"},
      {.option = "--effort",
       .uses = kMappingRows | kSpecKeys | kPageKeys,
       .to = OptionWord{take_effort, effort_words},
       .group = "Mapping",
       .about =
           "search: try every tiling that its bound doesn't exclude. rule: take one tiling per "
           "layer by a fixed rule, for speed",
       .choices = {"search", "rule"},
       .standard = "search",
       .annotation = "str"},
  };
}

std::vector<CostingOption> attention_rows() {
  return {{.option = "--key-blocks",
           .uses = kAttentionRows | kRunKeywords,
           .to = OptionWord{take_key_blocks, key_blocks_words},
           .about =
               "Compute attention in blocks of about N keys (online softmax), where it has at "
               "least twice as many keys. The scores of one block may stay on chip. The logarithms "
               "of the blocks' sums put the results together. auto: blocks where they are better, "
               "over thousands of keys. off: no blocks",
           .metavar = "auto|off|N",
           .offers = {kBestBlocks, kNoBlocks},
           .standard = kBestBlocks,
           .annotation = "int | str | None"}};
}

std::vector<CostingOption> limit_rows() {
  constexpr uint32_t kUses = kGraphRows | kRunKeywords | kModelKeys;
  return {
      limit_row(
          kNodesOption, kUses,
          [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.nodes; },
          "Most nodes, iterations and calls that loops and functions expand to", "", 0),
      limit_row(
          kGraphOption, kUses,
          [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.graph_bytes; },
          "Most memory for names, shapes and attributes of what loops and functions expand to",
          "MiB"),
      limit_row(
          kRankOption, kUses, [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.rank; },
          "Most dims of a tensor"),
      limit_row(
          kProgramsOption, kProgramRows,
          [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.programs; },
          "Most different operations that are mapped, each among 20,000 tilings on average"),
      limit_row(
          kMemoryOption, kRunRows | kRunKeywords,
          [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.memory_bytes; },
          "Most memory for all arrays at a time, weights included", "MiB"),
      limit_row(
          kOperationsOption, kRunRows,
          [](CostingOptions& o) -> int64_t& { return o.elaborate.limits.giga_operations; },
          "Most operations of a run in float: multiply-accumulates, and other work by its time",
          "billion"),
  };
}

}  // namespace

std::string CostingOption::key() const {
  std::string out = keyword.empty() ? option.substr(2) : keyword;
  std::ranges::replace(out, '-', '_');
  return out;
}

const std::vector<CostingOption>& costing_options() {
  static const std::vector<CostingOption> rows = [] {
    std::vector<CostingOption> out;
    for (auto* part : {graph_rows, cut_rows, mapping_rows, attention_rows, limit_rows})
      for (CostingOption& row : part()) out.push_back(std::move(row));
    return out;
  }();
  return rows;
}

std::vector<const CostingOption*> options_for(uint32_t uses) {
  std::vector<const CostingOption*> out;
  for (const CostingOption& row : costing_options())
    if ((row.uses & uses) != 0) out.push_back(&row);
  return out;
}

std::vector<std::string> option_keys(uint32_t uses) {
  std::vector<std::string> out;
  for (const CostingOption* row : options_for(uses)) out.push_back(row->key());
  return out;
}

const CostingOption* find_option(std::string_view key, uint32_t uses) {
  for (const CostingOption* row : options_for(uses))
    if (row->key() == key) return row;
  return nullptr;
}

}  // namespace accsim::sim
