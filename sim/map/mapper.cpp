#include "sim/map/mapper.h"

#include <algorithm>
#include <fnmatch.h>

#include <fmt/format.h>

namespace accsim {
namespace {

/// Numbers and places that the answer depends on, as a cache key.
class Key {
 public:
  template <class... T>
  Key& add(const T&... values) {
    (text_.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return *this;
  }
  Key& add(const std::vector<Access>& side) {
    add(side.size());
    for (const Access& a : side) add(a.port, a.elements, a.run);
    return *this;
  }
  Key& add(const std::vector<Operand>& side) {
    add(side.size());
    for (const Operand& o : side) add(o.place.memory, o.place.constant, o.element_bytes);
    return *this;
  }
  Key& add(const MappingPin& pin) {
    text_ += pin.layers;
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_item(Key& key, const GemmOp& g) {
  key.add(g.batch, g.images, g.channels, g.outputs, g.in, g.out, g.kernel, g.stride, g.dilation,
          g.pad, g.grouped, g.a_shared, g.b_shared, g.a_transposed, g.b_transposed, g.a_port,
          g.b_port, g.bias_port, g.out_port);
}
void add_item(Key& key, const VectorOp& v) {
  key.add(v.inputs).add(v.outputs).add(v.ops, v.row, v.passes);
}
void add_item(Key& key, const MemoryOp& m) { key.add(m.inputs).add(m.outputs); }

std::string key_of(const OpRequest& r, const MappingPin& pin) {
  Key key;
  key.add(r.item.index(), r.relu).add(r.inputs).add(r.outputs).add(pin);
  std::visit([&](const auto& item) { add_item(key, item); }, r.item);
  return key.take();
}

/// The operand at a port; what is internal to a layer goes through DRAM in the activation type.
Operand operand(const std::vector<Operand>& side, int port, const HwConfig& hw) {
  if (port >= 0 && static_cast<size_t>(port) < side.size()) return side[static_cast<size_t>(port)];
  return {{"(internal)", Memory::dram, false}, hw.activation_bytes()};
}

GemmProblem gemm_problem(const GemmOp& op, const OpRequest& r, const HwConfig& hw) {
  GemmProblem p = make_problem(op, hw);
  p.a = operand(r.inputs, op.a_port, hw).place;
  p.b = operand(r.inputs, op.b_port, hw).place;
  p.out = operand(r.outputs, op.out_port, hw).place;
  p.parameters = {p.b.name + " (bias and scale)", Memory::dram, true};
  p.has_parameters = op.bias_port >= 0 || !is_float(hw.types.accumulator);
  p.relu = r.relu;
  return p;
}

StreamProblem stream_problem(const std::vector<Access>& inputs, const std::vector<Access>& outputs,
                             const OpRequest& r, const HwConfig& hw) {
  StreamProblem p;
  const auto side = [&](const std::vector<Access>& from, const std::vector<Operand>& operands) {
    std::vector<StreamOperand> out;
    for (const Access& a : from) {
      if (a.elements == 0) continue;
      const Operand o = operand(operands, a.port, hw);
      out.push_back({o.place, a.elements, o.element_bytes, a.run});
    }
    return out;
  };
  p.inputs = side(inputs, r.inputs);
  p.outputs = side(outputs, r.outputs);
  return p;
}

Mapping finish(Program program, const Cost& cost, std::string description) {
  Mapping m;
  m.program = std::move(program);
  m.counts = cost.counts;
  m.timing = cost.timing;
  m.description = std::move(description);
  return m;
}

}  // namespace

const MappingPin& Mapper::pin_of(const std::string& layer) const {
  static const MappingPin kFree;
  for (const MappingPin& pin : options_.pins)
    if (pin.layers.empty() || fnmatch(pin.layers.c_str(), layer.c_str(), 0) == 0) return pin;
  return kFree;
}

Result<std::shared_ptr<const Mapping>> Mapper::map(const OpRequest& request,
                                                   const std::string& layer) {
  const MappingPin& pin = pin_of(layer);
  const std::string key = key_of(request, pin);
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;
  Result<Mapping> found = search(request, pin);
  if (!found) {
    Errors errors = found.errors();
    for (Error& e : errors) e.where = "layer '" + layer + "'";
    return errors;
  }
  auto mapping = std::make_shared<const Mapping>(std::move(found).value());
  if (const Status good = verify(mapping->program, hw_); !good)
    check(false, "the mapper wrote a bad program for '" + layer +
                     "': " + good.errors().front().text());
  cache_.emplace(key, mapping);
  return std::shared_ptr<const Mapping>(mapping);
}

Result<Mapping> Mapper::search(const OpRequest& r, const MappingPin& pin) {
  if (const auto* gemm = std::get_if<GemmOp>(&r.item))
    return search_gemm(gemm_problem(*gemm, r, hw_), pin);
  if (const auto* vector = std::get_if<VectorOp>(&r.item)) {
    StreamProblem p = stream_problem(vector->inputs, vector->outputs, r, hw_);
    p.ops = vector->ops;
    int64_t elements = 1;
    for (const StreamOperand& o : p.inputs) elements = std::max(elements, o.elements);
    p.rows = std::max<int64_t>(1, elements / std::max<int64_t>(1, vector->row));
    p.passes = vector->passes;
    return search_stream(p);
  }
  const auto& memory = std::get<MemoryOp>(r.item);
  return search_stream(stream_problem(memory.inputs, memory.outputs, r, hw_));
}

Result<Mapping> Mapper::search_gemm(const GemmProblem& p, const MappingPin& pin) {
  std::vector<Dataflow> dataflows = pin.dataflow;
  if (dataflows.empty()) dataflows = options_.dataflows;
  if (dataflows.empty()) dataflows = hw_.array.dataflows;
  const std::vector<Candidate> all = candidates(p, hw_, dataflows, pin);
  if (all.empty())
    return Error{Errc::capacity,
                 fmt::format("no {} tile fits the buffers of '{}' (M {}, K {}, N {}): enlarge the "
                             "activation, weight, accumulator or output buffer, use fewer slots, "
                             "or drop the --mapping",
                             name(dataflows.front()), hw_.name, p.op.m(), p.op.k(), p.op.n()),
                 ""};
  std::optional<Cost> best;
  const Candidate* chosen = nullptr;
  int64_t evaluated = 0;
  for (const Candidate& c : all) {
    if (best && c.bound >= best->timing.total.count()) break;
    const Cost cost = coster_.cost(p, c.tiling);
    ++evaluated;
    check(c.bound <= cost.timing.total.count(), "a mapping's bound exceeds its cycles");
    if (best && cost.timing.total >= best->timing.total) continue;
    best = cost;
    chosen = &c;
  }
  Mapping out = finish(emit(p, hw_, chosen->tiling), *best, to_string(chosen->tiling));
  out.gemm = {p, chosen->tiling};
  out.candidates = static_cast<int64_t>(all.size());
  out.evaluated = evaluated;
  check(out.counts.macs == Macs(p.op.macs()), "a program's MACs differ from its op's");
  return out;
}

Result<Mapping> Mapper::search_stream(const StreamProblem& p) {
  int64_t elements = 1;
  for (const auto* side : {&p.inputs, &p.outputs})
    for (const StreamOperand& o : *side) elements = std::max(elements, o.elements);
  struct Choice {
    int64_t bound, chunks, passes;
  };
  std::vector<Choice> choices;  // whatever the capacities, so that larger buffers only add some
  const auto add = [&](int64_t chunks) {
    const int64_t passes = chunks <= p.rows ? 1 : p.passes;
    if (chunks <= elements && fits(p, hw_, chunks))
      choices.push_back({lower_bound(p, hw_, chunks, passes), chunks, passes});
  };
  for (int64_t n = 1; n <= elements; n *= 2) {
    add(n);
    if (n >= 2) add(n + n / 2);
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.bound < b.bound; });
  std::optional<Cost> best;
  const Choice* chosen = nullptr;
  int64_t evaluated = 0;
  for (const Choice& c : choices) {
    if (best && c.bound >= best->timing.total.count()) break;
    const Cost cost = coster_.cost(p, c.chunks, c.passes);
    ++evaluated;
    check(c.bound <= cost.timing.total.count(), "a mapping's bound exceeds its cycles");
    if (best && cost.timing.total >= best->timing.total) continue;
    best = cost;
    chosen = &c;
  }
  if (!chosen)
    return Error{Errc::capacity,
                 fmt::format("no chunk of it fits the activation and output buffers of '{}': "
                             "enlarge them or use fewer slots",
                             hw_.name),
                 ""};
  const auto& [bound, chunks, passes] = *chosen;
  Mapping out = finish(emit(p, hw_, chunks, passes), *best,
                       fmt::format("{} chunk{}{}", chunks, chunks == 1 ? "" : "s",
                                   passes > 1 ? fmt::format(", {} passes", passes) : ""));
  out.candidates = static_cast<int64_t>(choices.size());
  out.evaluated = evaluated;
  return out;
}

}  // namespace accsim
