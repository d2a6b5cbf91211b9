#include "hw/golden/golden.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/golden/machine.h"
#include "hw/program/core_runs.h"
#include "hw/program/visit.h"

namespace accsim::hw {

GoldenMachine::GoldenMachine(const Program& program, const HwConfig& hw, MemoryImage& image,
                             bool records)
    : program_(program), hw_(hw), image_(image), records_(records), dataflow_(program.dataflow) {
  for (size_t b = 0; b < kBuffers; ++b)
    rings_[b] = SlotRing(hw.buffers[b].slots, hw.buffers[b].slot_bytes());
  regions_.resize(program.tensors.size());
  index_.assign(static_cast<size_t>(program.loops), -1);
  array_.resize(static_cast<size_t>(hw.array.rows * hw.array.cols));
  retired_.ordinal = -1;
  flatten_program();
  for (Table* t : {&post_table_, &vector_table_})
    poison_.fill({reinterpret_cast<uint8_t*>(t->data()), t->size()});
}

Result<bool> GoldenMachine::step() {
  bool retired = false;
  while (at_ < ops_.size() && !retired && !has_failed()) retired = execute_op();
  if (error_) return *error_;
  return retired;
}

void GoldenMachine::fail(Errc code, std::string message) {
  if (error_) return;
  std::string where = "program " + program_.name;
  for (const Loop* l : nest_)
    where += fmt::format(" / {}={}", l->name, index_[static_cast<size_t>(l->id)]);
  error_ = {code, std::move(message), where + fmt::format(", command {}", retired_.ordinal)};
}

// ---- the loop nest ------------------------------------------------------------------------------

void GoldenMachine::flatten_program() {
  // Marks are left out: the text's order is the order in which everything happens here.
  const auto loop = [this](const Loop& l, const auto& inner) {
    const size_t begin = ops_.size();
    ops_.push_back({.loop = &l});
    inner();
    ops_[begin].jump = ops_.size();
    ops_.push_back({.loop = &l, .ends = true, .jump = begin});
  };
  const auto sync = [this](const Sync& s) { ops_.push_back({.sync = &s}); };
  const auto head = [this](const LayerHead& h) { ops_.push_back({.head = &h}); };
  const auto command = [this](const Command& c) { ops_.push_back({.command = &c}); };
  visit_nest(program_.body, Overloaded{loop, sync, head, command});
}

bool GoldenMachine::execute_op() {
  const Op& op = ops_[at_++];
  if (op.loop) {
    if (op.ends)
      finish_iteration(op);
    else
      enter_loop(op);
  } else if (op.sync) {
    visit(*op.sync);
  } else if (op.head) {
    layer_ = op.head;
    dataflow_ = op.head->dataflow;
  } else {
    visit(*op.command);
  }
  return op.command != nullptr;
}

void GoldenMachine::enter_loop(const Op& op) {
  const Loop& loop = *op.loop;
  if (loop.id < 0 || loop.id >= program_.loops)
    return fail(Errc::invalid,
                fmt::format("loop '{}' has id {} of {}", loop.name, loop.id, program_.loops));
  if (loop.count < 1) {
    at_ = op.jump + 1;
    return;
  }
  index_[static_cast<size_t>(loop.id)] = 0;
  nest_.push_back(&loop);
}

void GoldenMachine::finish_iteration(const Op& op) {
  int64_t& index = index_[static_cast<size_t>(op.loop->id)];
  if (++index < op.loop->count) {
    at_ = op.jump + 1;
    return;
  }
  index = -1;
  nest_.pop_back();
}

bool GoldenMachine::apply_to_region(const Sync& s) {
  const int64_t slots = program_.tensors[index(s.region)].slots;
  Region& r = regions_[index(s.region)];
  switch (s.kind) {
    case SyncKind::wait_free:
      return !std::exchange(r.filling, true) && r.filled - r.read < slots;
    case SyncKind::signal_full:
      ++r.filled;
      return std::exchange(r.filling, false);
    case SyncKind::wait_full:
      return !std::exchange(r.held, true) && r.filled > r.read;
    case SyncKind::signal_free:
      ++r.read;
      return std::exchange(r.held, false);
    default:
      return false;
  }
}

void GoldenMachine::visit(const Sync& sync) {
  if (sync.region >= 0) {
    if (index(sync.region) >= regions_.size() || !apply_to_region(sync))
      fail(Errc::invalid,
           fmt::format("{} on region {}: no token can come", name(sync.kind), sync.region));
    return;
  }
  if (!slot_ring(sync.buffer).apply_sync(sync.kind, poison_))
    fail(Errc::invalid,
         fmt::format("{} on {}: no token can come", name(sync.kind), name(sync.buffer)));
}

void GoldenMachine::visit(const Command& command) {
  retired_.command = &command;
  ++retired_.ordinal;
  retired_.address = retired_.slot = retired_.row = 0;
  retired_.in_array = retired_.overwrites = false;
  retired_.dataflow = dataflow_;
  retired_.a = retired_.b = {};
  retired_.scales.clear();
  retired_.group_multipliers.clear();
  retired_.sums.clear();
  retired_.bytes.clear();
  std::visit([this](const auto& c) { execute(c); }, command);
  if (records_) retired_.loop_indices = index_;
}

// ---- addresses ----------------------------------------------------------------------------------

int64_t GoldenMachine::affine_value(const Affine& a) {
  int64_t sum = a.base;
  for (const Affine::Term& t : a.terms) {
    if (t.loop < 0 || t.loop >= program_.loops || index_[static_cast<size_t>(t.loop)] < 0) {
      fail(Errc::invalid,
           fmt::format("an address depends on loop {}, which isn't around it", t.loop));
      return -1;
    }
    sum += t.coeff * index_[static_cast<size_t>(t.loop)];
  }
  return sum;
}

bool GoldenMachine::check_inside(int64_t first, int64_t bytes, int64_t limit,
                                 std::string_view what) {
  if (first >= 0 && bytes >= 0 && first <= limit && bytes <= limit - first) return true;
  fail(Errc::invalid, fmt::format("{}: [{}, {}) of {}", what, first, add_far(first, bytes), limit));
  return false;
}

std::vector<uint8_t>* GoldenMachine::tensor_bytes(int index) {
  if (index >= 0 && static_cast<size_t>(index) < image_.size())
    return &image_[static_cast<size_t>(index)];
  fail(Errc::invalid, fmt::format("tensor {} of {}", index, image_.size()));
  return nullptr;
}

std::span<uint8_t> GoldenMachine::reachable_bytes(int index, bool fills) {
  std::vector<uint8_t>* all = tensor_bytes(index);
  if (!all) return {};
  const ProgramTensor& t = program_.tensors[static_cast<size_t>(index)];
  if (t.slots <= 0) return *all;
  const Region& r = regions_[static_cast<size_t>(index)];
  if (!(fills ? r.filling : r.held)) {
    fail(Errc::invalid,
         fmt::format("region '{}' is {} without a slot", t.name, fills ? "written" : "read"));
    return {};
  }
  const int64_t slot = (fills ? r.filled : r.read) % t.slots;
  return std::span(*all).subspan(static_cast<size_t>(slot * t.slot_bytes()),
                                 static_cast<size_t>(t.slot_bytes()));
}

bool GoldenMachine::overwrites_sums(const std::vector<int>& first_of, bool accumulate) const {
  if (accumulate) return false;
  return std::all_of(first_of.begin(), first_of.end(), [this](int loop) {
    return loop >= 0 && loop < program_.loops && index_[static_cast<size_t>(loop)] <= 0;
  });
}

// ---- entry --------------------------------------------------------------------------------------

namespace {

Status check_machine(const HwConfig& hw) {
  const TypesConfig& t = hw.types;
  if (core_lacks(hw) == CoreLack::types)
    return Error{Errc::unsupported,
                 fmt::format("the golden machine computes int8 x int8 -> int32, not {} x {} -> {}",
                             name(t.activation), name(t.weight), name(t.accumulator)),
                 "machine '" + hw.name + "'"};
  return ok();
}

Status check_image(const Program& program, const MemoryImage& image) {
  const std::string where = "program " + program.name;
  if (image.size() != program.tensors.size())
    return Error{Errc::invalid,
                 fmt::format("the memory image has {} tensors, the program {}", image.size(),
                             program.tensors.size()),
                 where};
  for (size_t i = 0; i < image.size(); ++i)
    if (std::ssize(image[i]) != program.tensors[i].bytes)
      return Error{Errc::invalid,
                   fmt::format("tensor '{}' has {} bytes in the memory image, {} in the program",
                               program.tensors[i].name, image[i].size(), program.tensors[i].bytes),
                   where};
  return ok();
}

}  // namespace

Status can_run(const Program& program, const HwConfig& hw, const MemoryImage& image) {
  if (Status s = check_machine(hw); !s) return s;
  return check_image(program, image);
}

Status run_golden(const Program& program, const HwConfig& hw, MemoryImage& image,
                  const RetireHook& retired) {
  if (Status s = can_run(program, hw, image); !s) return s;
  GoldenMachine machine(program, hw, image, retired != nullptr);
  for (;;) {
    const Result<bool> more = machine.step();
    if (!more) return more.errors();
    if (!*more) return ok();
    if (retired) retired(machine.retired());
  }
}

}  // namespace accsim::hw
