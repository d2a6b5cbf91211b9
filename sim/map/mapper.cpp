#include "sim/map/mapper.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/verifiable.h"
#include "sim/base/key_bytes.h"
#include "sim/map/best_choice.h"
#include "sim/map/heuristic_tiling.h"
#include "sim/map/tiling_choice.h"

namespace accsim::sim {
namespace {

// Keys take values apart member by member: a member that is added and left out here doesn't
// compile.

void add(KeyBytes& key, const std::vector<Access>& side) {
  key.add(side.size());
  for (const auto& [port, elements, run] : side) key.add(port, elements, run);
}

void add(KeyBytes& key, const std::vector<Operand>& side) {
  key.add(side.size());
  for (const auto& [place, element_bytes] : side) {
    const auto& [name, memory, constant, port, pitch] = place;
    static_cast<void>(name);  // for people
    key.add(port.side);       // the index as it stands in the list
    key.add(memory, constant, element_bytes, pitch.run, pitch.pitch);
  }
}

void add(KeyBytes& key, const GemmOp& op) {
  const auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
               a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port,
               out_port] = op;
  key.add(batch, images, channels, outputs).add(in).add(out).add(kernel).add(stride).add(dilation);
  key.add(pad).add(grouped, a_shared, b_shared, a_transposed, b_transposed);
  key.add(a_port, b_port, bias_port, out_port);
}

void add(KeyBytes& key, const RowWork& w) {
  const auto& [kind, rows, row_stride, pieces, piece_stride, run, per_channel, channel_stride,
               in_port, out_port, mask, log] = w;
  key.add(kind).add(rows).add(row_stride).add(pieces, piece_stride, run, per_channel);
  key.add(channel_stride).add(in_port, out_port, mask.has_value(), log.has_value());
  if (log) {
    const auto& [log_port, log_row_stride] = *log;
    key.add(log_port).add(log_row_stride);
  }
  if (!mask) return;
  const auto& [port, elements, mask_row_stride, mask_piece_stride] = *mask;
  key.add(port, elements).add(mask_row_stride).add(mask_piece_stride);
}

void add(KeyBytes& key, const LaneWork& work) {
  const auto& [op, gather, a_port, b_port, axes, across, table] = work;
  key.add(op, gather, a_port, b_port, across, table, axes.size());
  for (const auto& [count, a, b, slide, turned] : axes) {
    const auto& [extent, kernel, stride, dilation, pad, counted_from, counted_to] = slide;
    key.add(count, a, b, extent, kernel, stride, dilation, pad, counted_from, counted_to, turned);
  }
}

void add(KeyBytes& key, const VectorOp& op) {
  const auto& [inputs, outputs, ops, row, passes, row_work, lane] = op;
  add(key, inputs);
  add(key, outputs);
  key.add(ops).add(row, passes, row_work.has_value(), lane.has_value());
  if (row_work) add(key, *row_work);
  if (lane) add(key, *lane);
}

void add(KeyBytes& key, const MemoryOp& op) {
  const auto& [inputs, outputs, axes, spacing, from, to, picked] = op;
  add(key, inputs);
  add(key, outputs);
  key.add(spacing).add(from, to, axes.size());
  for (const auto& [count, stride] : axes) key.add(count, stride);
  key.add(picked.has_value());
  if (!picked) return;
  const auto& [groups, rows, row, indices] = *picked;
  key.add(groups, rows, row, indices);
}

/// The operand at a port; what is internal to a layer goes through DRAM in the activation type.
Operand operand(const std::vector<Operand>& side, int port, const hw::HwConfig& hw) {
  if (port >= 0 && static_cast<size_t>(port) < side.size()) return side[static_cast<size_t>(port)];
  return {{"(internal)", hw::Memory::dram, false, internal_port(port)}, hw.activation_bytes()};
}

GemmProblem gemm_problem(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw) {
  GemmProblem p = make_problem(op, hw);
  p.a = operand(r.inputs, op.a_port, hw).place;
  p.b = operand(r.inputs, op.b_port, hw).place;
  p.out = operand(r.outputs, op.out_port, hw).place;
  // Beside their weights, where these stay from run to run.
  p.parameters = {p.b.name + " (bias and scale)", p.b.constant ? p.b.memory : hw::Memory::dram,
                  true};
  // Of integers a scale at least, also where they are the weights alone.
  p.has_parameters =
      op.bias_port >= 0 || !is_float(hw.types.accumulator) || !is_float(hw.types.weight);
  p.relu = r.relu;
  p.table = r.table;
  p.room = r.room;
  p.mode = r.mode;
  if (r.residual >= 0) {
    p.residual = operand(r.inputs, r.residual, hw).place;
    p.clips_sum = r.clips_sum;
  }
  choose_weights(p, hw);
  return p;
}

/// Rows of int8 for commands of the machine.
std::optional<RowProblem> row_problem(const RowWork& work, const OpRequest& r,
                                      const hw::HwConfig& hw) {
  const Operand in = operand(r.inputs, work.in_port, hw);
  const Operand out = operand(r.outputs, work.out_port, hw);
  if (in.element_bytes != 1 || out.element_bytes != 1 || !has_row_commands(work, hw))
    return std::nullopt;
  RowProblem p;
  p.work = work;
  p.in = in.place;
  p.out = out.place;
  p.parameters = {in.place.name + (p.softmax() ? " (tables)" : " (gain and shift)"),
                  hw::Memory::dram, true};
  if (work.mask) {
    const Operand mask = operand(r.inputs, work.mask->port, hw);
    if (mask.element_bytes != 1) return std::nullopt;
    p.mask = mask.place;
  }
  if (work.log) {
    const Operand log = operand(r.outputs, work.log->port, hw);
    if (log.element_bytes != 1) return std::nullopt;
    p.log = log.place;
  }
  return p;
}

/// A vector op that lane commands do on a machine of int8; nullopt where they can't.
std::optional<LaneProblem> lane_problem(const VectorOp& op, const OpRequest& r,
                                        const hw::HwConfig& hw) {
  if (!op.lane || hw.types.activation != DType::int8 || op.outputs.size() != 1) return std::nullopt;
  const Operand a = operand(r.inputs, op.lane->a_port, hw);
  const Operand b = operand(r.inputs, op.lane->b_port, hw);
  const Operand out = operand(r.outputs, op.outputs.front().port, hw);
  const bool two = op.lane->has_b();
  if (a.element_bytes != 1 || out.element_bytes != 1 || (two && b.element_bytes != 1))
    return std::nullopt;
  return LaneProblem{*op.lane, a.place, two ? b.place : Place{}, out.place};
}

/// Rows that a list picks, by gathered loads; nullopt where commands can't.
std::optional<GatherProblem> gather_problem(const MemoryOp& op, const OpRequest& r,
                                            const hw::HwConfig& hw) {
  if (!op.picked || op.inputs.size() != 2) return std::nullopt;
  const Operand data = operand(r.inputs, op.inputs[0].port, hw);
  const Operand indices = operand(r.inputs, op.inputs[1].port, hw);
  const Operand out = operand(r.outputs, op.outputs[0].port, hw);
  if (data.element_bytes != out.element_bytes) return std::nullopt;
  const GatherProblem p{*op.picked, data.place,         indices.place,
                        out.place,  data.element_bytes, indices.element_bytes};
  return has_gather_commands(p) ? std::optional(p) : std::nullopt;
}

/// An operand of which only counts what moves: a row at a time of one that has rows.
VectorOperand streamed(const Operand& o, const Access& a) {
  VectorOperand out{o.place, a.elements, o.element_bytes, a.run};
  if (const int64_t row = o.place.pitch.run / o.element_bytes; row > 0)
    out.run = a.run > 0 ? std::min(a.run, row) : row;
  out.place.pitch = {};
  return out;
}

VectorProblem vector_problem(const std::vector<Access>& inputs, const std::vector<Access>& outputs,
                             const OpRequest& r, const hw::HwConfig& hw) {
  VectorProblem p;
  const auto side = [&](const std::vector<Access>& from, const std::vector<Operand>& operands) {
    std::vector<VectorOperand> out;
    for (const Access& a : from) {
      if (a.elements == 0) continue;
      const Operand o = operand(operands, a.port, hw);
      out.push_back(streamed(o, a));
    }
    return out;
  };
  p.inputs = side(inputs, r.inputs);
  p.outputs = side(outputs, r.outputs);
  return p;
}

/// The key of a machine file that says how large groups of weights are, in full and its last word.
std::string group_name(const GemmProblem& p) {
  return p.mode == hw::kOwnTypes ? "weight_group" : "group";
}
std::string group_key(const GemmProblem& p, const hw::HwConfig& hw) {
  if (p.mode == hw::kOwnTypes) return "types.weight_group";
  return fmt::format("the group of {} in types.modes", to_string(hw::type_mode(hw, hw::kOwnTypes)));
}

/// Why no tiling of groups with a scale each can fit: what the smallest tile of one pixel, one
/// output channel and a group's channels needs. "" where that isn't the reason.
std::string groups_too_many(const GemmProblem& p, const hw::HwConfig& hw) {
  if (p.scales() == 1) return "";
  const auto said = [&](const std::string& need, int64_t most_groups, const std::string& what) {
    return fmt::format(
        "{} of '{}' is {}: the {} input channels are {} groups, {}; "
        "use a {} of {} or more, or 0{}",
        group_key(p, hw), hw.name, p.scale_group, p.op.channels, p.scales(), need, group_name(p),
        ceil_div(p.op.channels, std::max<int64_t>(1, most_groups)), what);
  };
  const auto kib = [&](hw::Buffer b, int64_t bytes) {
    return fmt::format(", or {} KiB of the {} buffer (now {} in {} slots)",
                       ceil_div(bytes * hw.buffer(b).slots, 1024), name(b), hw.buffer(b).kib,
                       hw.buffer(b).slots);
  };
  const auto slot = [&](hw::Buffer b) { return hw.buffer(b).slot_bytes(); };
  constexpr int64_t kMost = hw::PostCommand::kMostGroups;
  if (p.scales() > kMost)
    return said(fmt::format("and a post puts {} together at most", kMost), kMost, "");
  if (const int64_t rows = hw.accumulator_rows(); p.scales() > rows)
    return said(fmt::format("each with a row of sums, of which an accumulator slot has {}", rows),
                rows,
                kib(hw::Buffer::accumulator, p.scales() * hw.array.cols * hw.accumulator_bytes()));
  const int64_t parameters = slot(hw::Buffer::parameter);
  if (p.channel_parameters() > parameters)
    return said(fmt::format("and an output channel's parameters {} bytes, of which a parameter "
                            "slot has {}",
                            p.channel_parameters(), parameters),
                1 + (parameters - p.parameter_bytes) / hw::PostCommand::kGroupBytes,
                kib(hw::Buffer::parameter, p.channel_parameters()));
  return "";
}

/// The same where a group, which is a tile, is too large for a slot.
std::string group_too_large(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d) {
  if (p.scales() == 1) return "";
  const Tiling least{.dataflow = d, .channels = p.scale_group};
  const Footprint f = footprint(p, hw, least);
  for (const auto& [b, bytes] :
       {std::pair{hw::Buffer::activation, f.activation}, std::pair{hw::Buffer::weight, f.weight}})
    if (const int64_t slot = hw.buffer(b).slot_bytes(); bytes > slot)
      return fmt::format(
          "{} of '{}' is {}, and a group is never cut: its channels of one output "
          "take {} bytes of the {} buffer, whose slot has {}; use a smaller {}, or {} "
          "KiB of it",
          group_key(p, hw), hw.name, p.scale_group, bytes, name(b), slot, group_name(p),
          ceil_div(bytes * hw.buffer(b).slots, 1024));
  return "";
}

/// Why there is no tiling at all.
Error no_tiling(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d) {
  std::string why = groups_too_many(p, hw);
  if (why.empty()) why = group_too_large(p, hw, d);
  if (why.empty())
    why = fmt::format(
        "no {} tile fits the buffers of '{}' (M {}, K {}, N {}): enlarge the "
        "activation, weight, accumulator or output buffer, use fewer slots, "
        "or drop the --mapping",
        name(d), hw.name, p.op.m(), p.op.k(), p.op.n());
  return {Errc::capacity, std::move(why), ""};
}

/// That a product can't have what the rest of its program has.
Error other_array(bool sums_stay) {
  return {Errc::usage,
          fmt::format("no dataflow of this product keeps {} in the array as other products of the "
                      "network do, and a program is output stationary as a whole or not at all; "
                      "pin all of them (--dataflow) or none",
                      sums_stay ? "sums" : "operands"),
          ""};
}

/// Of tensors in the shared buffer, each by itself.
int64_t shared_bytes(const hw::Program& program) {
  int64_t out = 0;
  for (const hw::ProgramTensor& t : program.tensors)
    if (t.memory == hw::Memory::shared && t.slots == 0) out += t.bytes;
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

}  // namespace

const LayerPorts::Port* LayerPorts::find(const OperandPort& port) const {
  if (port.side != OperandPort::Side::input && port.side != OperandPort::Side::output)
    return nullptr;
  const std::vector<Port>& side = port.side == OperandPort::Side::input ? inputs : outputs;
  return side.empty() ? nullptr : &side[static_cast<size_t>(port.index)];
}

OperandPort LayerPorts::of(const OperandPort& port) const {
  const Port* const found = find(port);
  return found ? OperandPort{port.side, found->index} : port;
}

int64_t LayerPorts::offset(const OperandPort& port) const {
  const Port* const found = find(port);
  return found ? found->offset : 0;
}

std::string key_of(const OpRequest& request) {
  const auto& [item, inputs, outputs, relu, residual, clips_sum, table, room, mode, ports] =
      request;
  static_cast<void>(ports);
  KeyBytes key;
  key.add(item.index(), relu, residual, clips_sum, table, room);
  add(key, inputs);
  add(key, outputs);
  std::visit([&](const auto& work) { add(key, work); }, item);
  // No key is the beginning of another one: what may stand behind it keeps them apart.
  if (mode != hw::kOwnTypes) key.add(mode);
  return key.take();
}

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
  if (auto known = find(request, key)) return known;
  Result<Mapping> found = choose(request, layer);
  if (!found) return found.errors();
  return keep(request, key, std::move(*found));
}

