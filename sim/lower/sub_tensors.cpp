#include "sim/lower/sub_tensors.h"

#include <algorithm>
#include <unordered_map>

#include "sim/lower/lane_meaning.h"
#include "sim/lower/layer_moves.h"
#include "sim/lower/node_layouts.h"
#include "sim/lower/sub_tensor_places.h"

namespace accsim::sim {
namespace {

/// Elements that go through a port at once: those of most machines are as wide or wider.
constexpr int64_t kBeat = 64;
/// Places that are tried for a tensor in what a layer puts together.
constexpr int kMostPlaces = 8;

/// Is the layer one that may leave its operand's bytes where they are on some machine, with another
/// scale?
bool rescales_values(const Layer& l) {
  return l.fate == Fate::vector && l.function.rescales && l.work.size() == 1;
}

/// Who reads and writes each tensor, and whether they can where it lies.
class SubTensorUsers {
 public:
  explicit SubTensorUsers(const Graph& graph)
      : graph_(graph), readers_(graph.tensors.size()), writer_(graph.tensors.size(), nullptr) {}

  /// Of a layer with work, behind those before it.
  void note_layer(const Layer& l, SubTensorPlaces& places) {
    std::vector<ValuePort> ports = ports_read(l);
    if (l.residual.is_of_node()) ports.push_back(l.residual);
    for (const ValuePort p : ports) {
      const TensorId id = l.inputs[p.index()];
      readers_[index(id)].push_back(&l);
      if (rescales_values(l)) places.keep_place(id);
    }
    for (const TensorId id : l.outputs) {
      if (id == kNoTensor) continue;
      writer_[index(id)] = &l;
      if (rescales_values(l)) places.keep_place(id);
    }
  }

  /// The layer whose work makes a tensor; nullptr: none.
  const Layer* writer_of(TensorId id) const { return writer_[index(id)]; }

  /// Do the layers that read or write a tensor that has moved take it where it is now? What has
  /// nothing of it they took before.
  bool take_place(TensorId id, const SubTensorPlaces& places, LayerMoves& moves) const {
    const auto takes = [&](const Layer& l) {
      const PortPitches lie = places.port_pitches(l);
      return std::ranges::all_of(moves.items_of(l, id), [&](size_t item) {
        return moves.is_left_out(l, item) || takes_pitches(l, l.work[item], lie);
      });
    };
    const std::vector<const Layer*>& readers = readers_[index(id)];
    for (size_t i = 0; i < readers.size(); ++i)  // a layer that reads it twice stands there twice
      if ((i == 0 || readers[i] != readers[i - 1]) && !takes(*readers[i])) return false;
    return !writer_of(id) || takes(*writer_of(id));
  }

  /// Is it no dearer to go over its rows, a beat or more for each, whenever the vector unit reads
  /// or writes it, than to copy it once? The array takes longer than the loads beside it mostly.
  bool pay_off(TensorId id, const Pitch& pitch) const {
    if (pitch.is_dense()) return true;
    const int64_t count = elements(graph_.tensor(id).dims);
    const int64_t rows = count / pitch.run * ceil_div(pitch.run, kBeat);
    const auto on_vector_unit = [](const Layer* l) { return l->fate == Fate::vector; };
    int64_t users = std::ranges::count_if(readers_[index(id)], on_vector_unit);
    if (writer_of(id) && on_vector_unit(writer_of(id))) ++users;
    return users * rows <= rows + users * ceil_div(count, kBeat);
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }

  const Graph& graph_;
  std::vector<std::vector<const Layer*>> readers_;  ///< by tensor
  std::vector<const Layer*> writer_;                ///< by tensor; nullptr: none
};

class SubTensorPlacer {
 public:
  SubTensorPlacer(const Graph& graph, Lowered& lowered)
      : graph_(graph),
        lowered_(lowered),
        places_(graph, lowered),
        users_(graph),
        seen_(graph.tensors.size(), 0) {
    for (const Layer& l : lowered.layers)
      if (l.work.empty() && l.fate != Fate::folded)
        places_.note_view(l);
      else if (l.fate != Fate::folded)
        users_.note_layer(l, places_);
  }

  void place_all() {
    for (Layer& l : lowered_.layers) {
      if (l.fate != Fate::memory || l.work.empty()) continue;
      cut_out(l);
      put_together(l);
      if (l.work.empty()) l.fate = Fate::view;
    }
    for (Layer& l : lowered_.layers)
      if (places_.reads_or_writes_sub_tensors(l))
        l.work = *pitched_work(l, places_.port_pitches(l));
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }
  int64_t elements_of(TensorId id) const { return elements(graph_.tensor(id).dims); }

  /// Makes all that lies in `id` lie in a part of another tensor; false where somebody can't do so.
  bool move_into(TensorId id, const SubTensor& to) {
    return places_.move_into(id, to, [&](TensorId moved, const SubTensor& before) {
      return users_.take_place(moved, places_, moves_) &&
             (!before.pitch.is_dense() || users_.pay_off(moved, places_.pitch_of(moved)));
    });
  }

  /// Leaves out the moves that `place` finds a place for; each is no work of the layer's when it is
  /// asked.
  template <class F>
  void leave_out(Layer& l, const F& place) {
    moves_.begin_to_leave_out(l);
    for (size_t i = 0; i < l.work.size(); ++i) {
      const auto* op = std::get_if<MemoryOp>(&l.work[i]);
      moves_.leave_out(i);
      moves_.leave_out(i, op && is_move(*op) && place(*op));
    }
    moves_.erase_left_out(l);
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
      const auto rows = moved_sub_tensor(op, true, elements_of(to));
      if (!rows) return false;
      const auto place = sub_tensor_within({from, rows->offset, rows->pitch},
                                           places_.place_in_root(from), elements_of(to));
      if (!place || !move_into(to, *place)) return false;
      --moves[to];
      return true;
    });
  }

