#include "sim/lower/row_layout.h"

#include <algorithm>

#include "sim/lower/layer_layouts.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// An axis with its strides, in elements, in the tensor, the mask and the channels.
struct PlacedAxis {
  int64_t count = 1, stride = 0;
  bool reduced = false;
  int64_t mask = 0, channel = 0;
};
using PlacedAxes = std::vector<PlacedAxis>;

/// The meaning's axes of more than one element, in the order in which they lie in memory; nothing
/// when one of them isn't evenly spaced there.
std::optional<PlacedAxes> placed_axes(const RowMeaning& meaning, const Layout& memory) {
  PlacedAxes out;
  for (const RowAxis& a : meaning.axes) {
    if (a.count == 1) continue;
    const auto stride = pitch_of({a.count, a.stride}, memory);
    if (!stride) return std::nullopt;
    out.push_back({a.count, *stride, a.reduced, a.mask_stride, a.channel ? 1 : 0});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PlacedAxis& a, const PlacedAxis& b) { return a.stride > b.stride; });
  // Channels are numbered as they lie in memory, those of a row one behind the other.
  int64_t step = 1;
  for (const bool reduced : {true, false})
    for (size_t i = out.size(); i-- > 0;)
      if (out[i].reduced == reduced && out[i].channel > 0) {
        out[i].channel = step;
        step *= out[i].count;
      }
  return out;
}

/// Rows of the last dims that are all treated alike, numbered in any order: an axis of rows for
/// each that the memory has. Nothing where rows are told apart, or lie otherwise.
std::optional<RowMeaning> as_rows_lie(const RowMeaning& meaning, const Layout& memory) {
  if (meaning.mask_port || meaning.log_port) return std::nullopt;
  int64_t row = 1;
  for (const RowAxis& a : meaning.axes) row *= a.reduced ? a.count : 1;
  RowMeaning out = meaning;
  std::erase_if(out.axes, [](const RowAxis& a) { return !a.reduced; });
  for (const RowAxis& a : meaning.axes)
    if (a.reduced ? a.count > 1 && a.stride >= row : a.channel || (a.count > 1 && a.stride < row))
      return std::nullopt;
  for (const MoveAxis& a : memory) {
    const int64_t reach = a.count * a.stride;
    if (reach <= row) continue;
    if (a.stride < row && (row % a.stride != 0 || reach % row != 0)) return std::nullopt;
    const int64_t stride = std::max(a.stride, row);
    out.axes.push_back({reach / stride, stride});
  }
  return out;
}

/// Neighbours that go on where the inner one ends are one.
PlacedAxes joined_placed_axes(const PlacedAxes& axes, bool reduced) {
  PlacedAxes out;
  for (const PlacedAxis& inner : axes) {
    if (inner.reduced != reduced) continue;
    if (!out.empty()) {
      PlacedAxis& outer = out.back();
      const int64_t n = inner.count;
      if (outer.stride == n * inner.stride && outer.mask == n * inner.mask &&
          outer.channel == n * inner.channel) {
        outer = {outer.count * n, inner.stride, reduced, inner.mask, inner.channel};
        continue;
      }
    }
    out.push_back(inner);
  }
  return out;
}

/// Takes from the axes of a row, innermost first, what is contiguous: the elements of a channel,
/// then its channels. Nothing when a channel's number doesn't follow from the place in the run.
bool take_run(PlacedAxes& row, RowWork& out) {
  bool channels = false;
  while (!row.empty() && row.back().stride == out.run) {
    const PlacedAxis& a = row.back();
    if (a.channel == 0 && channels) break;
    if (a.channel > 0 && a.channel * out.per_channel != out.run) return false;
    if (a.channel == 0) out.per_channel *= a.count;
    channels = channels || a.channel > 0;
    out.run *= a.count;
    row.pop_back();
  }
  return true;
}

/// The rest of a row: pieces.
bool take_pieces(PlacedAxes& row, RowWork& out, int64_t& mask) {
  if (row.empty()) return true;
  if (row.size() > 1 || row[0].channel > 0) return false;
  out.pieces = row[0].count;
  out.piece_stride = row[0].stride;
  mask = row[0].mask;
  return true;
}

/// Rows are numbered as their nest has them, where they lie one behind the other.
bool lay_logarithms(ValuePort port, RowWork& w) {
  if (w.pieces != 1) return false;
  w.log = {.port = port};
  int64_t next = 1;
  for (size_t l = kRowLevels; l-- > 0;) {
    if (w.rows[l] == 1) continue;
    if (w.row_stride[l] != next * w.run) return false;
    w.log->row_stride[l] = next;
    next *= w.rows[l];
  }
  return true;
}

}  // namespace

