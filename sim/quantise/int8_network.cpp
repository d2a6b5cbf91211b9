#include "sim/quantise/int8_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "hw/golden/golden.h"
#include "sim/program/network_reference.h"
#include "sim/quantise/float_layer.h"
#include "sim/schedule/chain.h"

namespace accsim::sim {
namespace {

/// Elements that aren't of the machine's type, as the graph has them.
std::vector<uint8_t> bytes_in_memory(const ref::Array& array, const Layout& layout) {
  const auto each = static_cast<size_t>(kind_bytes(array.kind()));
  const auto* from = static_cast<const uint8_t*>(array.raw_data());
  std::vector<uint8_t> out(static_cast<size_t>(array.bytes()));
  for (int64_t i = 0; i < array.size(); ++i)
    std::memcpy(out.data() + static_cast<size_t>(place_of(i, layout)) * each,
                from + static_cast<size_t>(i) * each, each);
  return out;
}

}  // namespace

std::optional<PartNumbers> NetworkConstants::operator()(const NetworkPart& part) {
  Result<PartNumbers> numbers = quantised_constants(source_, part);
  if (numbers) return std::move(*numbers);
  layers_.insert(part.layer);
  for (Error e : numbers.errors()) {
    if (e.where.empty())
      e.where = fmt::format("layer '{}'", source_.network.lowered.layers[part.layer].name);
    if (std::ranges::none_of(unknown_, [&](const Error& u) { return u.text() == e.text(); }))
      unknown_.push_back(std::move(e));
  }
  return std::nullopt;
}

Result<Int8Network> Int8Network::make(const Graph& graph, const CostedNetwork& network,
                                      const hw::HwConfig& hw, const FloatRuns& runs,
                                      const ref::RunOptions& options) {
  Int8Network out(graph, network, runs, options);
  auto scales = TensorScales::make(graph, network, hw, runs.calibration(), runs.constants());
  if (!scales) return scales.errors();
  out.scales_ = std::move(*scales);
  if (Status s = out.find_program(hw); !s) return s.errors();
  out.held_ = std::make_shared<ref::Held>(options.memory, out.image_bytes());
  out.find_tensors();
  out.find_hosted();
  return out;
}

Status Int8Network::find_program(const hw::HwConfig& hw) {
  Errors why;
  while (true) {
    NetworkConstants numbers(*graph_, *network_, hw, *runs_, scales_);
    auto made =
        network_case(*graph_, *network_, hw, {.left_out = unknown_, .numbers = std::ref(numbers)});
    const auto is_wrong = [](const Error& e) { return e.code != Errc::unsupported; };
    if (std::ranges::any_of(numbers.unknown_errors(), is_wrong)) return numbers.unknown_errors();
    if (numbers.unknown_errors().empty()) {
      if (!made) return why.empty() ? made.errors() : why;
      case_ = std::move(*made);
      return ok();
    }
    // Each time there are more.
    unknown_.insert(numbers.unknown_layers().begin(), numbers.unknown_layers().end());
    why.insert(why.end(), numbers.unknown_errors().begin(), numbers.unknown_errors().end());
  }
}

int64_t Int8Network::image_bytes() const {
  int64_t bytes = 0;
  for (const auto& tensor : case_.image) bytes += std::ssize(tensor);
  return bytes;
}

void Int8Network::find_tensors() {
  for (size_t l = 0; l < network_->tensors.size(); ++l) {
    const Layer& layer = network_->lowered.layers[l];
    const LayerTensors& t = network_->tensors[l];
    for (size_t i = 0; i < t.inputs.size(); ++i) {
      roots_[layer.inputs[i]] = t.inputs[i];
      parts_[layer.inputs[i]] = t.input_places[i];
    }
    for (size_t i = 0; i < t.outputs.size(); ++i) {
      roots_[layer.outputs[i]] = t.outputs[i];
      parts_[layer.outputs[i]] = t.output_places[i];
    }
    const size_t maker = layer.merged_into >= 0 ? static_cast<size_t>(layer.merged_into) : l;
    for (const TensorId id : layer.outputs) makers_[id] = maker;
  }
  const auto count = static_cast<int32_t>(graph_->tensors.size());
  for (const NetworkPart& part : case_.network.parts) {
    const std::vector<int32_t> all =
        tensor_numbers(part.mapping->trace, *part.ports, network_->tensors[part.layer]);
    for (size_t i = 0; i < all.size(); ++i)
      if (!part.constant[i] && all[i] < count)
        of_root_[all[i]] = static_cast<size_t>(part.tensors[i]);
  }
}

bool Int8Network::is_hosted(size_t layer) const {
  return unknown_.contains(layer) || !left_out_[layer].empty();
}

void Int8Network::find_hosted() {
  // Runs of the program after which a tensor has its values; -1: no run is needed.
  std::map<TensorId, int> after;
  for (size_t l = 0; l < network_->lowered.layers.size(); ++l) {
    const Layer& layer = network_->lowered.layers[l];
    const size_t owner = layer.merged_into >= 0 ? static_cast<size_t>(layer.merged_into) : l;
    int runs = -1;
    for (const auto* ids : {&layer.inputs, &graph_->nodes[static_cast<size_t>(layer.node)].inputs})
      for (const TensorId id : *ids)
        if (const auto known = after.find(id); known != after.end())
          runs = std::max(runs, known->second);
    if (is_hosted(owner)) {
      if (owner == l) hosted_.emplace(runs, l);
      runs = runs < 0 ? runs : runs + 1;
    } else if (!network_->mappings[owner].empty()) {
      runs = std::max(runs, 0);
    }
    for (const auto* ids :
         {&layer.outputs, &graph_->nodes[static_cast<size_t>(layer.node)].outputs})
      for (const TensorId id : *ids)
        after[id] = std::max(runs, after.try_emplace(id, -1).first->second);
  }
}

std::optional<size_t> Int8Network::program_tensor(TensorId id) const {
  const auto root = roots_.find(id);
  const auto of = of_root_.find(root == roots_.end() ? id : root->second);
  return of == of_root_.end() ? std::nullopt : std::optional(of->second);
}

SubTensorBytes Int8Network::place_in_bytes(TensorId id) const {
  const auto known = parts_.find(id);
  return known == parts_.end() ? SubTensorBytes{} : known->second;
}

TensorId Int8Network::shown_as(TensorId id) const {
  for (const auto& [as, root] : roots_)
    if (root == id && as >= 0 && !is_float(graph_->tensor(id).dtype) &&
        is_float(graph_->tensor(as).dtype))
      return as;
  return id;
}

void Int8Network::store_tensor(TensorId id, const ref::Array& array, hw::MemoryImage& image) const {
  const std::optional<size_t> at = program_tensor(id);
  if (!at) return;
  const TensorId as = shown_as(id);
  const std::vector<uint8_t> bytes = is_float(graph_->tensor(as).dtype)
                                         ? codes_in_memory(array, layout(as), scales_.scale_of(as))
                                         : bytes_in_memory(array, layout(id));
  const auto [offset, pitch] = place_in_bytes(id);
  // The program's tensor ends with the last byte that a command moves: lines of an image that no
  // window reaches are beyond it.
  std::vector<uint8_t>& to = image[*at];
  for (int64_t i = 0; i < std::ssize(bytes) && offset + pitch.offset_of(i) < std::ssize(to); ++i)
    to[static_cast<size_t>(offset + pitch.offset_of(i))] = bytes[static_cast<size_t>(i)];
}

std::optional<Result<ref::Array>> Int8Network::known_values(const Outcome& outcome,
                                                            TensorId id) const {
  const Tensor& tensor = graph_->tensor(id);
  if (tensor.constant) return runs_->constants()(id);
  if (const auto known = outcome.outside.find(id); known != outcome.outside.end())
    return known->second;
  const std::optional<size_t> at = program_tensor(id);
  // There is no image before the first run, when layers of the host read what the network is given.
  if (!at || !is_float(tensor.dtype) || *at >= outcome.image.size()) return std::nullopt;
  const auto [offset, pitch] = place_in_bytes(id);
  if (std::ssize(outcome.image[*at]) < offset + pitch.extent_of(elements(tensor.dims)))
    return std::nullopt;
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < elements(tensor.dims); ++i)
    bytes.push_back(outcome.image[*at][static_cast<size_t>(offset + pitch.offset_of(i))]);
  return values_from_memory(bytes, tensor, layout(id), scales_.scale_of(id));
}

