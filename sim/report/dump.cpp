#include "sim/report/dump.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/json_text.h"
#include "sim/report/format.h"
#include "sim/report/read_json.h"
#include "sim/report/table.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

Json tensors_json(const std::vector<DumpTensor>& tensors) {
  Json out = Json::array();
  for (const DumpTensor& t : tensors) {
    out.push_back({{"name", t.name}, {"file", t.file}, {"dtype", name(t.dtype)}, {"dims", t.dims}});
    if (t.stored) out.back()["stored"] = true;
  }
  return out;
}

Json layer_json(const DumpLayer& layer) {
  Json out = {{"name", layer.name}, {"op_type", layer.op_type}, {"computed", layer.computed}};
  if (!layer.model.empty()) out["model"] = layer.model;
  out["inputs"] = tensors_json(layer.inputs);
  out["outputs"] = tensors_json(layer.outputs);
  return out;
}

std::string text_of(const Json& json) { return json_text(json, 1) + "\n"; }

DType dtype_named(const std::string& text) {
  for (int i = 0; i < 32; ++i)
    if (const auto t = dtype_from_onnx(i); t && name(*t) == text) return *t;
  return DType::undefined;
}

/// Reads fields of parsed JSON and notes the first that is missing or of the wrong kind.
class Reader {
 public:
  std::string read_text(const Json& from, const char* key) {
    const auto at = find(from, key);
    if (at == nullptr || !at->is_string()) return note_wrong(key), std::string();
    return at->get<std::string>();
  }
  Json read_list(const Json& from, const char* key) {
    const auto at = find(from, key);
    if (at == nullptr || !at->is_array()) return note_wrong(key), Json::array();
    return *at;
  }
  std::vector<DumpTensor> read_tensors(const Json& from, const char* key) {
    std::vector<DumpTensor> out;
    for (const Json& t : read_list(from, key)) {
      DumpTensor tensor{
          read_text(t, "name"), read_text(t, "file"), dtype_named(read_text(t, "dtype")), {}};
      for (const Json& d : read_list(t, "dims")) {
        if (!d.is_number_integer())
          note_wrong("dims");
        else
          tensor.dims.push_back(d.get<int64_t>());
      }
      // A manifest names files of its own folder only.
      if (tensor.file.starts_with('/') || tensor.file.find("..") != std::string::npos)
        note_wrong("file");
      out.push_back(std::move(tensor));
    }
    return out;
  }
  const std::string& wrong_key() const { return wrong_; }

 private:
  const Json* find(const Json& from, const char* key) const {
    if (!from.is_object()) return nullptr;
    const auto at = from.find(key);
    return at == from.end() ? nullptr : &*at;
  }
  void note_wrong(const char* key) {
    if (wrong_.empty()) wrong_ = key;
  }
  std::string wrong_;
};

/// A number JSON can hold; infinities as text.
Json finite_or_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

Json first_json(const std::optional<FirstElement>& first) {
  if (!first) return nullptr;
  return {
      {"index", first->index}, {"a", finite_or_text(first->a)}, {"b", finite_or_text(first->b)}};
}

}  // namespace

std::string to_json(const DumpManifest& manifest) {
  Json layers = Json::array();
  for (const DumpLayer& l : manifest.layers) layers.push_back(layer_json(l));
  return text_of({{"schema", "accsim.dump/1"},
                  {"model", manifest.model},
                  {"mode", manifest.mode},
                  {"layers", layers}});
}

Result<DumpManifest> parse_manifest(const std::string& text, const std::string& file) {
  const Result<Json> parsed = read_json(text, file);
  const Json json = parsed ? *parsed : Json();
  Reader reader;
  DumpManifest manifest;
  const bool ours = json.is_object() && reader.read_text(json, "schema") == "accsim.dump/1";
  if (!ours)
    return Error{Errc::parse,
                 "isn't a manifest of dumped tensors (schema accsim.dump/1); make one "
                 "with accsim run --output DIR --dump all",
                 file};
  manifest.model = reader.read_text(json, "model");
  manifest.mode = reader.read_text(json, "mode");
  for (const Json& l : reader.read_list(json, "layers"))
    manifest.layers.push_back({reader.read_text(l, "name"), reader.read_text(l, "op_type"),
                               reader.read_tensors(l, "inputs"), reader.read_tensors(l, "outputs"),
                               reader.read_text(l, "computed")});
  if (!reader.wrong_key().empty())
    return Error{Errc::parse,
                 fmt::format("'{}' is missing or of the wrong kind somewhere", reader.wrong_key()),
                 file};
  return manifest;
}

