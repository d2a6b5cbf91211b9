#include "sim/rewrite/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/elaborate/node_label.h"
#include "sim/elaborate/node_order.h"
#include "sim/elaborate/origins.h"
#include "sim/graph/external_files.h"
#include "sim/onnx/embed.h"
#include "sim/onnx/reader.h"
#include "sim/onnx/writer.h"
#include "sim/rewrite/restated.h"
#include "sim/rewrite/tiled_from.h"

namespace accsim::sim {
namespace {

using Flags = std::vector<bool>;

/// Who gives and who reads the tensors of a main graph.
class MainGraph {
 public:
  explicit MainGraph(const GraphDef& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& output : graph.nodes[i].outputs)
        if (!output.empty()) producers_.emplace(output, i);
      for (const std::string_view name : names_read_by(graph.nodes[i])) readers_[name].push_back(i);
    }
    for (const ValueDef& input : graph.inputs) inputs_.insert(input.name);
    for (const StoredTensor& tensor : graph.initializers) stored_.insert(tensor.name);
  }

  const std::vector<NodeDef>& nodes() const { return graph_.nodes; }
  bool is_input(std::string_view name) const { return inputs_.contains(name); }
  bool is_stored(std::string_view name) const { return stored_.contains(name); }
  bool is_read(std::string_view name) const { return readers_.contains(name); }
  /// The node that writes a tensor; nullptr: none does.
  const size_t* producer_of(std::string_view name) const {
    const auto found = producers_.find(name);
    return found == producers_.end() ? nullptr : &found->second;
  }

  /// These nodes and those that depend on them.
  Flags nodes_behind(std::vector<size_t> todo) const {
    return transitive_closure(std::move(todo), [this](size_t i, std::vector<size_t>& out) {
      for (const std::string& output : graph_.nodes[i].outputs)
        if (const auto found = readers_.find(output); found != readers_.end())
          out.insert(out.end(), found->second.begin(), found->second.end());
    });
  }
  /// These nodes and those that they depend on.
  Flags nodes_before(std::vector<size_t> todo) const {
    return transitive_closure(std::move(todo), [this](size_t i, std::vector<size_t>& out) {
      for (const std::string_view name : names_read_by(graph_.nodes[i]))
        if (const size_t* from = producer_of(name)) out.push_back(*from);
    });
  }
  /// Nodes that depend on what is given in every run, be it for its shape only.
  Flags behind_inputs() const {
    std::vector<size_t> first;
    for (const auto& [name, readers] : readers_)
      if (is_input(name) && !is_stored(name))
        first.insert(first.end(), readers.begin(), readers.end());
    return nodes_behind(std::move(first));
  }

 private:
  template <class Next>
  Flags transitive_closure(std::vector<size_t> todo, const Next& add_next) const {
    Flags out(graph_.nodes.size());
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      if (out[i]) continue;
      out[i] = true;
      add_next(i, todo);
    }
    return out;
  }

  const GraphDef& graph_;
  std::map<std::string_view, size_t> producers_;
  std::map<std::string_view, std::vector<size_t>> readers_;
  std::set<std::string_view> inputs_, stored_;
};

/// Decides what stays of a model.
class PartMaker {
 public:
  PartMaker(const ModelDef& model, const Elaborated& whole)
      : model_(model), whole_(whole), main_(model.graph), left_(model.graph.nodes.size(), true) {}

  Status choose_nodes(const GraphCut& cut);
  Status take_what_it_reads();
  Result<ModelEdit> make_edit(PartModel& out) const;

 private:
  Result<size_t> find_main_node(const std::string& name, const char* option) const;
  Result<const Tensor*> known_tensor(const std::string& name) const;
  Status take_source(const std::string& name, const Flags& behind_inputs,
                     std::vector<size_t>& todo);
  void set_outputs();
  std::string tiled_layers() const;

  const ModelDef& model_;
  const Elaborated& whole_;
  const MainGraph main_;
  Flags left_;  ///< by node of the main graph
  GraphPart part_;
  std::optional<size_t> until_;
  std::set<std::string> seen_;                 ///< what nodes that are left read, as far as known
  std::vector<std::string> inputs_, outputs_;  ///< of the part: not of the model; all
  std::vector<StoredTensor> constants_;        ///< in place of nodes
};

