#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// What a costing is asked for beside the model and the machine.
struct CostingOptions {
  ElaborateOptions elaborate;
  MapOptions map;
};

/// Who takes an option. A row names several of them by `|`.
enum OptionUse : uint32_t {
  kGraphRows = 1 << 0,      ///< command lines of models
  kCutRows = 1 << 1,        ///< those that look at parts of networks
  kAttentionRows = 1 << 2,  ///< those that map networks or run them
  kMappingRows = 1 << 3,    ///< those that map anything; keywords of LatencyModel()
  kProgramRows = 1 << 4,    ///< those that map networks
  kRunRows = 1 << 5,        ///< those that run networks
  kRunKeywords = 1 << 6,    ///< run() in Python
  kModelKeys = 1 << 7,      ///< a model of a sweep's spec
  kSpecKeys = 1 << 8,       ///< a sweep's spec
  kPageKeys = 1 << 9,       ///< a request of the live page
  // In Python:
  kLoadKeywords = kGraphRows | kAttentionRows,                  ///< Model.load()
  kCostKeywords = kLoadKeywords | kMappingRows | kProgramRows,  ///< cost()
};

/// An option whose value is one word, or several of which each adds something.
struct OptionWord {
  /// Sets it; what is wrong with the word needs no `where`.
  Status (*take)(const std::string& word, CostingOptions& to);
  /// The words that say it; none: it is as by default.
  std::vector<std::string> (*words)(const CostingOptions& of);
};

/// Where a value lives; what its words are follows from that.
using CostingTarget = std::variant<bool& (*)(CostingOptions&),                            // true
                                   int64_t& (*)(CostingOptions&),                         // 64
                                   std::string& (*)(CostingOptions&),                     // text
                                   std::map<std::string, int64_t>& (*)(CostingOptions&),  // NAME=N
                                   std::map<std::string, Dims>& (*)(CostingOptions&),     // x=1x3
                                   std::map<std::string, bool>& (*)(CostingOptions&),  // NODE=then
                                   std::map<std::string, GivenValue>& (*)(CostingOptions&),  // t=3
                                   OptionWord>;

/// An option of costings: all that command line, Python, specs of sweeps and the live page know of
/// it. Fields that a row leaves out are as most options have them.
struct CostingOption {
  std::string option{};  ///< of the command line: "--max-nodes"
  uint32_t uses = 0;     ///< of OptionUse
  CostingTarget to{};
  std::string group = "Model";  ///< heading in the help
  std::string about{};          ///< a sentence without its full stop
  std::string metavar{};
  std::string unit{};                  ///< of a number; MiB are kept as bytes
  std::vector<std::string> choices{};  ///< all that the word may be; none: anything
  std::vector<std::string> offers{};   ///< words that completion knows; others may be given, too
  int64_t least = 0, most = 0;         ///< of a number, both ends among them
  bool repeatable = false;             ///< each word adds something
  std::string standard{};              ///< the default's word; "": there is none
  std::string keyword{};               ///< where it isn't the option's name; see key()
  std::string annotation{};            ///< Python's type of the value

  /// Its name in Python, in specs and on the page: "max_nodes".
  std::string key() const;
  /// Is a word a name, '=' and what it stands for?
  bool is_assignment() const { return repeatable && !std::holds_alternative<OptionWord>(to); }
  bool is_flag() const { return std::holds_alternative<bool& (*)(CostingOptions&)>(to); }
  bool is_number() const { return std::holds_alternative<int64_t& (*)(CostingOptions&)>(to); }
};

/// "2x3x4"; nullopt when it isn't one, or a dim is below 1.
std::optional<Dims> parse_dims(std::string_view text);

/// The table, in the order in which lists have its rows.
const std::vector<CostingOption>& costing_options();
/// Those of a use (or of any of several), in that order.
std::vector<const CostingOption*> options_for(uint32_t uses);
/// The keys of these rows.
std::vector<std::string> option_keys(uint32_t uses);
/// The one of that key among those of a use; nullptr: there is none.
const CostingOption* find_option(std::string_view key, uint32_t uses);

/// Sets an option by its words. All that is wrong with them, `where` being the option; then what is
/// right is set nevertheless.
Errors take_option(const CostingOption& option, const std::vector<std::string>& words,
                   CostingOptions& to);
/// What is wrong with options that are good one by one.
Errors check_together(const CostingOptions& options);
/// The words by which take_option() makes of the defaults what `of` has; none where it has these.
std::vector<std::string> option_words(const CostingOption& option, const CostingOptions& of);

}  // namespace accsim::sim