std::shared_ptr<const Mapping> Mapper::find(const OpRequest& request, const std::string& key) {
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;
  const auto& others = known_[std::holds_alternative<GemmOp>(request.item)];
  if (!others) return nullptr;
  MappingMemory::Found known = others->find(key);
  if (known) ++remembered_;
  return known;
}

std::shared_ptr<const Mapping> Mapper::keep(const OpRequest& request, const std::string& key,
                                            Mapping mapping) {
  auto kept = std::make_shared<const Mapping>(std::move(mapping));
  if (const auto& others = known_[std::holds_alternative<GemmOp>(request.item)])
    return others->add(key, std::move(kept));
  return cache_.emplace(key, std::move(kept)).first->second;
}

Result<Mapping> Mapper::choose(const OpRequest& request, const std::string& layer) {
  return checked(search(request, pin_of(layer), options_.aim()), layer);
}

Result<Mapping> Mapper::checked(Result<Mapping> found, const std::string& layer) {
  if (found)
    if (std::optional<Error> error = beyond_reach(found->program)) found = std::move(*error);
  if (!found) {
    Errors errors = found.errors();
    for (Error& e : errors) e.where = "layer '" + layer + "'";
    return errors;
  }
  candidates_ += found->candidates;
  evaluated_ += found->evaluated;
  if (options_.programs) check_program(layer, *found);
  return found;
}

