#pragma once
#include "sim/map/program_sinks.h"
#include "sim/map/rows/row_operands.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {

/// Writes the program that works on rows chunk by chunk: a load into an activation slot, the mask's
/// rows behind it, the command, a store.
template <class Sink>
class RowEmitter {
 public:
  RowEmitter(const RowProblem& p, const RowTile& t, Sink& sink) : p_(p), t_(t), sink_(sink) {}

  void run() {
    const int64_t bytes = p_.work.elements();
    sink_.tensor(p_.in, bytes);
    sink_.tensor(p_.out, bytes);
    if (p_.work.mask) sink_.tensor(p_.mask, p_.work.mask->elements);
    if (p_.work.log) sink_.tensor(p_.log, p_.work.row_count());
    sink_.tensor(p_.parameters, p_.parameter_bytes(p_.work.rows));
    if (once()) {
      load_parameters(parameter_part(p_, p_.work.rows).walk, Address(0));
      sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::parameter);
    }
    level(0, {});
    if (once()) sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

 private:
  using Address = typename Sink::Address;

  /// Where a chunk begins, in bytes of the tensors.
  struct Start {
    Address rows{0}, mask{0}, log{0}, parameters{0};
  };

  bool once() const { return t_.parameters == RowParameters::once; }
  int log_tensor() const { return p_.work.mask ? 3 : 2; }
  int parameter_tensor() const { return log_tensor() + (p_.work.log ? 1 : 0); }
  void sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) { sink_.sync(kind, queue, b); }

  void level(size_t l, const Start& start) {
    if (l == kRowLevels) return chunk(start);
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
                   level(l + 1, next);
                 });
  }

  void load_parameters(const hw::Walk& walk, const Address& from) {
    sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::parameter);
    sink_.load(hw::Buffer::parameter, parameter_tensor(), walk, [&](auto& c) { c.source = from; });
    sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::parameter);
  }

  void load_rows(const Start& start) {
    const RowPart in = rows_part(p_, rows_);
    sync(hw::SyncKind::wait_free, hw::Queue::load, hw::Buffer::activation);
    sink_.load(hw::Buffer::activation, 0, in.walk, [&](auto& c) { c.source = start.rows; });
    if (p_.work.mask)
      sink_.load(hw::Buffer::activation, 2, mask_part(p_, rows_).walk, [&](auto& c) {
        c.source = start.mask;
        c.slot_offset = in.bytes;
      });
    sync(hw::SyncKind::signal_full, hw::Queue::load, hw::Buffer::activation);
  }

  /// The command, with parameters of its own unless all of them are there.
  void work(const Start& start, int64_t half) {
    const hw::RowCommand c = row_command(p_, t_, rows_, half);
    if (!once()) {
      hw::Walk walk = parameter_part(p_, rows_).walk;
      if (t_.parameters == RowParameters::halves) walk.run /= 2;
      load_parameters(walk, start.parameters + Address(half * walk.run));
      sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::parameter);
    }
    sink_.row(c, [&](auto& command) {
      if (once()) command.parameter_offset = start.parameters;
    });
    if (!once()) sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::parameter);
  }

  void chunk(const Start& start) {
    load_rows(start);
    sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::activation);
    sync(hw::SyncKind::wait_free, hw::Queue::vector, hw::Buffer::output);
    for (int64_t half = 0; half < row_commands(t_); ++half) work(start, half);
    sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::activation);
    sync(hw::SyncKind::signal_full, hw::Queue::vector, hw::Buffer::output);
    sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    sink_.store(1, rows_part(p_, rows_).walk, [&](auto& c) { c.target = start.rows; });
    if (p_.work.log)
      sink_.store(log_tensor(), log_part(p_, rows_).walk, [&](auto& c) {
        c.target = start.log;
        c.slot_offset = log_offset(p_, rows_);
      });
    sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  const RowProblem& p_;
  const RowTile& t_;
  Sink& sink_;
  RowNest rows_{};
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const RowProblem& p, const hw::HwConfig&, const RowTile& t, Sink& to) {
  RowEmitter(p, t, to).run();
}

}  // namespace accsim::sim
