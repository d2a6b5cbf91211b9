#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/report/assumptions.h"
#include "sim/report/format.h"
#include "sim/report/inspect.h"
#include "sim/report/page.h"
#include "sim/report/shapes.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

constexpr size_t kLiveMost = 12;   // tensors listed at the peak
constexpr size_t kValuesMost = 8;  // of an attribute

struct InspectCell {
  const TextColumn& column;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(int64_t v) const { return format_count(v); }
  std::string operator()(double v) const { return format_fixed(v, column.decimals); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Dims& v) const { return to_string(v); }
  std::string operator()(const std::vector<Dims>& v) const {
    if (v.empty()) return "-";
    const std::string first = shorten_middle(to_string(v.front()), kShapeMost);
    return v.size() == 1 ? first : fmt::format("{} +{}", first, v.size() - 1);
  }
};

std::string bytes_text(int64_t count) {
  if (count < 1000) return fmt::format("{} B", count);
  return fmt::format("{} B ({})", format_count(count), format_si(static_cast<double>(count), "B"));
}

class InspectPage {
 public:
  InspectPage(const Inspection& in, const InspectTextOptions& options)
      : in_(in), a_(in.analysis), options_(options), page_(options.width, false) {}

  std::string make_text() {
    add_head();
    if (in_.by)
      add_groups();
    else
      add_layers();
    add_sizes();
    add_macs();
    operators();
    add_bandwidth();
    add_memory("activations", a_.activation.given);
    for (const MemoryPlan& plan : a_.activation.reordered) add_memory("reordered", plan);
    return page_.take_text();
  }

 private:
  void add_line(std::string_view text) { page_.add_line(text); }
  void add_item(std::string_view label, std::string_view text) { page_.add_item(label, text); }
  void add_table(const TextTable& t) { page_.add_lines(t.lines(page_.width(), false)); }

  void add_head();
  void add_layers();
  void add_groups();
  void add_sizes();
  void add_macs();
  void operators();
  void add_bandwidth();
  void add_memory(std::string_view label, const MemoryPlan& plan);
  void live_table(const MemoryPlan& plan);
  void arena_table(const MemoryPlan& plan);
  std::string buffer_names(const Storage::Buffer& buffer) const;

  const Inspection& in_;
  const Analysis& a_;
  const InspectTextOptions& options_;
  Page page_;
};

void InspectPage::add_head() {
  const Graph& g = in_.graph;
  add_item("model", g.name.empty() ? g.file : fmt::format("{} ({})", g.name, g.file));
  add_item("", fmt::format("opset {}, IR {}; {} nodes", g.opset, g.ir_version,
                           format_count(static_cast<int64_t>(g.nodes.size()))));
  const std::string symbols = symbols_text(g.bindings, g.defaulted);
  if (!symbols.empty()) add_item("symbols", symbols);
  for (const std::string& text : assumption_texts(g.assumed)) add_item("assumed", text);
  for (const std::string& nodes : unsupported_texts(in_.lowered.unsupported))
    add_item("unsupported", nodes + ": MACs aren't known");
  add_line("");
}

void InspectPage::add_layers() {
  std::vector<TextTable::Column> columns;
  for (const InspectField& field : inspect_fields())
    for (const TextColumn& c : field.text)
      columns.push_back({c.header, c.unit, c.style == TextStyle::words, c.priority});
  TextTable t(std::move(columns));
  int64_t hidden = 0;
  for (size_t i : sorted_layers(in_, options_.sort)) {
    const NodeAnalysis& n = a_.nodes[i];
    if (n.constant && n.params == 0 && n.buffers == 0 && !options_.all_nodes) {
      ++hidden;
      continue;
    }
    TextTable::Row row;
    for (const InspectField& field : inspect_fields())
      for (const TextColumn& c : field.text)
        row.cells.push_back(std::visit(InspectCell{c}, field.get(in_, n)));
    t.add(std::move(row));
  }
  TextTable::Row total{.cells = {}, .total = true};
  for (const InspectField& field : inspect_fields())
    for (size_t i = 0; i < field.text.size(); ++i) {
      const std::string& key = field.key;
      total.cells.push_back(key == "name"           ? fmt::format("total of {}", a_.nodes.size())
                            : key == "params"       ? format_count(a_.params)
                            : key == "macs"         ? format_count(a_.macs)
                            : key == "macs_percent" ? (a_.macs > 0 ? "100.00" : "-")
                            : key == "read_bytes"   ? format_count(a_.read_bytes)
                            : key == "write_bytes"  ? format_count(a_.write_bytes)
                            : key == "total_bytes"  ? format_count(a_.total_bytes())
                                                    : "");
    }
  t.add(std::move(total));
  add_table(t);
  if (hidden > 0)
    add_item("", fmt::format("{} nodes computed off line; --all shows them", format_count(hidden)));
  add_line("");
}