Mapper::View Mapper::view(int mode) {
  if (mode == hw::kOwnTypes) return {hw_, evaluator_};
  auto& known = modes_[mode];
  if (!known) known = std::make_unique<ModeView>(machine_of_mode(hw_, mode));
  return {known->hw, known->evaluator};
}

void Mapper::check_program(const std::string& layer, Mapping& mapping) {
  const int mode = mapping.gemm ? mapping.gemm->problem.mode : hw::kOwnTypes;
  std::string_view lacks = hw::why_not_verifiable(mapping.program);
  std::optional<hw::HwConfig> roomy;
  // What only counts bytes has each that it moves in a place of its own, however often an op reads
  // or writes it.
  if (!lacks.empty() || !mapping.unverifiable.empty()) {
    roomy = view(mode).hw;
    roomy->shared.kib += ceil_div(shared_bytes(mapping.program), 1024);
  }
  if (const Status good = verify(mapping.program, roomy ? *roomy : view(mode).hw); !good)
    check(false,
          "the mapper wrote a bad program for '" + layer + "': " + good.errors().front().text());
  if (lacks.empty() && mode != hw::kOwnTypes) lacks = why_only_timed(type_mode(hw_, mode));
  if (!lacks.empty()) mapping.unverifiable = lacks;
}