  bool can_host(TensorId id) const {
    const Layer* writer = users_.writer_of(places_.root_of(id));
    return !graph_.tensor(id).constant && is_element(graph_.tensor(id).dtype) &&
           (!writer || !rescales_values(*writer));
  }

  // ---- what is put together ---------------------------------------------------------------------

  void put_together(Layer& l) {
    most_given_ = 0;
    for (const TensorId in : l.inputs)
      if (in != kNoTensor && places_.is_given(in))
        most_given_ = std::max(most_given_, elements_of(places_.root_of(in)));
    std::unordered_map<TensorId, int> tried;  ///< places of a tensor that goes to several
    leave_out(l, [&](const MemoryOp& op) {
      const TensorId from = source_of(l, op), all = places_.root_of(from);
      if (++tried[all] > kMostPlaces) return false;
      const auto to = place_in_whole(l, op);
      return to && elements_of(all) == elements_of(from) &&
             (is_written(all) || is_there(all, *to)) && move_into(all, *to);
    });
    moves_.begin_to_leave_out(l);
    while (put_sub_tensors(l)) {
    }
    moves_.erase_left_out(l);
  }

  bool is_written(TensorId id) const { return places_.is_free(id) && users_.writer_of(id); }
  /// What goes into a result of the network, which lies in DRAM, may have been there before: the
  /// host gives a cache where it is appended to. That is the largest that it gives of the parts;
  /// others it gives elsewhere.
  bool is_there(TensorId id, const SubTensor& place) const {
    return places_.is_given(id) && places_.is_free(id) && places_.is_result(place.whole) &&
           elements_of(id) >= most_given_ && !places_.holds_given(place.whole);
  }

  std::optional<SubTensor> place_in_whole(const Layer& l, const MemoryOp& op) const {
    const TensorId from = source_of(l, op), to = target_of(l, op);
    const auto rows = moved_sub_tensor(op, false, elements_of(from));
    if (!rows || !can_host(to)) return std::nullopt;
    return sub_tensor_within({to, rows->offset, rows->pitch}, places_.place_in_root(to),
                             elements_of(from));
  }

  /// Where the parts of a tensor are put together as they lie in it, all of them, it lies there.
  /// True when there was one.
  bool put_sub_tensors(const Layer& l) {
    std::unordered_map<TensorId, std::vector<size_t>> parts;  ///< moves, by the tensor
    std::unordered_map<TensorId, int> tried;
    for (size_t i = 0; i < l.work.size(); ++i)
      if (const auto from = moved_tensor(l, i)) parts[places_.root_of(*from)].push_back(i);
    bool out = false;
    for (size_t i = 0; i < l.work.size(); ++i) {
      const auto from = moved_tensor(l, i);
      if (!from || !is_written(places_.root_of(*from))) continue;
      const TensorId all = places_.root_of(*from);
      if (++tried[all] <= kMostPlaces && put_all(l, i, all, parts[all])) out = true;
    }
    return out;
  }
  /// The part of a tensor that an item of the work moves.
  std::optional<TensorId> moved_tensor(const Layer& l, size_t item) const {
    const auto* op = std::get_if<MemoryOp>(&l.work[item]);
    if (!op || !is_move(*op) || moves_.is_left_out(l, item)) return std::nullopt;
    const TensorId from = source_of(l, *op);
    return places_.root_of(from) == from ? std::nullopt : std::optional(from);
  }
  /// Puts `all` to where item `first` has a part of it, if all of its parts go there.
  bool put_all(const Layer& l, size_t first, TensorId all, const std::vector<size_t>& items) {
    const auto& op = std::get<MemoryOp>(l.work[first]);
    const auto to = place_in_whole(l, op);
    if (!to || all == to->whole) return false;
    const auto place =
        place_of_whole(places_.place_in_root(source_of(l, op)), *to, elements_of(all));
    if (!place) return false;
    ++looks_;
    int64_t found = 0;
    std::vector<size_t> put;
    for (const size_t i : items) {
      const auto& other = std::get<MemoryOp>(l.work[i]);
      const TensorId from = source_of(l, other);
      if (moves_.is_left_out(l, i) || seen_[index(from)] == looks_ ||
          !lies_so(l, other, all, *place))
        continue;
      seen_[index(from)] = looks_;
      put.push_back(i);
      found += elements_of(from);
    }
    if (found != elements_of(all)) return false;
    for (const size_t i : put) moves_.leave_out(i);
    if (move_into(all, *place)) return true;
    for (const size_t i : put) moves_.leave_out(i, false);
    return false;
  }
  bool lies_so(const Layer& l, const MemoryOp& op, TensorId all, const SubTensor& place) const {
    const TensorId from = source_of(l, op);
    if (places_.root_of(from) != all || from == all) return false;
    return place_in_whole(l, op) ==
           sub_tensor_within(places_.place_in_root(from), place, elements_of(from));
  }

  const Graph& graph_;
  Lowered& lowered_;
  SubTensorPlaces places_;
  SubTensorUsers users_;
  LayerMoves moves_;
  int64_t most_given_ = 0;     ///< elements of the largest input of the network that a layer reads
  std::vector<int64_t> seen_;  ///< by tensor: the last look at it
  int64_t looks_ = 0;
};

}  // namespace

void place_sub_tensors(const Graph& graph, Lowered& lowered) {
  lowered.sub_tensors.assign(graph.tensors.size(), {});
  const auto moves = [](const Layer& l) { return l.fate == Fate::memory && !l.work.empty(); };
  if (std::ranges::any_of(lowered.layers, moves)) SubTensorPlacer(graph, lowered).place_all();
}

}  // namespace accsim::sim