void InspectPage::add_groups() {
  const std::string by = in_.by->by == Grouping::By::op ? "op" : "module";
  std::vector<TextTable::Column> columns = {{by, "", true}};
  for (const GroupField& field : group_fields())
    columns.push_back({field.text.header, field.text.unit, false, field.text.priority});
  TextTable t(std::move(columns));
  std::vector<int64_t> sums(group_fields().size());
  const std::vector<InspectGroup> all = inspect_groups(in_, options_.sort);
  for (const InspectGroup& group : all) {
    TextTable::Row row{.cells = {group.name}};
    for (size_t i = 0; i < sums.size(); ++i) {
      const int64_t value = group_fields()[i].get(group);
      sums[i] += value;
      row.cells.push_back(format_count(value));
    }
    t.add(std::move(row));
  }
  TextTable::Row total{.cells = {fmt::format("total of {}", all.size())}, .total = true};
  for (const int64_t sum : sums) total.cells.push_back(format_count(sum));
  t.add(std::move(total));
  add_table(t);
  add_line("");
}

void InspectPage::add_sizes() {
  add_item("params", fmt::format("{}{}", format_count(a_.params),
                                 a_.buffers > 0 ? fmt::format(" and {} that aren't trained",
                                                              format_count(a_.buffers))
                                                : ""));
  std::string types;
  for (const auto& [type, size] : a_.bytes_by_type)
    types += fmt::format("{}{} {} of {}", types.empty() ? "" : ", ",
                         format_count(a_.params_by_type.at(type)), type, bytes_text(size));
  if (!types.empty()) add_item("by type", types);
  add_item("without bias", bytes_text(a_.weight_bytes_without_bias));
  add_item("input size", bytes_text(a_.input_bytes));
  add_item("forward pass", bytes_text(a_.activation.sum_bytes) + ": outputs of all nodes, once");
  add_item("and backward", bytes_text(a_.forward_backward_bytes) +
                               ": as torchinfo, twice the outputs of nodes with parameters");
  add_item("params size", bytes_text(a_.weight_bytes));
  add_item("total size", bytes_text(a_.input_bytes + a_.activation.sum_bytes + a_.weight_bytes));
  add_line("");
}

