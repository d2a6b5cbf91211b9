#pragma once
#include "sim/map/program_description.h"
#include "sim/map/rows/row_operands.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program that works on rows chunk by chunk: a load into an activation slot, the mask's
/// rows behind it, the command, a store.
template <class Sink>
class RowEmitter {
 public:
  RowEmitter(const RowProblem& p, const RowTile& t, Sink& sink) : p_(p), t_(t), sink_(sink) {}

  void write_program() {
    const int64_t bytes = p_.work.element_count();
    sink_.add_tensor(p_.in, bytes);
    sink_.add_tensor(p_.out, bytes);
    if (p_.work.mask) sink_.add_tensor(p_.mask, p_.work.mask->elements);
    if (p_.work.log) sink_.add_tensor(p_.log, p_.work.row_count());
    sink_.add_tensor(p_.parameters, p_.parameter_bytes(p_.work.rows));
    if (loads_parameters_once()) {
      load_parameters(parameter_part(p_, p_.work.rows).walk, Address(0));
      add_sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::parameter);
    }
    write_level(0, {});
    if (loads_parameters_once())
      add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

 private:
  using Address = typename Sink::Address;

  /// Where a chunk begins, in bytes of the tensors.
  struct Start {
    Address rows{0}, mask{0}, log{0}, parameters{0};
  };

  bool loads_parameters_once() const { return t_.parameters == RowParameters::once; }
  int log_tensor() const { return p_.work.mask ? 3 : 2; }
  int parameter_tensor() const { return log_tensor() + (p_.work.log ? 1 : 0); }
  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  void write_level(size_t l, const Start& start) {
    if (l == kRowLevels) return write_chunk(start);
    const auto segments = split(p_.work.rows[l], t_.rows[l]);
    for_segments(sink_, "rows", std::span(segments.data(), segments.size()),
                 [&](const Segment& s, const Address& at, int) {
                   Start next = start;
                   next.rows += at * p_.work.row_stride[l];
                   if (p_.work.mask) next.mask += at * p_.work.mask->row_stride[l];
                   if (p_.work.log) next.log += at * p_.work.log->row_stride[l];
                   next.parameters +=
                       at * (p_.work.channel_stride[l] * hw::RowCommand::kChannelBytes);
                   rows_[l] = s.size;
                   write_level(l + 1, next);
                 });
  }

  void load_parameters(const hw::Walk& walk, const Address& from) {
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    sink_.add_load(hw::Buffer::parameter, parameter_tensor(), walk,
                   [&](auto& c) { c.source = from; });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
  }

  void load_rows(const Start& start) {
    const RowPart in = rows_part(p_, rows_);
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::activation);
    sink_.add_load(hw::Buffer::activation, 0, in.walk, [&](auto& c) { c.source = start.rows; });
    if (p_.work.mask)
      sink_.add_load(hw::Buffer::activation, 2, mask_part(p_, rows_).walk, [&](auto& c) {
        c.source = start.mask;
        c.slot_offset = in.bytes;
      });
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::activation);
  }

  /// The command, with parameters of its own unless all of them are there.
  void write_command(const Start& start, int64_t half) {
    const hw::RowCommand c = row_command(p_, t_, rows_, half);
    if (!loads_parameters_once()) {
      hw::Walk walk = parameter_part(p_, rows_).walk;
      if (t_.parameters == RowParameters::halves) walk.run /= 2;
      load_parameters(walk, start.parameters + Address(half * walk.run));
      add_sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::parameter);
    }
    sink_.add_row(c, [&](auto& command) {
      if (loads_parameters_once()) command.parameter_offset = start.parameters;
    });
    if (!loads_parameters_once())
      add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

  void write_chunk(const Start& start) {
    load_rows(start);
    add_sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::activation);
    add_sync(hw::SyncKind::wait_free, hw::Queue::vector, hw::Buffer::output);
    for (int64_t half = 0; half < row_commands(t_); ++half) write_command(start, half);
    add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::activation);
    add_sync(hw::SyncKind::signal_full, hw::Queue::vector, hw::Buffer::output);
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    sink_.add_store(1, rows_part(p_, rows_).walk, [&](auto& c) { c.target = start.rows; });
    if (p_.work.log)
      sink_.add_store(log_tensor(), log_part(p_, rows_).walk, [&](auto& c) {
        c.target = start.log;
        c.slot_offset = log_offset(p_, rows_);
      });
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  const RowProblem& p_;
  const RowTile& t_;
  Sink& sink_;
  RowNest rows_{};
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const RowProblem& p, const hw::HwConfig&, const RowTile& t, Sink& to) {
  RowEmitter(p, t, to).write_program();
}

}  // namespace accsim::sim
