#pragma once
#include <algorithm>

#include "sim/map/program_description.h"
#include "sim/map/stream/stream_problem.h"

namespace accsim::sim {

/// Elements of the last of `chunks` chunks; the others have elements / chunks.
inline int64_t last_chunk(int64_t elements, int64_t chunks) {
  return elements - elements / chunks * (chunks - 1);
}

/// Elements of an operand, on its side of the problem, of one of the first chunks or of the last
/// one. What a move puts together of several operands, or takes apart into several, is what these
/// come to: it stores all that it has loaded and no more.
inline int64_t chunk_elements(const StreamProblem& p, const VectorOperand& o, bool is_input,
                              int64_t chunks, bool last) {
  const auto equal = [&](const VectorOperand& of) {
    return last ? last_chunk(of.elements, chunks) : of.elements / chunks;
  };
  const std::vector<VectorOperand>& parts = is_input ? p.outputs : p.inputs;
  const bool whole = (is_input ? p.inputs : p.outputs).size() == 1 && parts.size() > 1;
  int64_t all = 0, in_chunk = 0;
  for (const VectorOperand& part : parts) {
    if (part.element_bytes != o.element_bytes) return equal(o);
    all += part.elements;
    in_chunk += equal(part);
  }
  return whole && !p.is_vector() && all == o.elements ? in_chunk : equal(o);
}

/// A contiguous part of a chunk that one walk covers.
struct Piece {
  int64_t start;  ///< bytes from the start of the chunk
  hw::Walk walk;
};

/// The first `elements` elements of an operand as walks: one over whole runs and, where they leave
/// a remainder, one over that.
inline InlineVector<Piece, 2> transfer_pieces(const VectorOperand& o, int64_t elements) {
  if (elements == 0) return {};
  const int64_t run = o.run > 0 ? std::min(o.run, elements) : elements;
  const int64_t rest = elements % run, whole = (elements - rest) * o.element_bytes;
  InlineVector<Piece, 2> out;
  out.push_back({0, {{{elements / run, run * o.element_bytes}}, run * o.element_bytes}});
  if (rest > 0) out.push_back({whole, {{}, rest * o.element_bytes}});
  return out;
}

/// Writes the program that moves a vector or memory op through the slots in `chunks` chunks and
/// `passes` passes over the inputs: of each chunk a load, the operations, a store.
template <class Sink>
class StreamEmitter {
 public:
  StreamEmitter(const StreamProblem& p, int64_t chunks, int64_t passes, Sink& sink)
      : p_(p), chunks_(chunks), passes_(passes), sink_(sink) {}

  void write_program() {
    for (const auto* side : {&p_.inputs, &p_.outputs})
      for (const VectorOperand& o : *side) sink_.add_tensor(o.place, o.bytes());
    if (chunks_ > 1) sink_.add_loop("chunk", chunks_ - 1, [&](int loop) { write_chunk(loop); });
    write_chunk(-1);
  }

 private:
  using Address = typename Sink::Address;

  bool is_last(int loop) const { return loop < 0; }
  bool is_input(const VectorOperand& o) const {
    return !p_.inputs.empty() && &o >= &p_.inputs.front() && &o <= &p_.inputs.back();
  }
  int64_t elements_of_chunk(const VectorOperand& o, int loop) const {
    return chunk_elements(p_, o, is_input(o), chunks_, is_last(loop));
  }
  Address chunk_address(const VectorOperand& o, int loop) const {
    const int64_t step = chunk_elements(p_, o, is_input(o), chunks_, false) * o.element_bytes;
    if (is_last(loop)) return Address(step * (chunks_ - 1));
    Address a;
    a.add_term(loop, step);
    return a;
  }

  void add_sync(hw::SyncKind kind, hw::Queue queue, hw::Buffer b) {
    sink_.add_sync(kind, queue, b);
  }

