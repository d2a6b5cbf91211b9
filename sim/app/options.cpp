#include "sim/app/options.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/app/file_options.h"

namespace accsim::sim {
namespace {

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "NAME=VALUE"; the last '=' splits, names may hold one.
std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return {};
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

std::optional<Dims> parse_dims(std::string_view text) {
  Dims out;
  while (true) {
    const size_t x = text.find('x');
    const auto dim = parse_int(text.substr(0, x));
    if (!dim || *dim < 1) return std::nullopt;
    out.push_back(*dim);
    if (x == std::string_view::npos) return out;
    text.remove_prefix(x + 1);
  }
}

Result<Dims> parse_product(const std::string& text, const char* option) {
  const std::optional<Dims> dims = parse_dims(text);
  if (dims && dims->size() == 3) return *dims;
  return Error{Errc::usage, "'" + text + "' is not MxKxN, e.g. 64x64x64", option};
}

std::optional<uint64_t> random_seed(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom)) return std::nullopt;
  text.remove_prefix(kRandom.size());
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return seed;
}

void ModelOptions::add_to(CLI::App& app, bool required) {
  auto* model = app.add_option("model", model_, "ONNX model file; its weights are never read")
                    ->type_name(kReadFile);
  if (required) model->required();
  app.add_option("--bind", bindings_,
                 "Size of a symbolic dimension, e.g. --bind batch=8; others become 1")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  app.add_option("--input-shape", shapes_,
                 "Shape of a graph input instead of the declared one, e.g. input=1x3x224x224")
      ->type_name("NAME=DIMS")
      ->allow_extra_args(false);
  app.add_flag("--allow-unsupported", allow_unsupported_,
               "Cost operators without a rule as the traffic of their inputs and outputs");
}

Result<ElaborateOptions> ModelOptions::elaborate() const {
  ElaborateOptions out;
  out.allow_unsupported = allow_unsupported_;
  Errors errors;
  for (const std::string& text : bindings_) {
    const auto [symbol, value] = split_assignment(text);
    const auto size = parse_int(value);
    if (symbol.empty() || !size || *size < 0)
      errors.push_back(
          {Errc::usage, "'" + text + "' is not NAME=N with N a whole number", "--bind"});
    else if (!out.bindings.emplace(symbol, *size).second)
      errors.push_back({Errc::usage, "'" + symbol + "' is bound twice", "--bind"});
  }
  for (const std::string& text : shapes_) {
    const auto [input, value] = split_assignment(text);
    const auto dims = parse_dims(value);
    if (input.empty() || !dims)
      errors.push_back({Errc::usage, "'" + text + "' is not NAME=DIMS, e.g. input=1x3x224x224",
                        "--input-shape"});
    else
      out.input_shapes[input] = *dims;
  }
  if (!errors.empty()) return errors;
  return out;
}

void MappingOptions::add_to(CLI::App& app) {
  app.add_option("--dataflow", dataflow_,
                 "Pin the dataflow: weight_stationary (ws), input_stationary (is) or "
                 "output_stationary (os); default: the best of those the machine lists")
      ->type_name("NAME");
  app.add_option("--mapping", mappings_,
                 "Pin (parts of) the mapping of layers whose name matches a glob, e.g. "
                 "\"conv*=7x56 n64 k256 mnk\" or \"im2col\"; repeatable, the first match applies")
      ->type_name("[GLOB=]TOKENS")
      ->allow_extra_args(false);
  app.add_option(
         "--objective", objective_,
         "What mappings are chosen by: cycles, energy, edp (energy-delay product) or traffic "
         "(DRAM bytes)")
      ->check(CLI::IsMember({"cycles", "energy", "edp", "traffic"}))
      ->capture_default_str();
  app.add_option(
         "--effort", effort_,
         "search: every tiling that its bound doesn't exclude; rule: one tiling a layer by a "
         "fixed rule, for speed")
      ->check(CLI::IsMember({"search", "rule"}))
      ->capture_default_str();
}

Result<MapOptions> MappingOptions::parse() const {
  MapOptions out;
  Errors errors;
  constexpr std::array<std::string_view, hw::kDataflows> kShort = {"ws", "is", "os"};
  for (size_t i = 0; i < hw::kDataflows; ++i) {
    const auto d = static_cast<hw::Dataflow>(i);
    if (dataflow_ == kShort[i] || dataflow_ == name(d)) out.dataflows = {d};
  }
  if (const auto objective = objective_from(objective_)) out.objective = *objective;
  if (effort_ == "rule") out.effort = MapEffort::rule;
  if (!dataflow_.empty() && out.dataflows.empty())
    errors.push_back({Errc::usage,
                      fmt::format("'{}' is not a dataflow; use weight_stationary (ws), "
                                  "input_stationary (is) or output_stationary (os)",
                                  dataflow_),
                      "--dataflow"});
  for (const std::string& text : mappings_) {
    Result<MappingPin> pin = parse_pin(text);
    if (pin)
      out.pins.push_back(std::move(*pin));
    else
      errors.insert(errors.end(), pin.errors().begin(), pin.errors().end());
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim::sim