Result<ref::Array> Int8Network::values_of(const Outcome& outcome, TensorId id) const {
  std::map<TensorId, ref::Array> made;
  std::set<size_t> waiting;           // layers whose operands are being made
  std::vector<TensorId> todo = {id};  // what the last one is made of comes behind it
  while (!todo.empty()) {
    const TensorId next = todo.back();
    if (made.contains(next)) {
      todo.pop_back();
      continue;
    }
    if (auto known = known_values(outcome, next)) {
      if (!*known) return known->errors();
      made.emplace(next, std::move(**known));
      continue;
    }
    const auto maker = makers_.find(next);
    if (maker == makers_.end())
      return Error{Errc::unsupported,
                   fmt::format("nothing gives tensor '{}'", graph_->tensor(next).name),
                   graph_->file};
    const size_t had = todo.size();
    for (const TensorId read : layer_reads(*graph_, network_->lowered, maker->second))
      if (!made.contains(read)) todo.push_back(read);
    if (todo.size() > had) {
      check(waiting.insert(maker->second).second, "a layer that waits for what it gives");
      continue;
    }
    const auto value = [&](TensorId of) -> Result<ref::Array> { return made.at(of); };
    auto all = run_layer(*graph_, network_->lowered, maker->second, value, options_);
    if (!all) return all.errors();
    check(all->contains(next), "a layer doesn't give its own output");
    made.merge(*all);
  }
  return made.at(id);
}

