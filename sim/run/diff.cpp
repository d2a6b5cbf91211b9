#include "sim/run/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "sim/base/read_file.h"
#include "sim/ref/npy.h"
#include "sim/ref/raw.h"

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

/// Element `i` as a number.
double element_as_double(const ref::Array& array, int64_t i) {
  return ref::with_element_kind(
      array.kind(), [&]<class T>(T) { return static_cast<double>(array.data<T>()[i]); });
}

FirstElement first_element(const ref::Array& a, const ref::Array& b, int64_t place) {
  FirstElement out{Dims(a.dims().size()), element_as_double(a, place), element_as_double(b, place)};
  for (size_t d = out.index.size(); d-- > 0; place /= a.dims()[d])
    out.index[d] = place % a.dims()[d];
  return out;
}

/// How y differs from x; names neither.
LayerDiff compare_arrays(const ref::Array& x, const ref::Array& y, Tolerance tolerance) {
  const ref::Comparison c = ref::compare_elements(x, y, tolerance.absolute, tolerance.relative);
  LayerDiff d;
  d.max_abs = c.max_abs;
  d.mean_abs = c.mean_abs;
  d.max_rel = c.max_rel;
  d.snr_db = c.snr_db;
  d.cosine = c.cosine;
  d.elements = x.size();
  d.beyond = c.wrong;
  if (c.first >= 0) d.first = first_element(x, y, c.first);
  if (!c.same_shape)
    d.problem =
        accsim::to_string(x.dims()) + " in one, " + accsim::to_string(y.dims()) + " in the other";
  return d;
}

Result<ref::Array> read_dumped(const std::string& folder, const DumpTensor& tensor) {
  const std::string file = folder + "/" + tensor.file;
  if (file.ends_with(".npy")) return ref::read_npy(file);
  const Result<std::string> bytes = read_bytes(file, "a file of a dump");
  if (!bytes) return bytes.errors();
  return ref::from_raw(*bytes, tensor.dtype, tensor.dims, file);
}

/// How a tensor of folder a differs from one of folder b; names neither.
Result<LayerDiff> compare_files(const DiffReport& report, const DumpTensor& a,
                                const DumpTensor& b) {
  const Result<ref::Array> x = read_dumped(report.a, a);
  const Result<ref::Array> y = read_dumped(report.b, b);
  if (!x) return x.errors();
  if (!y) return y.errors();
  return compare_arrays(*x, *y, {report.atol, report.rtol});
}

/// A report of two sides without anything compared.
DiffReport begin_report(const std::string& a, const std::string& b, Tolerance tolerance) {
  DiffReport out;
  out.a = a;
  out.b = b;
  out.atol = tolerance.absolute;
  out.rtol = tolerance.relative;
  return out;
}

void add_layer_diff(LayerDiff diff, DiffReport& report) {
  if (diff.differs() && report.first < 0) report.first = static_cast<int>(report.layers.size());
  report.layers.push_back(std::move(diff));
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

Result<DiffReport> diff_dumps(const std::string& a, const std::string& b, Tolerance tolerance) {
  const Result<DumpManifest> left = read_manifest(a), right = read_manifest(b);
  Errors errors;
  for (const auto* m : {&left, &right})
    if (!*m) errors.insert(errors.end(), m->errors().begin(), m->errors().end());
  if (!errors.empty()) return errors;
  const Tensors others = all_of(*right, &DumpLayer::outputs);
  DiffReport report = begin_report(a, b, tolerance);
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
      add_layer_diff(std::move(d), report);
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

namespace {

std::vector<std::string> names_of(const TensorsOfFile& file) {
  std::vector<std::string> out;
  for (const auto& [name, array] : file.tensors) out.push_back(name);
  return out;
}

/// What a report calls the only tensor of two files.
std::string name_of_one(const TensorsOfFile& a, const TensorsOfFile& b) {
  for (const TensorsOfFile* side : {&a, &b})
    if (const std::string& name = side->tensors.front().first; !name.empty()) return name;
  return std::filesystem::path(a.file).filename().string();
}

}  // namespace

Result<DiffReport> diff_files(const TensorsOfFile& a, const TensorsOfFile& b, Tolerance tolerance) {
  DiffReport report = begin_report(a.file, b.file, tolerance);
  report.of_files = true;
  const auto compare_one = [&](const std::string& name, const ref::Array& x, const ref::Array& y) {
    LayerDiff diff = compare_arrays(x, y, tolerance);
    diff.layer = diff.tensor = name;
    add_layer_diff(std::move(diff), report);
  };
  if (a.tensors.size() == 1 && b.tensors.size() == 1) {
    compare_one(name_of_one(a, b), a.tensors.front().second, b.tensors.front().second);
    return report;
  }
  std::map<std::string, const ref::Array*> others;
  for (const auto& [name, array] : b.tensors) others.emplace(name, &array);
  for (const auto& [name, array] : a.tensors) {
    const auto other = others.find(name);
    if (other == others.end()) {
      report.only_a.push_back(name);
      continue;
    }
    compare_one(name, array, *other->second);
    others.erase(other);
  }
  for (const auto& [name, array] : others) report.only_b.push_back(name);
  if (report.layers.empty())
    return Error{Errc::invalid,
                 fmt::format("its tensors ({}) have other names than those of {} ({}); --tensor "
                             "picks one of a file",
                             fmt::join(names_of(b), ", "), a.file, fmt::join(names_of(a), ", ")),
                 b.file};
  return report;
}

}  // namespace accsim::sim
