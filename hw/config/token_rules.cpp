#include "hw/config/token_rules.h"

#include <fmt/format.h>

namespace accsim::hw {
namespace {

/// Reports what a check of the library found, at the places that it names.
void report_parts(RuleContext& c, const Errors& errors, std::string_view advice) {
  for (const Error& e : errors) {
    const std::string path = "engines." + e.where;
    // Entries that weren't read from a file: an edit that broke the rule is told at the list.
    const std::string list = path.substr(0, path.find('['));
    c.fail(c.has_read({path}) ? path : list, fmt::format("{}: {}; {}", path, e.message, advice));
  }
}

/// Is it a machine of engines whose file has all lists of them?
bool has_lists(const RuleContext& c) {
  return c.hw.has_engines() &&
         c.has_read({"engines.queues", "engines.kinds", "engines.token_queues"});
}

}  // namespace

void engines_are_there(RuleContext& c) {
  if (has_lists(c))
    report_parts(c, wrong_engine_parts(c.hw.engines), "name engines that there are");
}

void engines_have_names_of_their_own(RuleContext& c) {
  if (has_lists(c)) report_parts(c, doubled_engine_names(c.hw.engines), "give it another name");
}

void engines_have_whole_beats(RuleContext& c) {
  if (!has_lists(c)) return;
  if (c.has_read({"engines.port_bytes", "engines.page_beats", "engines.command_bytes"}))
    report_parts(c, broken_beats(c.hw.engines), "make them multiples");
}

void one_engine_writes(RuleContext& c) {
  if (has_lists(c)) report_parts(c, second_writers(c.hw.engines), "writes are of one engine");
}

}  // namespace accsim::hw
