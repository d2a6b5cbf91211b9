#include "sim/lower/parts.h"

#include <algorithm>
#include <unordered_map>

#include "sim/lower/lane_meaning.h"
#include "sim/lower/node_layouts.h"
#include "sim/lower/pitched_work.h"
#include "sim/operators/fold.h"

namespace accsim::sim {
namespace {

/// Elements that go through a port at once: those of most machines are as wide or wider.
constexpr int64_t kBeat = 64;
/// Items of a layer that are looked through for those of a tensor; of more there is an index.
constexpr size_t kFewItems = 16;
/// Places that are tried for a tensor in what a layer puts together.
constexpr int kMostPlaces = 8;

class PartPlacer {
 public:
  PartPlacer(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        parts_(lowered.parts),
        given_(graph.tensors.size(), false),
        result_(graph.tensors.size(), false),
        kept_(graph.tensors.size(), false),
        readers_(graph.tensors.size()),
        writer_(graph.tensors.size(), -1),
        pitch_(graph.tensors.size(), 0),
        seen_(graph.tensors.size(), 0),
        members_(graph.tensors.size()) {
    for (const TensorId id : graph.inputs) given_[index(id)] = true;
    holds_given_ = given_;
    for (const TensorId id : graph.outputs) result_[index(id)] = kept_[index(id)] = true;
    for (size_t i = 0; i < members_.size(); ++i) members_[i].push_back(static_cast<TensorId>(i));
    for (size_t i = 0; i < lowered.layers.size(); ++i) note_layer(i);
  }

  void place_all() {
    for (size_t i = 0; i < lowered_.layers.size(); ++i) {
      Layer& l = lowered_.layers[i];
      if (l.fate != Fate::memory || l.work.empty()) continue;
      cut_out(l);
      put_together(l);
      if (l.work.empty()) l.fate = Fate::view;
    }
    for (Layer& l : lowered_.layers)
      if (reads_or_writes_parts(l)) l.work = *pitched_work(l, port_pitches(l));
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }
  int64_t elements_of(TensorId id) const { return elements(graph_.tensor(id).dims); }
  TensorId root_of(TensorId id) const {
    const TensorId whole = parts_[index(id)].whole;
    return whole == kNoTensor ? id : whole;
  }
  /// As a part, of itself where it is none.
  Part part_in_root(TensorId id) const {
    Part out = parts_[index(id)];
    if (out.whole == kNoTensor) out.whole = id;
    return out;
  }

  /// Is the layer one that may leave its operand's bytes where they are on some machine, with
  /// another scale?
  static bool rescales_values(const Layer& l) {
    return l.fate == Fate::vector && l.function.rescales && l.work.size() == 1;
  }

  void note_layer(size_t i) {
    const Layer& l = lowered_.layers[i];
    if (l.fate == Fate::folded) return;
    if (l.work.empty()) return note_views(l);
    std::vector<ValuePort> ports = ports_read(l);
    if (l.residual.is_of_node()) ports.push_back(l.residual);
    for (const ValuePort p : ports) {
      const TensorId id = l.inputs[p.index()];
      readers_[index(id)].push_back(i);
      if (rescales_values(l)) kept_[index(root_of(id))] = true;
    }
    for (const TensorId id : l.outputs) {
      if (id == kNoTensor) continue;
      writer_[index(id)] = static_cast<int>(i);
      if (rescales_values(l)) kept_[index(id)] = true;
    }
  }

  /// A view is all of what it shows.
  void note_views(const Layer& l) {
    if (l.inputs.empty() || l.inputs[0] == kNoTensor) return;
    const TensorId from = root_of(l.inputs[0]);
    for (const TensorId id : l.outputs) {
      if (id == kNoTensor || elements_of(id) != elements_of(from)) continue;
      parts_[index(id)] = {from, 0, {}};
      if (kept_[index(id)]) kept_[index(from)] = true;
      if (result_[index(id)]) result_[index(from)] = true;
      join_members(from, id);
    }
  }
  void join_members(TensorId whole, TensorId id) {
    std::vector<TensorId>& all = members_[index(whole)];
    all.insert(all.end(), members_[index(id)].begin(), members_[index(id)].end());
    members_[index(id)].clear();
    if (holds_given_[index(id)]) holds_given_[index(whole)] = true;
  }

  PortPitches port_pitches(const Layer& l) const {
    const auto of = [this](const std::vector<TensorId>& ids) {
      return [this, &ids](ValuePort port) {
        const auto i = port.index();
        return i < ids.size() && ids[i] != kNoTensor ? parts_[index(ids[i])].pitch : Pitch{};
      };
    };
    return {of(l.inputs), of(l.outputs)};
  }
  bool reads_or_writes_parts(const Layer& l) const {
    const auto is_part = [&](TensorId id) {
      return id != kNoTensor && !parts_[index(id)].pitch.is_dense();
    };
    return !l.work.empty() &&
           (std::ranges::any_of(l.inputs, is_part) || std::ranges::any_of(l.outputs, is_part));
  }
  /// Do the layers that read or write a tensor that has moved take it where it is now? What has
  /// nothing of it they took before.
  bool users_take_pitches(TensorId id) {
    const auto good = [&](size_t i) {
      const Layer& l = lowered_.layers[i];
      const PortPitches lie = port_pitches(l);
      return std::ranges::all_of(items_of(l, id), [&](size_t item) {
        return is_left_out(l, item) || takes_pitches(l, l.work[item], lie);
      });
    };
    const std::vector<size_t>& readers = readers_[index(id)];
    for (size_t i = 0; i < readers.size(); ++i)  // a layer that reads it twice stands there twice
      if ((i == 0 || readers[i] != readers[i - 1]) && !good(readers[i])) return false;
    return writer_[index(id)] < 0 || good(static_cast<size_t>(writer_[index(id)]));
  }

  /// Items of a layer's work that may read or write a tensor.
  std::vector<size_t> items_of(const Layer& l, TensorId id) {
    std::vector<size_t> out;
    if (l.work.size() > kFewItems) {
      const Items& items = index_of(l);
      out = items.others;
      if (const auto own = items.moves.find(id); own != items.moves.end())
        out.insert(out.end(), own->second.begin(), own->second.end());
      return out;
    }
    for (size_t i = 0; i < l.work.size(); ++i)
      if (!std::holds_alternative<MemoryOp>(l.work[i]) || moves_tensor(l, i, id)) out.push_back(i);
    return out;
  }
  static bool moves_tensor(const Layer& l, size_t item, TensorId id) {
    const std::vector<TensorId> all = moved_by(l, item);
    return std::ranges::find(all, id) != all.end();
  }
  /// What a memory op reads and writes of its layer's operands.
  static std::vector<TensorId> moved_by(const Layer& l, size_t item) {
    const auto& op = std::get<MemoryOp>(l.work[item]);
    std::vector<TensorId> out;
    const auto add = [&](const std::vector<Access>& side, const std::vector<TensorId>& ids) {
      for (const Access& a : side)
        if (a.port.is_of_node() && a.port.index() < ids.size() && ids[a.port.index()] != kNoTensor)
          out.push_back(ids[a.port.index()]);
    };
    add(op.inputs, l.inputs);
    add(op.outputs, l.outputs);
    return out;
  }

  /// Items of a layer's work: moves by tensor, and all others.
  struct Items {
    std::unordered_map<TensorId, std::vector<size_t>> moves;
    std::vector<size_t> others;
  };
  const Items& index_of(const Layer& l) {
    const auto [at, fresh] = items_.try_emplace(&l);
    if (!fresh) return at->second;
    for (size_t i = 0; i < l.work.size(); ++i) {
      if (!std::holds_alternative<MemoryOp>(l.work[i]))
        at->second.others.push_back(i);
      else
        for (const TensorId id : moved_by(l, i)) at->second.moves[id].push_back(i);
    }
    return at->second;
  }

  /// Is it no dearer to go over its rows, a beat or more for each, whenever the vector unit reads
  /// or writes it, than to copy it once? The array takes longer than the loads beside it mostly.
  bool pays_off(TensorId id) const {
    const Pitch& pitch = parts_[index(id)].pitch;
    if (pitch.is_dense()) return true;
    const int64_t rows = elements_of(id) / pitch.run * ceil_div(pitch.run, kBeat);
    const auto on_vector_unit = [&](size_t i) { return lowered_.layers[i].fate == Fate::vector; };
    int64_t users = std::ranges::count_if(readers_[index(id)], on_vector_unit);
    const int writer = writer_[index(id)];
    if (writer >= 0 && on_vector_unit(static_cast<size_t>(writer))) ++users;
    return users * rows <= rows + users * ceil_div(elements_of(id), kBeat);
  }

  /// Makes all that lies in `id` lie in a part of another tensor; false where somebody can't do so.
  bool move_into(TensorId id, const Part& to) {
    const std::vector<TensorId> moved = members_[index(id)];
    std::vector<Part> before;
    bool good = true;
    for (const TensorId m : moved) before.push_back(parts_[index(m)]);
    for (const TensorId m : moved) {
      const auto there = part_of_part(part_in_root(m), to, elements_of(m));
      good = good && there && is_element(graph_.tensor(m).dtype);
      if (!good) break;
      parts_[index(m)] = *there;
    }
    for (size_t i = 0; i < moved.size() && good; ++i)
      good = users_take_pitches(moved[i]) && (!before[i].pitch.is_dense() || pays_off(moved[i]));
    if (good && have_one_pitch(to.whole, moved))
      join_members(to.whole, id);
    else
      good = false;
    if (!good)
      for (size_t i = 0; i < moved.size(); ++i) parts_[index(moved[i])] = before[i];
    return good;
  }
  /// Has a tensor bytes that can lie anywhere?
  bool is_free(TensorId id) const {
    return parts_[index(id)].whole == kNoTensor && !kept_[index(id)] && !graph_.tensor(id).constant;
  }
  /// Rows of what lies in one tensor all have one pitch; it may be a new one for what has moved.
  bool have_one_pitch(TensorId whole, const std::vector<TensorId>& moved) {
    int64_t pitch = pitch_[index(whole)];
    for (const TensorId id : moved) {
      const Pitch& p = parts_[index(id)].pitch;
      if (p.is_dense()) continue;
      if (pitch == 0) pitch = p.pitch;
      if (p.pitch != pitch) return false;
    }
    pitch_[index(whole)] = pitch;
    return true;
  }

  /// Leaves out the moves that `place` finds a place for; each is no work of the layer's when it is
  /// asked.
  template <class F>
  void leave_out(Layer& l, const F& place) {
    begin_to_leave_out(l);
    for (size_t i = 0; i < l.work.size(); ++i) {
      const auto* op = std::get_if<MemoryOp>(&l.work[i]);
      left_out_[i] = true;
      left_out_[i] = op && is_move(*op) && place(*op);
    }
    erase_left_out(l);
  }
  void begin_to_leave_out(const Layer& l) {
    left_out_.assign(l.work.size(), false);
    leaving_out_ = &l;
  }
  void erase_left_out(Layer& l) {
    leaving_out_ = nullptr;
    items_.erase(&l);
    // Each is asked about where it has always been.
    const WorkItem* const first = l.work.data();
    std::erase_if(l.work, [&](const WorkItem& item) {
      return left_out_[static_cast<size_t>(&item - first)];
    });
  }
  bool is_left_out(const Layer& l, size_t item) const {
    return &l == leaving_out_ && left_out_[item];
  }
  static bool is_move(const MemoryOp& op) {
    return op.inputs.size() == 1 && op.outputs.size() == 1 && op.inputs[0].port >= 0 &&
           op.outputs[0].port >= 0;
  }
  static TensorId source_of(const Layer& l, const MemoryOp& op) {
    return l.inputs[op.inputs[0].port.index()];
  }
  static TensorId target_of(const Layer& l, const MemoryOp& op) {
    return l.outputs[op.outputs[0].port.index()];
  }

  // ---- what is cut out --------------------------------------------------------------------------

  /// What is made of one move alone, of a layer that does nothing but moves.
  void cut_out(Layer& l) {
    std::unordered_map<TensorId, int> moves;  ///< into a tensor, that aren't left out
    for (const WorkItem& item : l.work) {
      const auto* op = std::get_if<MemoryOp>(&item);
      if (!op || !is_move(*op)) return;
      ++moves[target_of(l, *op)];
    }
    leave_out(l, [&](const MemoryOp& op) {
      const TensorId from = source_of(l, op), to = target_of(l, op);
      if (moves[to] > 1 || !is_written(to) || !can_host(from)) return false;
      const auto rows = part_of_move(op, true, elements_of(to));
      if (!rows) return false;
      const auto place =
          part_of_part({from, rows->offset, rows->pitch}, part_in_root(from), elements_of(to));
      if (!place || !move_into(to, *place)) return false;
      --moves[to];
      return true;
    });
  }

  bool can_host(TensorId id) const {
    const int writer = writer_[index(root_of(id))];
    return !graph_.tensor(id).constant && is_element(graph_.tensor(id).dtype) &&
           (writer < 0 || !rescales_values(lowered_.layers[static_cast<size_t>(writer)]));
  }

  // ---- what is put together ---------------------------------------------------------------------

  void put_together(Layer& l) {
    most_given_ = 0;
    for (const TensorId in : l.inputs)
      if (in != kNoTensor && given_[index(root_of(in))])
        most_given_ = std::max(most_given_, elements_of(root_of(in)));
    std::unordered_map<TensorId, int> tried;  ///< places of a tensor that goes to several
    leave_out(l, [&](const MemoryOp& op) {
      const TensorId from = source_of(l, op), all = root_of(from);
      if (++tried[all] > kMostPlaces) return false;
      const auto to = place_in_whole(l, op);
      return to && elements_of(all) == elements_of(from) &&
             (is_written(all) || is_there(all, *to)) && move_into(all, *to);
    });
    begin_to_leave_out(l);
    while (put_parts(l)) {
    }
    erase_left_out(l);
  }

  bool is_written(TensorId id) const { return is_free(id) && writer_[index(id)] >= 0; }
  /// What goes into a result of the network, which lies in DRAM, may have been there before: the
  /// host gives a cache where it is appended to. That is the largest that it gives of the parts;
  /// others it gives elsewhere.
  bool is_there(TensorId id, const Part& place) const {
    return given_[index(id)] && is_free(id) && result_[index(place.whole)] &&
           elements_of(id) >= most_given_ && !holds_given_[index(place.whole)];
  }

  std::optional<Part> place_in_whole(const Layer& l, const MemoryOp& op) const {
    const TensorId from = source_of(l, op), to = target_of(l, op);
    const auto rows = part_of_move(op, false, elements_of(from));
    if (!rows || !can_host(to)) return std::nullopt;
    return part_of_part({to, rows->offset, rows->pitch}, part_in_root(to), elements_of(from));
  }

  /// Where `from`, of which a part goes to a place of another tensor, would lie in that one.
  static std::optional<Part> place_of_all(const Part& part, const Part& place, int64_t all) {
    Part out{place.whole, place.offset - part.offset, {part.pitch.pitch, place.pitch.pitch}};
    if (out.pitch.run == all) out.pitch = {};
    return part.pitch.run == place.pitch.run && out.offset >= 0 ? std::optional(out) : std::nullopt;
  }

  /// Where the parts of a tensor are put together as they lie in it, all of them, it lies there.
  /// True when there was one.
  bool put_parts(const Layer& l) {
    std::unordered_map<TensorId, std::vector<size_t>> parts;  ///< moves, by the tensor
    std::unordered_map<TensorId, int> tried;
    for (size_t i = 0; i < l.work.size(); ++i)
      if (const auto from = part_moved(l, i)) parts[root_of(*from)].push_back(i);
    bool out = false;
    for (size_t i = 0; i < l.work.size(); ++i) {
      const auto from = part_moved(l, i);
      if (!from || !is_written(root_of(*from))) continue;
      const TensorId all = root_of(*from);
      if (++tried[all] <= kMostPlaces && put_all(l, i, all, parts[all])) out = true;
    }
    return out;
  }
  /// The part of a tensor that an item of the work moves.
  std::optional<TensorId> part_moved(const Layer& l, size_t item) const {
    const auto* op = std::get_if<MemoryOp>(&l.work[item]);
    if (!op || !is_move(*op) || is_left_out(l, item)) return std::nullopt;
    const TensorId from = source_of(l, *op);
    return root_of(from) == from ? std::nullopt : std::optional(from);
  }
  /// Puts `all` to where item `first` has a part of it, if all of its parts go there.
  bool put_all(const Layer& l, size_t first, TensorId all, const std::vector<size_t>& items) {
    const auto& op = std::get<MemoryOp>(l.work[first]);
    const auto to = place_in_whole(l, op);
    if (!to || all == to->whole) return false;
    const auto place = place_of_all(part_in_root(source_of(l, op)), *to, elements_of(all));
    if (!place) return false;
    ++looks_;
    int64_t found = 0;
    std::vector<size_t> put;
    for (const size_t i : items) {
      const auto& other = std::get<MemoryOp>(l.work[i]);
      const TensorId from = source_of(l, other);
      if (is_left_out(l, i) || seen_[index(from)] == looks_ || !lies_so(l, other, all, *place))
        continue;
      seen_[index(from)] = looks_;
      put.push_back(i);
      found += elements_of(from);
    }
    if (found != elements_of(all)) return false;
    for (const size_t i : put) left_out_[i] = true;
    if (move_into(all, *place)) return true;
    for (const size_t i : put) left_out_[i] = false;
    return false;
  }
  bool lies_so(const Layer& l, const MemoryOp& op, TensorId all, const Part& place) const {
    const TensorId from = source_of(l, op);
    if (root_of(from) != all || from == all) return false;
    return place_in_whole(l, op) == part_of_part(part_in_root(from), place, elements_of(from));
  }

  const Graph& graph_;
  Lowered& lowered_;
  std::vector<Part>& parts_;
  std::vector<bool> given_;        ///< by tensor: it is the network's input
  std::vector<bool> holds_given_;  ///< or one of those that lie in it
  std::vector<bool> result_;       ///< it, or a view of it, is the network's output
  std::vector<bool> kept_;         ///< or somebody may show it with another scale
  std::vector<bool> left_out_;     ///< by item of the work of ...
  const Layer* leaving_out_ = nullptr;
  int64_t most_given_ = 0;  ///< elements of the largest input of the network that a layer reads
  std::unordered_map<const Layer*, Items> items_;
  std::vector<std::vector<size_t>> readers_;  ///< layers, by tensor
  std::vector<int> writer_;                   ///< by tensor; -1: none
  std::vector<int64_t> pitch_;                ///< of rows of what lies in a tensor; 0: all dense
  std::vector<int64_t> seen_;                 ///< by tensor: the last look at it
  int64_t looks_ = 0;
  std::vector<std::vector<TensorId>>
      members_;  ///< by tensor with bytes of its own: what lies in it
};

}  // namespace

std::optional<Part> part_of_move(const MemoryOp& op, bool cut_out, int64_t elements) {
  if (op.axes.empty() || op.picked || op.inputs.size() != 1 || op.outputs.size() != 1)
    return std::nullopt;
  const std::vector<int64_t> spacing = spacing_of(op);
  std::vector<MoveAxis> in_whole;
  int64_t next = 1;
  for (size_t i = op.axes.size(); i-- > 0; next *= op.axes[i].count) {
    const int64_t in = op.axes[i].stride, out = spacing[i];
    if (op.axes[i].count > 1 && (cut_out ? out : in) != next) return std::nullopt;
    in_whole.insert(in_whole.begin(), {op.axes[i].count, cut_out ? in : out});
  }
  if (next != elements || (cut_out ? op.to : op.from) != 0) return std::nullopt;
  const std::vector<MoveAxis> axes = joined_axes(in_whole);
  Part out{kNoTensor, cut_out ? op.from : op.to, {}};
  if (axes.empty() || (axes.size() == 1 && axes[0].stride == 1)) return out;
  if (axes.size() == 1) out.pitch = {1, axes[0].stride};
  if (axes.size() == 2 && axes[1].stride == 1) out.pitch = {axes[1].count, axes[0].stride};
  const bool apart = !out.pitch.is_dense() && out.pitch.pitch > out.pitch.run;
  return apart ? std::optional(out) : std::nullopt;
}

std::optional<Part> part_of_part(const Part& inner, const Part& outer, int64_t elements) {
  const Pitch &p = inner.pitch, &q = outer.pitch;
  Part out{outer.whole, outer.offset + q.offset_of(inner.offset), p};
  if (q.is_dense()) return out;
  const int64_t before = inner.offset % q.run;
  if (before + p.extent_of(elements) <= q.run) return out;  // within a row
  if (p.is_dense() && before == 0 && elements % q.run == 0) {
    out.pitch = q;
    return out;
  }
  if (p.is_dense() || p.pitch % q.run != 0 || before + p.run > q.run) return std::nullopt;
  out.pitch = {p.run, p.pitch / q.run * q.pitch};
  return out;
}

void place_parts(const Graph& graph, Lowered& lowered) {
  lowered.parts.assign(graph.tensors.size(), {});
  const auto moves = [](const Layer& l) { return l.fate == Fate::memory && !l.work.empty(); };
  if (std::ranges::any_of(lowered.layers, moves)) PartPlacer(graph, lowered).place_all();
}

}  // namespace accsim::sim