void InspectPage::add_macs() {
  add_item("MACs", fmt::format("{} ({}; --macs {})", format_count(a_.macs),
                               format_si(static_cast<double>(a_.macs)), name(a_.options.macs)));
  std::vector<std::pair<std::string, int64_t>> by_op(a_.macs_by_op.begin(), a_.macs_by_op.end());
  std::stable_sort(by_op.begin(), by_op.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
  for (const auto& [op, count] : by_op) add_item("", fmt::format("{} {}", op, format_count(count)));
  add_line("");
}

/// The file's float of 1e-05 is 9.999999747378752e-06 as a double, which nobody wrote.
std::string as_written(double value) {
  return std::isfinite(value) ? format_digits(value) : fmt::format("{}", value);
}

std::string as_written(const AttributeValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return as_written(*number);
  const auto* list = std::get_if<std::vector<double>>(&value);
  if (list == nullptr) return value_text(value);
  std::string out;
  for (const double v : *list) out += (out.empty() ? "" : ", ") + as_written(v);
  return "[" + out + "]";
}

std::string attribute_text(const std::string& key, const AttributeSummary& a) {
  std::string out = key + " =";
  const size_t shown = std::min(a.values.size(), kValuesMost);
  for (size_t i = 0; i < shown; ++i)
    out += (i == 0 ? " " : " | ") + shorten_middle(printable(as_written(a.values[i])), 40);
  if (static_cast<size_t>(a.distinct) > shown) {
    out += fmt::format(" ... ({} values", format_count(a.distinct));
    if (a.least && a.most)
      out += fmt::format(", {} to {}", as_written(*a.least), as_written(*a.most));
    out += ')';
  }
  return out;
}

std::string shape_list(const std::vector<Dims>& shapes) {
  std::string out;
  for (const Dims& dims : shapes) out += (out.empty() ? "" : " ") + to_string(dims);
  return out.empty() ? "-" : out;
}

void InspectPage::operators() {
  bool head = true;
  for (const auto& [label, op] : a_.ops) {
    std::string text = fmt::format("{} x {}", format_count(op.count), label);
    if (op.constant > 0) text += fmt::format(" ({} off line)", format_count(op.constant));
    for (const auto& [key, summary] : op.attributes) text += "; " + attribute_text(key, summary);
    add_item(std::exchange(head, false) ? "operators" : "", text);
    const auto first = op.shapes.begin(), last = std::prev(op.shapes.end());
    const auto both = [](const auto& s) {
      return shorten_middle(shape_list(s.first.first), 48) + " -> " +
             shorten_middle(shape_list(s.first.second), 32);
    };
    std::string shapes = "    " + both(*first);
    if (op.shapes.size() > 1)
      shapes += fmt::format(" ... {} ({} shapes)", both(*last), op.shapes.size());
    add_item("", shapes);
  }
  add_line("");
}

void InspectPage::add_bandwidth() {
  const bool all = a_.options.reads == ReadConvention::all;
  add_item("bandwidth", fmt::format("read {}, write {}, together {}", bytes_text(a_.read_bytes),
                                    bytes_text(a_.write_bytes), bytes_text(a_.total_bytes())));
  add_item("",
           all ? "reads of activations, weights and other constants; nothing kept on chip"
               : fmt::format("activations, nothing kept on chip; weights and other constants would "
                             "add {} of reads (--traffic all)",
                             bytes_text(a_.weight_read_bytes)));
  if (a_.peak_node != kNoNode)
    add_item("",
             fmt::format("most: {} with {}", node_name(in_, a_.peak_node),
                         bytes_text(a_.nodes[static_cast<size_t>(a_.peak_node)].total_bytes())));
  add_line("");
}

std::string InspectPage::buffer_names(const Storage::Buffer& buffer) const {
  const std::string first = tensor_name(in_, buffer.tensors.front());
  return buffer.tensors.size() == 1 ? first
                                    : fmt::format("{} +{}", first, buffer.tensors.size() - 1);
}

void InspectPage::live_table(const MemoryPlan& plan) {
  TextTable t({{"live at the peak", "", true},
               {"bytes", ""},
               {"from node", "", true, 2},
               {"to node", "", true, 2}});
  const auto& buffers = a_.activation.storage.buffers;
  for (size_t i = 0; i < std::min(plan.peak.buffers.size(), kLiveMost); ++i) {
    const auto b = static_cast<size_t>(plan.peak.buffers[i]);
    const auto node = [&](int place) {
      return plan.order.empty() ? "" : shorten_middle(printable(step_name(in_, plan, place)), 28);
    };
    t.add({{buffer_names(buffers[b]), format_count(buffers[b].bytes),
            buffers[b].writer < 0 ? "(graph input)" : node(plan.lives[b].first),
            buffers[b].kept ? "(graph output)" : node(plan.lives[b].last)}});
  }
  t.add({{fmt::format("all {}", plan.peak.buffers.size()), format_count(plan.peak.bytes), "", ""},
         true});
  add_table(t);
}

void InspectPage::arena_table(const MemoryPlan& plan) {
  TextTable t({{"arena", "", true},
               {"offset", ""},
               {"bytes", ""},
               {"first step", "", false, 2},
               {"last step", "", false, 2}});
  const auto& buffers = a_.activation.storage.buffers;
  for (size_t b = 0; b < buffers.size(); ++b)
    t.add({{buffer_names(buffers[b]), format_count(plan.arena.offsets[b]),
            format_count(buffers[b].bytes), format_count(plan.lives[b].first),
            format_count(plan.lives[b].last)}});
  add_line("");
  add_table(t);
}

void InspectPage::add_memory(std::string_view label, const MemoryPlan& plan) {
  const Activation& a = a_.activation;
  if (&plan == &a.given) {
    add_item(label, fmt::format("all outputs {}; largest {}, {}", bytes_text(a.sum_bytes),
                                tensor_name(in_, a.largest), bytes_text(a.largest_bytes)));
  } else {
    add_line("");
    const int64_t before = a.given.peak.bytes;
    add_item(label, plan.peak.bytes < before
                        ? fmt::format("peak {:.1f} % lower than in the given order, {}",
                                      100.0 * static_cast<double>(before - plan.peak.bytes) /
                                          static_cast<double>(before),
                                      bytes_text(before))
                        : "no order found that is better than the given one");
  }
  const std::string at = step_name(in_, plan, plan.peak.place);
  add_item("", fmt::format("peak of the live set {}{}", bytes_text(plan.peak.bytes),
                           at.empty() ? "" : ", at " + at));
  const double over = plan.peak.bytes > 0
                          ? 100.0 * static_cast<double>(plan.arena.bytes - plan.peak.bytes) /
                                static_cast<double>(plan.peak.bytes)
                          : 0;
  add_item("", fmt::format(
                   "arena {}, {:.1f} % over that lower bound; views of other tensors: {}, results "
                   "that overwrite their input: {}{}",
                   bytes_text(plan.arena.bytes), over, format_count(a.storage.views),
                   format_count(a.storage.in_place),
                   a_.options.in_place ? "" : " (allow them with --in-place)"));
  live_table(plan);
  if (options_.arena) arena_table(plan);
}

}  // namespace

std::string inspect_text(const Inspection& inspection, const InspectTextOptions& options) {
  return InspectPage(inspection, options).make_text();
}

}  // namespace accsim::sim