std::string to_json(const DiffReport& r) {
  Json layers = Json::array();
  for (const LayerDiff& l : r.layers)
    layers.push_back({{"layer", l.layer},
                      {"op_type", l.op_type},
                      {"tensor", l.tensor},
                      {"elements", l.elements},
                      {"max_abs", finite_or_text(l.max_abs)},
                      {"mean_abs", finite_or_text(l.mean_abs)},
                      {"max_rel", finite_or_text(l.max_rel)},
                      {"snr_db", finite_or_text(l.snr_db)},
                      {"cosine", finite_or_text(l.cosine)},
                      {"beyond", l.beyond},
                      {"first_beyond", first_json(l.first)},
                      {"problem", l.problem}});
  Json first;
  if (r.first >= 0) first = r.layers[static_cast<size_t>(r.first)].layer;
  return text_of({{"schema", "accsim.diff/1"},
                  {"a", r.a},
                  {"b", r.b},
                  {"atol", r.atol},
                  {"rtol", r.rtol},
                  {"equal", r.first < 0},
                  {"first_differing", first},
                  {"only_a", r.only_a},
                  {"only_b", r.only_b},
                  {"inputs_differ", r.inputs},
                  {"layers", layers}});
}

namespace {

/// "x, y, z", the first few of them.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) out += (i > 0 ? ", " : "") + names[i];
  return out + (names.size() > kShown ? ", ..." : "");
}

/// "not compared, only in A: 3 layers: x, y, z"; "" for none.
std::string only_in(const std::vector<std::string>& names, const std::string& side, bool of_files) {
  if (names.empty()) return "";
  return fmt::format("not compared, only in {}: {} {}{}: {}\n", side, names.size(),
                     of_files ? "tensor" : "layer", names.size() == 1 ? "" : "s", some_of(names));
}

/// What makes layers differ that compute alike; "" for nothing.
std::string other_inputs(const std::vector<std::string>& tensors) {
  if (tensors.empty()) return "";
  return fmt::format("inputs or weights differ, of which the layers are computed: {}\n",
                     some_of(tensors));
}

/// "; its first element beyond is at [0, 3]: 1.5 in A, 1.25 in B"; "" where there is none.
std::string first_element(const LayerDiff& l) {
  if (!l.first) return "";
  return fmt::format("; its first element beyond is at [{}]: {:.9g} in A, {:.9g} in B",
                     fmt::join(l.first->index, ", "), l.first->a, l.first->b);
}

/// Within the tolerance or not, and what is beyond first.
std::string verdict_text(const DiffReport& r) {
  const std::string tolerance = fmt::format("atol {} and rtol {}", r.atol, r.rtol);
  const char* const kind = r.of_files ? "tensor" : "layer";
  if (r.first < 0) {
    if (r.of_files && r.layers.size() == 1) return fmt::format("within {}\n", tolerance);
    return fmt::format("all {} {}s within {}\n", r.layers.size(), kind, tolerance);
  }
  const LayerDiff& first = r.layers[static_cast<size_t>(r.first)];
  const std::string op = r.of_files ? "" : fmt::format(" ({})", first.op_type);
  return fmt::format("first {} beyond {}: {}{}{}\n", kind, tolerance, first.layer, op,
                     first_element(first));
}

}  // namespace

std::string to_text(const DiffReport& r, size_t width) {
  width = std::max<size_t>(width, 60);
  std::vector<TextTable::Column> columns = {{r.of_files ? "tensor" : "layer", "", true}};
  if (!r.of_files) columns.push_back({"op", "", true, 3});
  const size_t names = columns.size();
  for (const TextTable::Column& c : {TextTable::Column{"max abs", ""},
                                     {"mean abs", "", false, 2},
                                     {"max rel", "", false, 1},
                                     {"SNR", "dB", false, 2},
                                     {"cosine", "", false, 4},
                                     {"beyond", ""}})
    columns.push_back(c);
  TextTable table(columns);
  for (const LayerDiff& l : r.layers) {
    TextTable::Row row{.cells = {l.layer, shorten_middle(printable(l.op_type), 14)}};
    row.cells.resize(names);
    if (l.problem.empty()) {
      for (const double v : {l.max_abs, l.mean_abs, l.max_rel})
        row.cells.push_back(fmt::format("{:.3g}", v));
      row.cells.push_back(fmt::format("{:.1f}", l.snr_db));
      row.cells.push_back(fmt::format("{:.8f}", l.cosine));
      row.cells.push_back(fmt::format("{}", l.beyond));
    } else {
      row.cells.resize(columns.size());
      row.notes.push_back(l.problem);
    }
    table.add(std::move(row));
  }
  std::string out;
  for (const std::string& line : table.lines(width, false)) out += line + "\n";
  const std::string end = other_inputs(r.inputs) + only_in(r.only_a, r.a, r.of_files) +
                          only_in(r.only_b, r.b, r.of_files) + verdict_text(r);
  return out + wrap_lines(printable(end, "\n"), width);
}

}  // namespace accsim::sim