int64_t mask_elements(const RowWork& w) {
  int64_t last = w.run - 1 + (w.pieces - 1) * w.mask->piece_stride;
  for (size_t l = 0; l < kRowLevels; ++l) last += (w.rows[l] - 1) * w.mask->row_stride[l];
  return last + 1;
}

Layout memory_axes(const RowMeaning& meaning) {
  Layout out;
  for (const RowAxis& a : meaning.axes) out.push_back({a.count, a.stride});
  const auto channels = static_cast<ptrdiff_t>(meaning.channel_axes);
  if (channels > 0) std::rotate(out.begin() + 1, out.begin() + 1 + channels, out.end());
  return out;
}

std::optional<RowWork> row_work(const RowMeaning& meaning, const Layout& memory) {
  auto axes = placed_axes(meaning, memory);
  if (!axes)
    if (const auto rows = as_rows_lie(meaning, memory)) axes = placed_axes(*rows, memory);
  if (!axes) return std::nullopt;
  RowWork out;
  out.kind = meaning.kind;
  out.in_port = meaning.in_port;
  out.out_port = meaning.out_port;
  PlacedAxes row = joined_placed_axes(*axes, true);
  const PlacedAxes rows = joined_placed_axes(*axes, false);
  const int64_t mask_run = row.empty() ? 1 : row.back().mask;
  int64_t mask_pieces = 0;
  if (!take_run(row, out) || !take_pieces(row, out, mask_pieces) || rows.size() > kRowLevels)
    return std::nullopt;
  // A softmax has no channels.
  if (out.kind == RowKind::softmax) out.per_channel = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t level = kRowLevels - rows.size() + i;
    out.rows[level] = rows[i].count;
    out.row_stride[level] = rows[i].stride;
    out.channel_stride[level] = rows[i].channel;
  }
  if (meaning.log_port && !lay_logarithms(*meaning.log_port, out)) return std::nullopt;
  if (!meaning.mask_port) return out;
  if (out.run > 1 && mask_run != 1) return std::nullopt;
  out.mask = {.port = *meaning.mask_port, .piece_stride = mask_pieces};
  for (size_t i = 0; i < rows.size(); ++i)
    out.mask->row_stride[kRowLevels - rows.size() + i] = rows[i].mask;
  out.mask->elements = mask_elements(out);
  return out;
}

namespace {

/// What the layer does with rows: as its nodes spell it out, or as its operator says, if nothing
/// has been merged into it that a command of rows doesn't do.
std::optional<RowMeaning> meaning_of(const Graph& graph, const Layer& l) {
  if (l.rows) return l.rows;
  const Node& node = graph.nodes[static_cast<size_t>(l.node)];
  const OpRow* row = find_op(node);
  if (!row || !row->rows || l.outputs != node.outputs) return std::nullopt;
  return row->rows(NodeView(graph, node));
}

Dims counts_of(const RowMeaning& meaning) {
  Dims out;
  for (const RowAxis& a : meaning.axes) out.push_back(a.count);
  return out;
}

/// Rows of the layer's input, or of what lives only in it.
std::optional<RowWork> work_of(const RowMeaning& meaning, const LayerLayouts& lies) {
  if (meaning.in_port < 0) return row_work(meaning, memory_axes(meaning));
  // What a mask adds is told by its dims: it lies as they say.
  if (meaning.mask_port && !lies.is_row_major(*meaning.mask_port)) return std::nullopt;
  const Layout& in = lies.input_layout(meaning.in_port);
  if (in != lies.output_layout(meaning.out_port)) return std::nullopt;
  // Logarithms lie as their dims say, and rows must for them to have that order.
  if (meaning.log_port && in != row_major_layout(counts_of(meaning))) return std::nullopt;
  auto out = row_work(meaning, in);
  if (!out) return out;
  out->in_port = lies.read_from(out->in_port);
  if (out->mask) out->mask->port = lies.read_from(out->mask->port);
  return out;
}

}  // namespace

void set_row_work(const Graph& graph, Lowered& lowered) {
  for (Layer& l : lowered.layers) {
    VectorOp* op = nullptr;
    for (WorkItem& item : l.work)
      if (auto* vector = std::get_if<VectorOp>(&item)) op = vector;
    if (!op) continue;
    if (const auto meaning = meaning_of(graph, l))
      op->row_work = work_of(*meaning, LayerLayouts(graph, lowered, l));
  }
}

}  // namespace accsim::sim