/// The node of the main graph of that name, or that writes the tensor of that name.
Result<size_t> PartMaker::find_main_node(const std::string& name, const char* option) const {
  for (size_t i = 0; i < main_.nodes().size(); ++i)
    if (node_name(main_.nodes()[i], i) == name) return i;
  if (const size_t* from = main_.producer_of(name)) return *from;
  const Result<NodeId> inner = find_node(whole_.graph, name, option);
  if (!inner) return inner.errors();
  const size_t outer = whole_.origins[static_cast<size_t>(*inner)];
  return Error{Errc::usage,
               fmt::format("'{}' is within node '{}', which is written as a whole; name that node",
                           name, node_name(main_.nodes()[outer], outer)),
               option};
}

Status PartMaker::choose_nodes(const GraphCut& cut) {
  if (!cut.from.empty()) {
    const Result<size_t> from = find_main_node(cut.from, "--from");
    if (!from) return from.errors();
    left_ = main_.nodes_behind({*from});
  }
  if (cut.until.empty()) return ok();
  const Result<size_t> until = find_main_node(cut.until, "--until");
  if (!until) return until.errors();
  if (!left_[*until]) return not_behind(cut);
  const Flags before = main_.nodes_before({*until});
  for (size_t i = 0; i < left_.size(); ++i) left_[i] = left_[i] && before[i];
  until_ = *until;
  return ok();
}

Result<const Tensor*> PartMaker::known_tensor(const std::string& name) const {
  const auto found = whole_.names.find(name);
  if (found == whole_.names.end() || found->second == kNoTensor)
    return Error{Errc::unsupported,
                 fmt::format("'{}', between the part and the rest, is no tensor but a sequence, "
                             "or an optional that is empty; choose another --from or --until",
                             name),
                 model_.file};
  return &whole_.graph.tensor(found->second);
}

/// Decides where the part has a tensor from that no node of it writes.
Status PartMaker::take_source(const std::string& name, const Flags& behind_inputs,
                              std::vector<size_t>& todo) {
  const size_t* const from = main_.producer_of(name);
  if (from == nullptr) {
    if (main_.is_input(name)) part_.inputs.insert(name);
    if (main_.is_stored(name)) part_.stored.insert(name);
    return ok();
  }
  if (left_[*from]) return ok();
  const Result<const Tensor*> known = known_tensor(name);
  if (!known) return known.errors();
  const Tensor& t = **known;
  if (!t.constant) {
    inputs_.push_back(name);
    return ok();
  }
  // Where its nodes would read an input for its shape, the integers themselves read none.
  const bool writable = t.value && !is_float(t.dtype) && writes_values(t.dtype);
  if (behind_inputs[*from] && writable) {
    constants_.push_back({name, t.dtype, t.dims, {}, t.value, false});
    return ok();
  }
  left_[*from] = true;
  todo.push_back(*from);
  return ok();
}

Status PartMaker::take_what_it_reads() {
  const Flags behind_inputs = main_.behind_inputs();
  set_outputs();
  std::vector<size_t> todo;
  for (size_t i = left_.size(); i-- > 0;)
    if (left_[i]) todo.push_back(i);
  while (!todo.empty()) {
    const size_t i = todo.back();
    todo.pop_back();
    for (const std::string_view read : names_read_by(main_.nodes()[i])) {
      const std::string name(read);
      if (!seen_.insert(name).second) continue;
      if (const Status taken = take_source(name, behind_inputs, todo); !taken) return taken;
    }
  }
  // A node that was taken for one of its outputs writes the others, too.
  std::erase_if(inputs_, [this](const std::string& n) { return left_[*main_.producer_of(n)]; });
  std::erase_if(constants_,
                [this](const StoredTensor& t) { return left_[*main_.producer_of(t.name)]; });
  return ok();
}

void PartMaker::set_outputs() {
  const auto add_written = [this](size_t i, bool read_too) {
    for (const std::string& name : main_.nodes()[i].outputs)
      if (!name.empty() && (read_too || !main_.is_read(name))) outputs_.push_back(name);
  };
  if (until_) return add_written(*until_, true);
  for (const ValueDef& output : model_.graph.outputs)
    if (const size_t* from = main_.producer_of(output.name); from != nullptr && left_[*from])
      outputs_.push_back(output.name);
  if (!outputs_.empty()) return;
  for (size_t i = 0; i < left_.size(); ++i)
    if (left_[i]) add_written(i, false);
}

