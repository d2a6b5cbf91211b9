#pragma once
#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "hw/program/program.h"
#include "hw/program/reach.h"

namespace accsim::hw {

/// How commands are written as text, said once for who writes them and who reads them. A function
/// here calls the steps of a form in the order of the text. Each step writes what is there, or
/// reads it and puts it there. A writer's commands are const. The steps are:
///   text(literal)                   words and signs that always stand there
///   number(n), sum(affine)          a whole number; a sum over the loops around
///   choice(v)                       one of the words of an enumeration
///   tensor(i)                       "%3"
///   list(array, separator)          "3x4x5"
///   walk(w)                         "3 (stride 64) x 32 bytes"
///   overwrites(loops, accumulate)   "=", "+=" or "+= (= at k1=0)"
///   part(window, m)                 "4+5 of ", where not all of a window's positions are streamed
///   quoted(name)                    'conv1.weight'
///   option(there, literal)          is what begins with this there? A writer is told.
///   peeks(there, literal)           the same, but the literal isn't written yet, or read
///   counted(there, before, n, behind)   option() of what begins with a number
template <class T, class Of>
concept Like = std::same_as<std::remove_const_t<T>, Of>;

/// A word that is there or not.
template <class F, class B>
void write_flag(F& f, B& flag, std::string_view literal) {
  const bool there = f.option(flag, literal);
  if constexpr (!std::is_const_v<B>) flag = there;
}

/// What begins with `literal`, where there is any; true: the rest follows.
template <class F, class O>
bool begin_optional(F& f, O& of, std::string_view literal) {
  const bool there = f.option(of.has_value(), literal);
  if constexpr (!std::is_const_v<O>)
    if (there) of.emplace();
  return there;
}

/// "(0, oy1, 2*ox3)".
template <class F, class Sums>
void write_point(F& f, Sums& point) {
  f.text("(");
  f.sum(point[0]);
  f.text(", ");
  f.sum(point[1]);
  f.text(", ");
  f.sum(point[2]);
  f.text(")");
}

/// What padding reads as, unless it is 0.
template <class F, class N>
void write_pad(F& f, N& value) {
  if (f.option(value != 0, ", pad ")) f.number(value);
}

/// Zero point and limits of results.
template <class F, class E>
void write_limits(F& f, E& epilogue) {
  f.text("zero ");
  f.number(epilogue.zero);
  f.text(" in [");
  f.number(epilogue.low);
  f.text(", ");
  f.number(epilogue.high);
  f.text("]");
}

// ---- moves --------------------------------------------------------------------------------------

/// ", padded: ..." of a load.
template <class F, Like<PaddedWindow> W>
void write_form(F& f, W& w) {
  f.text(", padded: ");
  f.number(w.images);
  f.text(" images of ");
  f.list(w.count, "x");
  f.text(" positions stride ");
  f.list(w.stride, "x");
  f.text(" of ");
  f.list(w.kernel, "x");
  f.text(" taps step ");
  f.list(w.dilation, "x");
  f.text(" of ");
  f.number(w.tap);
  f.text(" bytes, from ");
  write_point(f, w.origin);
  f.text(" of ");
  f.list(w.extent, "x");
  f.text(" pixels pitch ");
  f.list(w.pitch, "x");
  if (f.option(w.image_pitch != 0, ", images pitch ")) f.number(w.image_pitch);
  write_pad(f, w.pad_value);
}

/// A load.
template <class F, Like<LoadCommand> C>
void write_form(F& f, C& c) {
  f.text("load ");
  f.choice(c.buffer);
  f.text("[");
  f.sum(c.slot_offset);
  f.text("] <- ");
  f.tensor(c.tensor);
  f.text("[");
  f.sum(c.source);
  f.text("], ");
  f.walk(c.walk);
  if (f.peeks(c.padded.has_value(), ", padded:")) {
    if constexpr (!std::is_const_v<C>) c.padded.emplace();
    write_form(f, *c.padded);
  }
  if (f.option(c.transposed != 0, ", transposed by ")) {
    f.number(c.transposed);
    f.text(" bytes");
  }
  if (!begin_optional(f, c.gather, ", gathered by parameters[")) return;
  f.sum(c.gather->index_offset);
  f.text("] of ");
  f.number(c.gather->limit);
  f.text(" rows at ");
  f.number(c.gather->pitch);
}

/// A store.
template <class F, Like<StoreCommand> C>
void write_form(F& f, C& c) {
  f.text("store ");
  f.tensor(c.tensor);
  f.text("[");
  f.sum(c.target);
  f.text("] <- output[");
  f.sum(c.slot_offset);
  f.text("], ");
  f.walk(c.walk);
}

/// A copy between the memories.
template <class F, Like<StageCommand> C>
void write_form(F& f, C& c) {
  f.text("stage ");
  f.tensor(c.to);
  f.text("[");
  f.sum(c.target);
  f.text("] <- ");
  f.tensor(c.from);
  f.text("[");
  f.sum(c.source);
  f.text("], ");
  f.walk(c.walk);
}

// ---- products -----------------------------------------------------------------------------------

/// How weights lie, unless as int8 a byte each.
template <class F, Like<Encoding> E>
void write_form(F& f, E& e) {
  if (f.option(e == kPackedWeights, " of 4 bits")) {
    if constexpr (!std::is_const_v<E>) e = kPackedWeights;
    return;
  }
  if (!f.option(!(e == Encoding{}), " of ")) return;
  f.choice(e.format);
  const bool packed = f.option(e.is_packed(), ", two a byte");
  if constexpr (!std::is_const_v<E>) e.packing = packed ? Packing::two_per_byte : Packing::dense;
}

/// The weights of a gemm.
template <class F, Like<WeightTile> W>
void write_form(F& f, W& w) {
  f.text("weights[");
  f.sum(w.offset);
  f.text("]");
  write_form(f, w.encoding);
  f.text(", pitch ");
  f.number(w.pitch);
  if (!f.counted(w.groups != 1, ", ", w.groups, " groups of ")) return;
  f.number(w.group_k);
  f.text("x");
  f.number(w.group_n);
  f.text(" from row ");
  f.sum(w.first_k);
}

/// The activations of a gemm of m rows.
template <class F, class W>
void write_window(F& f, W& w, int64_t m) {
  f.text("rows ");
  f.part(w, m);
  f.list(w.count, "x");
  f.text(" stride ");
  f.list(w.stride, "x");
  f.text(" from ");
  write_point(f, w.origin);
  f.text(" of a ");
  f.list(w.tile, "x");
  f.text(" tile of ");
  f.number(w.pixel);
  f.text("-byte pixels, flat ");
  f.sum(w.offset);
  f.text(" (line ");
  f.number(w.line);
  f.text(" bytes, step ");
  f.number(w.line_step);
  f.text(")");
  write_pad(f, w.pad_value);
}

/// A gemm.
template <class F, Like<GemmCommand> C>
void write_form(F& f, C& c) {
  f.text("gemm acc[");
  f.sum(c.accumulator_row);
  f.text("] ");
  f.overwrites(c.first_of, c.accumulate);
  f.text(" ");
  f.number(c.m);
  f.text("x");
  f.number(c.k);
  f.text("x");
  f.number(c.n);
  f.text(": ");
  write_window(f, c.window, c.m);
  f.text("; ");
  write_form(f, c.weights);
  const int64_t all = multiply_far(multiply_far(c.m, c.k), c.n);
  const bool fewer = f.counted(c.useful_macs != all, ", ", c.useful_macs, " MACs");
  if constexpr (!std::is_const_v<C>)
    if (!fewer) c.useful_macs = all;
}

/// A drain.
template <class F, Like<DrainCommand> C>
void write_form(F& f, C& c) {
  f.text("drain acc[");
  f.sum(c.accumulator_row);
  f.text("] ");
  f.overwrites(c.first_of, c.accumulate);
  f.text(" ");
  f.number(c.m);
  f.text("x");
  f.number(c.n);
}

/// What a post adds.
template <class F, Like<Residual> R>
void write_form(F& f, R& r) {
  f.text("(zero ");
  f.number(r.zero);
  f.text(") * ");
  f.number(r.multiplier);
  f.text(" / 2^");
  f.number(r.shift);
  f.text(" in [");
  f.number(r.low);
  f.text(", ");
  f.number(r.high);
  f.text("]");
}

/// A post.
template <class F, Like<PostCommand> C>
void write_form(F& f, C& c) {
  auto& e = c.epilogue;
  f.text("post output[");
  f.sum(c.slot_offset);
  f.text("] <- acc[");
  f.sum(c.accumulator_row);
  f.text("] ");
  f.number(c.rows);
  f.text("x");
  f.number(c.cols);
  f.text(", pitch ");
  f.number(c.pitch);
  write_flag(f, c.has_parameters, ", parameters[");
  if (c.has_parameters) {
    f.sum(c.parameter_offset);
    f.text("]");
  }
  const bool grouped = c.groups != 1 || c.group_rows != 0 || !(c.group_offset == Affine());
  if (f.counted(grouped, ", ", c.groups, " groups of ")) {
    f.number(c.group_rows);
    f.text(" rows by parameters[");
    f.sum(c.group_offset);
    f.text("]");
  }
  const bool clips = e.zero != 0 || e.low != -128 || e.high != 127;
  if (f.peeks(clips, ", zero")) {
    f.text(", ");
    write_limits(f, e);
  }
  write_flag(f, e.relu, ", relu");
  write_flag(f, c.transposed, ", transposed");
  write_flag(f, e.table, ", table");
  if (begin_optional(f, e.residual, ", residual ")) write_form(f, *e.residual);
}

// ---- what isn't a command -----------------------------------------------------------------------

/// A tensor behind its number.
template <class F, Like<ProgramTensor> T>
void write_form(F& f, T& t) {
  f.choice(t.memory);
  f.text(" ");
  f.number(t.bytes);
  f.text(" bytes ");
  f.quoted(t.name);
  if (f.option(t.address != -1, ", at ")) f.number(t.address);
  write_flag(f, t.given, ", given");
  f.counted(t.slots != 0, ", ", t.slots, " slots");
  if (f.option(t.pitch != 0, ", pitch ")) f.number(t.pitch);
}

/// A layer's head.
template <class F, Like<LayerHead> H>
void write_form(F& f, H& h) {
  f.text("layer ");
  f.quoted(h.name);
  f.text(" (");
  f.choice(h.dataflow);
  f.text(")");
}

}  // namespace accsim::hw
