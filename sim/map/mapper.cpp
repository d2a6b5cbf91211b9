#include "sim/map/mapper.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/core_runs.h"
#include "sim/map/product/engine_mapping.h"
#include "sim/map/product/product_search.h"
#include "sim/map/units/unit_mapping.h"

namespace accsim::sim {
namespace {

/// Of tensors in the shared buffer, each by itself.
int64_t shared_bytes(const hw::Program& program) {
  int64_t out = 0;
  for (const hw::ProgramTensor& t : program.tensors)
    if (t.memory == hw::MemoryId::shared && t.slots == 0) out += t.bytes;
  return out;
}

/// That a tensor is larger than addresses reach, of which no program can be made.
std::optional<Error> beyond_reach(const hw::Program& program) {
  for (const hw::ProgramTensor& t : program.tensors)
    if (t.bytes > hw::kMostTensorBytes)
      return Error{Errc::capacity,
                   fmt::format("tensor '{}' takes {} bytes, and addresses reach {}; use smaller "
                               "shapes",
                               t.name, t.bytes, hw::kMostTensorBytes),
                   ""};
  return std::nullopt;
}

/// The types that the op has; only products have others than the machine's own.
int mode_of(const Mapping& mapping) {
  const auto* product = mapping.source_as<GemmSource>();
  return product ? product->problem.mode : hw::kOwnTypes;
}

}  // namespace

const MappingPin& Mapper::pin_of(const std::string& layer) const {
  static const MappingPin kFree;
  for (const MappingPin& pin : options_.pins)
    if (pin.applies_to(layer)) return pin;
  return kFree;
}

Result<std::shared_ptr<const Mapping>> Mapper::map(const OpRequest& request,
                                                   const std::string& layer,
                                                   const std::string& of_request) {
  const std::string key = of_request + pin_of(layer).layers;
  if (auto known = find_known(request, key)) return known;
  Result<Mapping> found = choose_mapping(request, layer);
  if (!found) return found.errors();
  return keep_mapping(request, key, std::move(*found));
}

std::shared_ptr<const Mapping> Mapper::find_known(const OpRequest& request,
                                                  const std::string& key) {
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;
  const auto& others = known_[std::holds_alternative<GemmOp>(request.item)];
  if (!others) return nullptr;
  MappingMemory::Found known = others->find(key);
  if (known) ++remembered_;
  return known;
}

std::shared_ptr<const Mapping> Mapper::keep_mapping(const OpRequest& request,
                                                    const std::string& key, Mapping mapping) {
  auto kept = std::make_shared<const Mapping>(std::move(mapping));
  if (const auto& others = known_[std::holds_alternative<GemmOp>(request.item)])
    return others->add(key, std::move(kept));
  return cache_.emplace(key, std::move(kept)).first->second;
}

Result<Mapping> Mapper::choose_mapping(const OpRequest& request, const std::string& layer) {
  Result<Mapping> found = search_op(request, pin_of(layer), options_.objective_function());
  if (found && options_.programs && found->has_program()) {
    add_program(*found);
    if (std::optional<Error> error = beyond_reach(found->program))
      found = std::move(*error);
    else
      check_program(layer, *found);
    if (found && request.unit) found->unverifiable = lack_of_units(request);
  }
  return check_found(std::move(found), layer);
}

Result<Mapping> Mapper::check_found(Result<Mapping> found, const std::string& layer) {
  if (!found) {
    Errors errors = found.errors();
    for (Error& e : errors)
      if (!is_of_machine(e)) e.where = "layer '" + layer + "'";
    return errors;
  }
  candidates_ += found->candidates;
  evaluated_ += found->evaluated;
  return found;
}

Mapper::View Mapper::view_of_mode(int mode) {
  if (mode == hw::kOwnTypes) return {hw_, evaluator_};
  auto& known = modes_[mode];
  if (!known) known = std::make_unique<ModeView>(machine_of_mode(hw_, mode), options_.limit.get());
  return {known->hw, known->evaluator};
}

void Mapper::check_program(const std::string& layer, Mapping& mapping) {
  const int mode = mode_of(mapping);
  std::string_view lacks = hw::name(hw::core_lacks(mapping.program));
  std::optional<hw::HwConfig> roomy;
  // What only counts bytes has each that it moves in a place of its own, however often an op reads
  // or writes it.
  if (!lacks.empty() || !mapping.unverifiable.empty()) {
    roomy = view_of_mode(mode).hw;
    roomy->shared.kib += ceil_div(shared_bytes(mapping.program), 1024);
  }
  if (const Status good = verify(mapping.program, roomy ? *roomy : view_of_mode(mode).hw); !good)
    check(false,
          "the mapper wrote a bad program for '" + layer + "': " + good.errors().front().text());
  if (lacks.empty() && mode != hw::kOwnTypes)
    lacks = hw::name(hw::core_lacks(type_mode(hw_, mode)));
  if (!lacks.empty()) mapping.unverifiable = lacks;
}

std::shared_ptr<const Mapping> Mapper::with_program(const std::shared_ptr<const Mapping>& mapping,
                                                    const std::string& layer) {
  if (!options_.programs || !mapping->has_program()) return mapping;
  auto& known = written_[mapping.get()];
  if (known) return known;
  Mapping out = *mapping;
  add_program(out);
  check_program(layer, out);
  return known = std::make_shared<const Mapping>(std::move(out));
}

bool Mapper::takes_lanes(const OpRequest& request) const {
  const auto lanes = LaneSource::of_request(request, hw_);
  return lanes && rule_tiling(*lanes, hw_);
}

Result<Mapping> Mapper::search_op(const OpRequest& r, const MappingPin& pin,
                                  const ObjectiveFunction& objective) {
  const auto* gemm = std::get_if<GemmOp>(&r.item);
  if (gemm == nullptr) return search_others(r, pin);
  if (hw_.has_dot_products() && !options_.dataflows.empty())
    return Error{Errc::usage, "an engine of dot products has no dataflows to choose from",
                 "--dataflow"};
  if (hw_.has_dot_products()) return map_on_engine(*gemm, r, pin, {hw_, is_searching()});
  if (!pin.banks.empty() || pin.rereads)
    return Error{Errc::usage,
                 fmt::format("'{}' pins banks or their weights, which only an engine of dot "
                             "products has",
                             pin.text),
                 "--mapping"};
  const View on = view_of_mode(r.mode);
  return search_product(GemmSource::of_request(*gemm, r, on.hw),
                        {hw_, on.hw, on.evaluator, options_}, pin, objective);
}

void Mapper::add_program(Mapping& mapping) {
  const hw::HwConfig& hw = view_of_mode(mode_of(mapping)).hw;
  visit_kind(mapping.source, [&]<class Source>(const Source& s) {
    mapping.program = emit(s.problem, hw, s.tiling);
    mapping.unverifiable = Source::kUnverifiable;
    mapping.description = to_string(s.problem, s.tiling);
  });
  if (options_.limit) options_.limit->add_program(std::ssize(mapping.trace.steps));
}

}  // namespace accsim::sim