std::shared_ptr<const Mapping> Mapper::written(const std::shared_ptr<const Mapping>& mapping,
                                               const std::string& layer) {
  if (!options_.programs) return mapping;
  auto& known = written_[mapping.get()];
  if (known) return known;
  Mapping out = *mapping;
  add_program(mapping->gemm->problem, mapping->gemm->tiling, out);
  check_program(layer, out);
  return known = std::make_shared<const Mapping>(std::move(out));
}

bool Mapper::takes_lanes(const OpRequest& request) const {
  const auto* op = std::get_if<VectorOp>(&request.item);
  const auto lanes = op ? lane_problem(*op, request, hw_) : std::nullopt;
  return lanes && heuristic_lanes(*lanes, hw_);
}

Result<Mapping> Mapper::search(const OpRequest& r, const MappingPin& pin, const Aim& aim) {
  if (const auto* gemm = std::get_if<GemmOp>(&r.item))
    return search_gemm(gemm_problem(*gemm, r, view(r.mode).hw), pin, aim);
  if (const auto* vector = std::get_if<VectorOp>(&r.item)) {
    if (vector->row_work)
      if (const auto rows = row_problem(*vector->row_work, r, hw_))
        if (auto found = search_rows(*rows, pin.chunks)) return std::move(*found);
    if (const auto lanes = lane_problem(*vector, r, hw_))
      if (auto mapping = search_lanes(*lanes, pin.chunks)) return std::move(*mapping);
    VectorProblem p = vector_problem(vector->inputs, vector->outputs, r, hw_);
    p.ops = vector->ops;
    int64_t elements = 1;
    for (const VectorOperand& o : p.inputs) elements = std::max(elements, o.elements);
    p.rows = std::max<int64_t>(1, elements / std::max<int64_t>(1, vector->row));
    p.passes = vector->passes;
    return search_vector(p);
  }
  const auto& memory = std::get<MemoryOp>(r.item);
  if (const auto gather = gather_problem(memory, r, hw_))
    if (auto mapping = search_gather(*gather)) return std::move(*mapping);
  VectorProblem p = vector_problem(memory.inputs, memory.outputs, r, hw_);
  p.axes = memory.axes;
  p.spacing = spacing_of(memory);
  p.from = memory.from;
  p.to = memory.to;
  if (!has_true_program(p)) p.axes.clear();
  return search_vector(p);
}