/// The lines of the property about cut layers that the part has as a whole.
std::string PartMaker::tiled_layers() const {
  const auto property = model_.metadata.find(kTiledFrom);
  if (property == model_.metadata.end()) return "";
  const auto layers = parse_tiled_from(property->second, model_.file);
  std::string out;
  if (!layers) return property->second;  // who reads the model says what is wrong with it
  for (const TiledFrom& layer : *layers) {
    bool whole =
        main_.producer_of(layer.output) != nullptr && left_[*main_.producer_of(layer.output)];
    for (size_t i = 0; whole && i < left_.size(); ++i)
      whole = left_[i] || !main_.nodes()[i].name.starts_with(layer.prefix + "/");
    if (whole) out += (out.empty() ? "" : "\n") + to_line(layer);
  }
  return out;
}

Result<ModelEdit> PartMaker::make_edit(PartModel& out) const {
  ModelEdit edit;
  edit.part = part_;
  edit.part->nodes = left_;
  for (size_t i = 0; i < left_.size(); ++i)
    if (left_[i])
      for (const std::string& name : main_.nodes()[i].outputs) edit.part->described.insert(name);
  edit.part->tensors = edit.part->described;
  edit.part->tensors.insert(seen_.begin(), seen_.end());
  for (const std::string& name : outputs_) {
    const Result<const Tensor*> t = known_tensor(name);
    if (!t) return t.errors();
    edit.outputs.push_back(stated_value(name, (*t)->dtype, (*t)->dims));
    edit.part->described.erase(name);
  }
  for (const std::string& name : inputs_) {
    const Tensor& t = **known_tensor(name);
    edit.inputs.push_back(stated_value(name, t.dtype, t.dims));
  }
  for (const ValueDef& input : model_.graph.inputs)
    if (part_.inputs.contains(input.name) && !main_.is_stored(input.name)) {
      const Result<const Tensor*> t = known_tensor(input.name);
      out.inputs.push_back(t ? stated_value(input.name, (*t)->dtype, (*t)->dims) : input);
      out.inputs.back().is_optional = input.is_optional;
    }
  out.inputs.insert(out.inputs.end(), edit.inputs.begin(), edit.inputs.end());
  out.outputs = edit.outputs;
  edit.initializers = constants_;
  if (model_.ir_version < kInitializersNeedNoInput)
    for (const StoredTensor& t : constants_)
      edit.inputs.push_back(stated_value(t.name, t.dtype, t.dims));
  edit.restated =
      rewrite::restated_values(model_.graph, [&](const std::string& name) -> const Tensor* {
        const Result<const Tensor*> t = known_tensor(name);
        return t ? *t : nullptr;
      });
  if (model_.metadata.contains(kTiledFrom)) edit.metadata[kTiledFrom] = tiled_layers();
  return edit;
}

/// Files that hold elements of what is left.
std::vector<std::string> external_of(const ModelDef& model, const GraphPart& part) {
  ModelDef left;
  for (const StoredTensor& tensor : model.graph.initializers)
    if (part.stored.contains(tensor.name)) left.graph.initializers.push_back(tensor);
  for (size_t i = 0; i < part.nodes.size(); ++i)
    if (part.nodes[i]) left.graph.nodes.push_back(model.graph.nodes[i]);
  left.functions = model.functions;
  const std::set<std::string> files = external_files(left);
  return {files.begin(), files.end()};
}

}  // namespace

Result<PartModel> part_model(const std::string& path, const ElaborateOptions& options, bool embed) {
  if (options.cut.empty())
    return Error{Errc::usage, "name the first node of the part, or --until its last one", "--from"};
  const Result<ModelDef> model = read_model(path);
  if (!model) return model.errors();
  ElaborateOptions all = options;
  all.cut = {};
  all.as_written = true;
  const Result<Elaborated> whole = elaborate_with_origins(*model, all);
  if (!whole) return whole.errors();
  if (const Status good = verify_graph(whole->graph); !good) return good.errors();
  PartMaker maker(*model, *whole);
  if (const Status chosen = maker.choose_nodes(options.cut); !chosen) return chosen.errors();
  if (const Status taken = maker.take_what_it_reads(); !taken) return taken.errors();
  PartModel out;
  const Result<ModelEdit> edit = maker.make_edit(out);
  if (!edit) return edit.errors();
  Result<std::string> bytes = edit_model(path, *edit);
  if (bytes && embed) bytes = embed_weights(*bytes, path);
  if (!bytes) return bytes.errors();
  out.bytes = std::move(*bytes);
  out.nodes = static_cast<size_t>(std::ranges::count(edit->part->nodes, true));
  out.of_nodes = edit->part->nodes.size();
  if (!embed) out.external = external_of(*model, *edit->part);
  out.bindings = whole->graph.bindings;
  out.assumed = whole->graph.assumed;
  return out;
}

}  // namespace accsim::sim
