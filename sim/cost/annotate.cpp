#include "sim/cost/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>

#include "hw/config/load.h"
#include "sim/elaborate/origins.h"
#include "sim/graph/external_files.h"
#include "sim/onnx/reader.h"
#include "sim/report/bounds.h"
#include "sim/report/fields.h"

namespace accsim::sim {
namespace {

/// Fields of the report that nodes carry, and those that the model does.
constexpr std::array<std::string_view, 20> kOfNodes = {"fate",
                                                       "merged_into",
                                                       "mapping",
                                                       "cycles",
                                                       "seconds",
                                                       "compute_cycles",
                                                       "stall_cycles",
                                                       "lost_to",
                                                       "lower_bound_cycles",
                                                       "utilization",
                                                       "macs",
                                                       "params",
                                                       "dram_read_bytes",
                                                       "dram_write_bytes",
                                                       "shared_read_bytes",
                                                       "shared_write_bytes",
                                                       "arithmetic_intensity",
                                                       "energy_pj",
                                                       "output_shape",
                                                       "bound"};
/// Of these, all that nodes without cycles say.
constexpr std::array<std::string_view, 2> kOfFreeNodes = {"fate", "merged_into"};

std::string dims_text(const Dims& dims) { return fmt::format("{}", fmt::join(dims, "x")); }

struct NoteText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Dims& v) const { return dims_text(v); }
  std::string operator()(const std::vector<Dims>& v) const {
    std::string out;
    for (const Dims& dims : v) out += (out.empty() ? "" : ", ") + dims_text(dims);
    return out;
  }
};

bool is_listed(std::span<const std::string_view> list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/// The fields of a row that are in the list and have something to say.
Properties row_notes(const ReportRow& row, std::span<const std::string_view> keys) {
  Properties out;
  for (const ReportField& field : report_fields()) {
    const bool there = row.layer != nullptr ? field.in_layers() : field.in_totals();
    if (!there || !is_listed(keys, field.key)) continue;
    std::string value = std::visit(NoteText{}, field.get(row));
    if (!value.empty()) out.emplace_back(kNotePrefix + field.key, std::move(value));
  }
  return out;
}

Properties node_notes(const Report& report, const std::vector<const LayerReport*>& layers) {
  if (layers.size() == 1) {
    const LayerReport& l = *layers.front();
    const ReportRow row = layer_row(report, l);
    return l.costs.alone_cycles > 0 ? row_notes(row, kOfNodes) : row_notes(row, kOfFreeNodes);
  }
  Costs sum;
  for (const LayerReport* l : layers) sum += l->costs;
  Properties out = row_notes({report, nullptr, sum, busiest_bound(sum)}, kOfNodes);
  out.emplace_back(std::string(kNotePrefix) + "layers", fmt::format("{}", layers.size()));
  return out;
}

Properties model_notes(const Report& report, const std::string& command) {
  Properties out;
  for (const ReportField& field : report_fields()) {
    if (!field.in_totals()) continue;
    std::string value = std::visit(NoteText{}, field.get(totals_row(report)));
    if (!value.empty()) out.emplace_back(kNotePrefix + field.key, std::move(value));
  }
  out.emplace_back(std::string(kNotePrefix) + "machine", report.hw.name);
  out.emplace_back(std::string(kNotePrefix) + "machine_yaml", hw::print_hw(report.hw));
  out.emplace_back(std::string(kNotePrefix) + "command", command);
  return out;
}

// ---- weights in other files ---------------------------------------------------------------------

std::filesystem::path parent_folder(const std::string& file) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error)
      .parent_path();
}

/// Locations of external data are relative to the model's folder and may not lead out of it. Files
/// that aren't there can't be lost.
Status check_weights(const ModelDef& model, const AnnotateRequest& request) {
  std::set<std::string> files = external_files(model);
  std::erase_if(files, [&](const std::string& file) {
    std::error_code error;
    return !std::filesystem::exists(parent_folder(request.model) / file, error);
  });
  if (files.empty()) return ok();
  if (request.output != "-" && parent_folder(request.model) == parent_folder(request.output))
    return ok();
  return Error{Errc::usage,
               fmt::format("weights of '{}' lie beside it in '{}' and wouldn't be found from "
                           "'{}'; name a file in the same folder",
                           request.model, *files.begin(), request.output),
               "--annotate"};
}

}  // namespace

Result<PatchedFile> annotate_with_report(const AnnotateRequest& request, const Report& report) {
  const Result<ModelDef> model = read_model(request.model);
  if (!model) return model.errors();
  if (const Status weights = check_weights(*model, request); !weights) return weights.errors();
  const Result<Elaborated> made = elaborate_with_origins(*model, request.elaborate);
  if (!made) return made.errors();
  std::map<size_t, std::vector<const LayerReport*>> layers;
  const std::vector<Node>& nodes = made->graph.nodes;
  const bool in_parts =
      std::ranges::any_of(report.layers, [](const LayerReport& l) { return !l.part_of.empty(); });
  bool same = in_parts || made->origins.size() == report.layers.size();
  for (size_t i = 0; same && i < report.layers.size(); ++i) {
    const LayerReport& l = report.layers[i];
    const std::string& name = l.part_of.empty() ? l.name : l.part_of;
    const auto node = in_parts ? std::ranges::find(nodes, name, &Node::name)
                               : nodes.begin() + static_cast<ptrdiff_t>(i);
    same = node != nodes.end() && node->name == name;
    if (same) layers[made->origins[static_cast<size_t>(node - nodes.begin())]].push_back(&l);
  }
  if (!same) return Error{Errc::io, "has changed since it was costed; run again", request.model};
  ModelNotes notes;
  notes.prefix = kNotePrefix;
  for (const auto& [node, of] : layers) notes.nodes[node] = node_notes(report, of);
  notes.model = model_notes(report, request.command);
  return annotate_model(request.model, notes);
}

}  // namespace accsim::sim
