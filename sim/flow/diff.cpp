#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "sim/flow/run.h"
#include "sim/ref/npy.h"

namespace accsim::sim {
namespace {

Result<DumpManifest> read_manifest(const std::string& folder) {
  const std::string file = folder + "/manifest.json";
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in || std::filesystem::is_directory(file, error))
    return Error{Errc::io,
                 "can't be opened; name a folder made by accsim run --output DIR --dump all", file};
  return parse_manifest({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()},
                        file);
}

/// Layers none of whose outputs is in `names`.
std::vector<std::string> layers_without(const DumpManifest& manifest,
                                        const std::set<std::string>& names) {
  std::vector<std::string> out;
  for (const DumpLayer& layer : manifest.layers)
    if (std::ranges::none_of(layer.outputs,
                             [&](const DumpTensor& t) { return names.contains(t.name); }))
      out.push_back(layer.name);
  return out;
}

/// How a tensor of folder a differs from one of folder b; names neither.
Result<LayerDiff> compare_files(const DiffReport& report, const DumpTensor& a,
                                const DumpTensor& b) {
  const Result<ref::Array> x = ref::read_npy(report.a + "/" + a.file);
  const Result<ref::Array> y = ref::read_npy(report.b + "/" + b.file);
  if (!x) return x.errors();
  if (!y) return y.errors();
  const ref::Comparison c = ref::compare(*x, *y, report.atol, report.rtol);
  LayerDiff d;
  d.max_abs = c.max_abs;
  d.mean_abs = c.mean_abs;
  d.max_rel = c.max_rel;
  d.snr_db = c.snr_db;
  d.cosine = c.cosine;
  d.elements = x->size();
  d.beyond = c.wrong;
  if (!c.same_shape)
    d.problem =
        accsim::to_string(x->dims()) + " in one, " + accsim::to_string(y->dims()) + " in the other";
  return d;
}

using Tensors = std::map<std::string, const DumpTensor*>;

Tensors all_of(const DumpManifest& manifest, std::vector<DumpTensor> DumpLayer::*side) {
  Tensors out;
  for (const DumpLayer& layer : manifest.layers)
    for (const DumpTensor& t : layer.*side) out[t.name] = &t;
  return out;
}

/// Notes what layers of both folders read and none writes, where it differs.
Status compare_inputs(const DumpManifest& left, const DumpManifest& right, DiffReport& report) {
  const Tensors others = all_of(right, &DumpLayer::inputs);
  const Tensors written = all_of(left, &DumpLayer::outputs),
                written_there = all_of(right, &DumpLayer::outputs);
  std::set<std::string> seen;
  for (const DumpLayer& layer : left.layers)
    for (const DumpTensor& t : layer.inputs) {
      const auto other = others.find(t.name);
      if (other == others.end() || !seen.insert(t.name).second) continue;
      if (written.contains(t.name) || written_there.contains(t.name)) continue;
      const Result<LayerDiff> d = compare_files(report, t, *other->second);
      if (!d) return d.errors();
      if (d->differs()) report.inputs.push_back(t.name);
    }
  return ok();
}

}  // namespace

Result<DiffReport> diff_dumps(const std::string& a, const std::string& b, double atol,
                              double rtol) {
  const Result<DumpManifest> left = read_manifest(a), right = read_manifest(b);
  Errors errors;
  for (const auto* m : {&left, &right})
    if (!*m) errors.insert(errors.end(), m->errors().begin(), m->errors().end());
  if (!errors.empty()) return errors;
  const Tensors others = all_of(*right, &DumpLayer::outputs);
  DiffReport report{a, b, atol, rtol, {}, -1, {}, {}, {}};
  std::set<std::string> seen;
  for (const DumpLayer& layer : left->layers)
    for (const DumpTensor& t : layer.outputs) {
      const auto other = others.find(t.name);
      if (!seen.insert(t.name).second) continue;
      // A layer that the other run merged into the one before has no output of its own there.
      if (other == others.end()) continue;
      Result<LayerDiff> compared = compare_files(report, t, *other->second);
      if (!compared) return compared.errors();
      LayerDiff d = std::move(compared).value();
      d.layer = layer.name;
      d.op_type = layer.op_type;
      d.tensor = t.name;
      if (d.differs() && report.first < 0) report.first = static_cast<int>(report.layers.size());
      report.layers.push_back(std::move(d));
    }
  if (report.layers.empty())
    return Error{Errc::invalid, "the two folders have no tensor in common; dump the same model", b};
  std::set<std::string> compared;
  for (const LayerDiff& layer : report.layers) compared.insert(layer.tensor);
  report.only_a = layers_without(*left, compared);
  report.only_b = layers_without(*right, compared);
  if (const Status read = compare_inputs(*left, *right, report); !read) return read.errors();
  return report;
}

}  // namespace accsim::sim
