#pragma once
#include <vector>

#include "sim/graph/graph.h"
#include "sim/lower/pitched_work.h"
#include "sim/lower/sub_tensor_geometry.h"

namespace accsim::sim {

/// Which tensor each one lies in while sub-tensors are placed (Lowered::sub_tensors), and what may
/// not move. All that lies in a tensor with bytes of its own moves with it.
class SubTensorPlaces {
 public:
  /// `lowered.sub_tensors` has one of each tensor; none lies in another one yet.
  SubTensorPlaces(const Graph& graph, Lowered& lowered);

  /// A view is all of what it shows.
  void note_view(const Layer& l);
  /// What lies with the tensor stays where it is: on some machine it has another scale.
  void keep_place(TensorId id) { kept_[index(root_of(id))] = true; }

  TensorId root_of(TensorId id) const {
    const TensorId whole = sub_tensors_[index(id)].whole;
    return whole == kNoTensor ? id : whole;
  }
  /// As a part, of itself where it is none.
  SubTensor place_in_root(TensorId id) const {
    SubTensor out = sub_tensors_[index(id)];
    if (out.whole == kNoTensor) out.whole = id;
    return out;
  }
  const Pitch& pitch_of(TensorId id) const { return sub_tensors_[index(id)].pitch; }
  /// Where a layer's operands lie now.
  PortPitches port_pitches(const Layer& l) const;
  bool reads_or_writes_sub_tensors(const Layer& l) const;

  /// Has a tensor bytes that can lie anywhere?
  bool is_free(TensorId id) const {
    return sub_tensors_[index(id)].whole == kNoTensor && !kept_[index(id)] &&
           !graph_.tensor(id).constant;
  }
  /// Is it, or the tensor that it lies in, the network's input?
  bool is_given(TensorId id) const { return given_[index(root_of(id))]; }
  /// Does an input of the network lie in it, or is it one?
  bool holds_given(TensorId id) const { return holds_given_[index(id)]; }
  /// Is it, or a view of it, an output of the network?
  bool is_result(TensorId id) const { return result_[index(id)]; }

  /// Makes all that lies in `id` lie in a part of another tensor. Nothing changes, and it is false,
  /// where `takes(tensor, part that it was before)` isn't true of each of them.
  template <class F>
  bool move_into(TensorId id, const SubTensor& to, const F& takes) {
    const std::vector<TensorId> moved = members_[index(id)];
    std::vector<SubTensor> before;
    for (const TensorId m : moved) before.push_back(sub_tensors_[index(m)]);
    bool good = set_places(moved, to);
    for (size_t i = 0; i < moved.size() && good; ++i) good = takes(moved[i], before[i]);
    good = good && have_one_pitch(to.whole, moved);
    if (good) join_members(to.whole, id);
    for (size_t i = 0; i < moved.size() && !good; ++i) sub_tensors_[index(moved[i])] = before[i];
    return good;
  }

 private:
  static size_t index(TensorId id) { return static_cast<size_t>(id); }
  int64_t elements_of(TensorId id) const { return elements(graph_.tensor(id).dims); }
  void join_members(TensorId whole, TensorId id);
  /// False where one of them can't lie there.
  bool set_places(const std::vector<TensorId>& moved, const SubTensor& to);
  /// Rows of what lies in one tensor all have one pitch; it may be a new one for what has moved.
  bool have_one_pitch(TensorId whole, const std::vector<TensorId>& moved);

  const Graph& graph_;
  std::vector<SubTensor>& sub_tensors_;
  std::vector<bool> given_, holds_given_, result_;
  std::vector<bool> kept_;      ///< a result, or somebody may show it with another scale
  std::vector<int64_t> pitch_;  ///< of rows of what lies in a tensor; 0: all dense
  std::vector<std::vector<TensorId>> members_;  ///< by tensor with bytes of its own
};

}  // namespace accsim::sim
