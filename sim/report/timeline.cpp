#include "sim/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace accsim::sim {
namespace {

/// Names of sets of commands, each once, in the order in which they are first asked for.
class CommandNames {
 public:
  size_t index_of(hw::CommandSet set) {
    const auto [at, added] = indices_.try_emplace(set, indices_.size());
    if (added) list_ += fmt::format("{}\"{}\"", list_.empty() ? "" : ",", hw::command_names(set));
    return at->second;
  }
  const std::string& json_list() const { return list_; }

 private:
  std::map<hw::CommandSet, size_t> indices_;
  std::string list_;
};

void add_slices(const LayerTimeline& layer, CommandNames& names, std::string& out) {
  auto to = std::back_inserter(out);
  const char* next_queue = "";
  for (const hw::Queue q : hw::Queue::all()) {
    if (layer.queues[q].empty()) continue;
    fmt::format_to(to, "{}\"{}\":[", next_queue, name(q));
    next_queue = ",";
    const char* next = "";
    for (const hw::Slice& s : layer.queues[q]) {
      fmt::format_to(to, "{}[{},{},{},{}", next, s.start, s.end - s.start,
                     names.index_of(s.commands), s.count);
      if (s.count > 1) fmt::format_to(to, ",{}", s.busy);
      out += ']';
      next = ",";
    }
    out += ']';
  }
}

}  // namespace

std::string to_timeline_json(const NetworkTimeline& timeline) {
  std::string out = R"({"unit":"cycles","queues":[)";
  auto to = std::back_inserter(out);
  const bool staged = std::any_of(timeline.begin(), timeline.end(), [&](const LayerTimeline& l) {
    return !l.queues[hw::Queue::stage].empty();
  });
  for (const hw::Queue q : hw::Queue::all())
    if (q != hw::Queue::stage || staged)
      fmt::format_to(to, "{}\"{}\"", q == hw::Queue::load ? "" : ",", name(q));
  out += R"(],"layers":[)";
  CommandNames names;
  bool summarised = false;
  const char* next = "";
  for (const LayerTimeline& l : timeline) {
    fmt::format_to(to, R"({}{{"layer":{},"start":{},"cycles":{},"slices":{{)", next, l.layer,
                   l.start, l.cycles);
    add_slices(l, names, out);
    out += "}}";
    summarised = summarised || l.summarised;
    next = ",";
  }
  fmt::format_to(to, R"(],"commands":[{}],"summarised":{}}})", names.json_list(), summarised);
  return out;
}

}  // namespace accsim::sim