  void write_chunk(int loop) {
    if (!p_.is_vector()) {
      load_chunk(loop, hw::Buffer::output);
      store_chunk(loop);
      return;
    }
    // All passes but the last only reduce; their cost in operations is part of the op's total.
    if (passes_of_chunk(loop) > 1)
      sink_.add_loop("pass", passes_of_chunk(loop) - 1, [&](int) {
        load_chunk(loop, hw::Buffer::activation);
        add_sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::activation);
        sink_.add_vector(vector_command(loop, false));
        add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::activation);
      });
    const bool reads = load_chunk(loop, hw::Buffer::activation);
    const bool writes = chunk_bytes(p_.outputs, loop) > 0;
    if (reads) add_sync(hw::SyncKind::wait_full, hw::Queue::vector, hw::Buffer::activation);
    if (writes) add_sync(hw::SyncKind::wait_free, hw::Queue::vector, hw::Buffer::output);
    sink_.add_vector(vector_command(loop, true));
    if (reads) add_sync(hw::SyncKind::signal_free, hw::Queue::vector, hw::Buffer::activation);
    if (writes) add_sync(hw::SyncKind::signal_full, hw::Queue::vector, hw::Buffer::output);
    store_chunk(loop);
  }

  int64_t chunk_bytes(const std::vector<VectorOperand>& side, int loop) const {
    int64_t sum = 0;
    for (const VectorOperand& o : side) sum += elements_of_chunk(o, loop) * o.element_bytes;
    return sum;
  }

  /// A chunk that has nothing to read does its operations in one pass.
  int64_t passes_of_chunk(int loop) const { return chunk_bytes(p_.inputs, loop) > 0 ? passes_ : 1; }

  /// Loads the chunk's inputs into one slot; false when there is nothing to load.
  bool load_chunk(int loop, hw::Buffer buffer) {
    const bool memory = buffer == hw::Buffer::output;
    if (chunk_bytes(p_.inputs, loop) == 0) {
      if (memory && chunk_bytes(p_.outputs, loop) > 0) {
        add_sync(hw::SyncKind::wait_free, hw::Queue::store, buffer);
        add_sync(hw::SyncKind::signal_full, hw::Queue::store, buffer);
      }
      return false;
    }
    add_sync(hw::SyncKind::wait_free, hw::Queue::load, buffer);
    int64_t filled = 0;
    for (size_t i = 0; i < p_.inputs.size(); ++i) {
      const VectorOperand& o = p_.inputs[i];
      for (const Piece& piece : transfer_pieces(o, elements_of_chunk(o, loop))) {
        sink_.add_load(buffer, static_cast<int>(i), piece.walk, [&](auto& c) {
          c.source = chunk_address(o, loop) + Address(piece.start);
          c.slot_offset = filled;
        });
        filled += piece.walk.bytes();
      }
    }
    add_sync(hw::SyncKind::signal_full, hw::Queue::load, buffer);
    return true;
  }

  hw::VectorCommand vector_command(int loop, bool writes) const {
    hw::VectorCommand c;
    for (size_t i = 0; i < kVectorClasses; ++i)
      // The passes share the operations; the last one takes what doesn't divide.
      c.ops[i] = ops_of_pass(is_last(loop) ? last_chunk(p_.ops[i], chunks_) : p_.ops[i] / chunks_,
                             passes_of_chunk(loop), writes);
    c.in_bytes = chunk_bytes(p_.inputs, loop);
    c.out_bytes = writes ? chunk_bytes(p_.outputs, loop) : 0;
    return c;
  }
  static int64_t ops_of_pass(int64_t ops, int64_t passes, bool final_pass) {
    return final_pass ? last_chunk(ops, passes) : ops / passes;
  }

  void store_chunk(int loop) {
    if (chunk_bytes(p_.outputs, loop) == 0) {
      check(p_.is_vector() || chunk_bytes(p_.inputs, loop) == 0,
            "a move that loads and never stores");
      return;
    }
    add_sync(hw::SyncKind::wait_full, hw::Queue::store, hw::Buffer::output);
    int64_t drained = 0;
    for (size_t i = 0; i < p_.outputs.size(); ++i) {
      const VectorOperand& o = p_.outputs[i];
      for (const Piece& piece : transfer_pieces(o, elements_of_chunk(o, loop))) {
        sink_.add_store(static_cast<int>(p_.inputs.size() + i), piece.walk, [&](auto& c) {
          c.target = chunk_address(o, loop) + Address(piece.start);
          c.slot_offset = drained;
        });
        drained += piece.walk.bytes();
      }
    }
    add_sync(hw::SyncKind::signal_free, hw::Queue::store, hw::Buffer::output);
  }

  const StreamProblem& p_;
  const int64_t chunks_, passes_;
  Sink& sink_;
};

/// Writes the program of a tiling that fits.
template <class Sink>
void describe(const StreamProblem& p, const hw::HwConfig&, const StreamCut& t, Sink& to) {
  StreamEmitter(p, t.chunks, t.passes, to).write_program();
}

}  // namespace accsim::sim