/// Computes the layers that come after so many runs, of which the outcome is the last one's.
Status Int8Network::run_hosted(int after, hw::MemoryImage& image, Outcome& outcome) const {
  const auto [first, last] = hosted_.equal_range(after);
  for (auto it = first; it != last; ++it) {
    const auto value = [&](TensorId of) { return values_of(outcome, of); };
    auto all = run_layer(*graph_, network_->lowered, it->second, value, options_);
    if (!all) return all.errors();
    for (auto& [id, array] : *all) {
      store_tensor(id, array, image);
      outcome.outside[id] = std::move(array);
    }
  }
  return ok();
}

Result<Int8Network::Outcome> Int8Network::run_program(
    const std::map<TensorId, ref::Array>& inputs) const {
  // Before and after the program; each result has the reference's beside it for a while.
  const ref::Held images(options_.memory, 3 * image_bytes());
  Outcome out;
  out.outside = inputs;
  hw::MemoryImage begin = case_.image;
  for (const auto& [id, array] : inputs) store_tensor(id, array, begin);
  const hw::Program& program = case_.network.program;
  const int runs = hosted_.empty() ? -1 : hosted_.rbegin()->first;
  for (int after = -1; after <= runs; ++after) {
    if (after >= 0) {
      out.image = begin;
      if (Status s = hw::run_golden(program, case_.hw, out.image); !s) return s.errors();
    }
    if (Status s = run_hosted(after, begin, out); !s) return s.errors();
  }
  out.image = begin;
  if (Status s = hw::run_golden(program, case_.hw, out.image); !s) return s.errors();
  const ReferenceResult reference =
      compare_with_reference(*network_, case_.network, case_.numbers, begin, out.image);
  out.compared = reference.compared;
  if (reference.difference.empty()) return out;
  return Error{Errc::invalid, reference.difference, graph_->file};
}

}  // namespace accsim::sim