std::vector<hw::Dataflow> Mapper::dataflows(const MappingPin& pin, int mode) {
  const std::vector<hw::Dataflow>& machine = view(mode).hw.array.dataflows;
  std::vector<hw::Dataflow> out = !pin.dataflow.empty() ? pin.dataflow : options_.dataflows;
  // What sums that stay can't do isn't asked of them.
  if (mode != hw::kOwnTypes && type_mode(hw_, mode).rate != 1)
    std::erase(out, hw::Dataflow::output_stationary);
  if (out.empty()) out = machine;
  if (options_.sums_stay)
    std::erase_if(out, [&](hw::Dataflow d) { return hw::sums_stay(d) != *options_.sums_stay; });
  return out;
}

Result<Mapping> Mapper::search_gemm(const GemmProblem& p, const MappingPin& pin, const Aim& aim) {
  const View on = view(p.mode);
  SpaceOptions space{.dataflows = dataflows(pin, p.mode), .aim = aim};
  space.limit = options_.limit.get();
  if (space.dataflows.empty()) return other_array(*options_.sums_stay);
  space.aim.tensor_bytes = static_cast<double>(p.tensor_bytes());
  TilingChoice choice(space.aim), beyond(beyond_slack(space.aim));
  int64_t timed = 0;
  const auto evaluate = [&](TilingChoice& to, const Tiling& t) {
    ++timed;
    const Cost cost = on.evaluator.cost(p, t);
    const Score its = score(space.aim, cost, on.hw);
    if (space.below_dram_bytes == 0 || its.dram_bytes < space.below_dram_bytes)
      to.offer(t, cost, its);
    return cost.timing.total.count();
  };
  const auto look = [&](TilingChoice& to) {
    return sim::search(p, on.hw, space, pin, to.found(), [&](const Candidate& c) {
      check(std::max(c.bound, c.sharp) <= evaluate(to, c.tiling),
            "a mapping's bound exceeds its cycles");
      return to.found();
    });
  };
  if (p.scales() > hw::PostCommand::kMostGroups)
    return no_tiling(p, on.hw, space.dataflows.front());
  // The rule's tiling is a good mapping to begin with: most others can't be better.
  if (pin.free())
    if (const auto t = heuristic_tiling(p, on.hw, space.dataflows.front())) {
      if (options_.only_links()) return by_rule(on.evaluator, p, *t);
      evaluate(choice, *t);
    }
  int64_t considered = timed;
  if (choice.empty() || options_.effort == MapEffort::search) considered += look(choice);
  if (choice.empty()) return no_tiling(p, on.hw, space.dataflows.front());
  const auto mapping_of = [&](const TilingChoice::Timed& found) {
    Mapping m = costed(found.cost, timed, considered);
    m.link = on.evaluator.link(p, found.tiling);
    m.tensor_bytes = space.aim.tensor_bytes;
    check(m.counts.macs == Macs(p.op.macs()), "a program's MACs differ from its op's");
    if (options_.programs) m.gemm = {p, found.tiling};
    return m;
  };
  const int64_t dram_bytes = choice.chosen().score.dram_bytes;
  if (space.aim.slackens() && options_.effort == MapEffort::search &&
      dram_bytes > p.dram_tensor_bytes()) {
    for (const TilingChoice::Timed* t : {&choice.fewest(), &choice.chosen()})
      beyond.offer(t->tiling, t->cost, t->score);
    space.aim = beyond_slack(space.aim);
    space.below_dram_bytes = dram_bytes;
    considered += look(beyond);
  }
  Mapping out = mapping_of(choice.chosen());
  if (options_.programs) add_program(p, choice.chosen().tiling, out);
  if (choice.chosen().score.cycles > choice.fewest().score.cycles)
    out.fewest = std::make_shared<const Mapping>(mapping_of(choice.fewest()));
  if (!beyond.empty() && beyond.chosen().score.dram_bytes < dram_bytes)
    out.beyond = std::make_shared<const Mapping>(mapping_of(beyond.chosen()));
  return out;
}

void Mapper::add_program(const GemmProblem& p, const Tiling& tiling, Mapping& mapping) {
  mapping.program = emit(p, view(p.mode).hw, tiling);
  mapping.unverifiable = "";
  mapping.description = to_string(tiling);
}

}  // namespace accsim::sim
