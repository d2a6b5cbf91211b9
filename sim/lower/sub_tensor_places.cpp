#include "sim/lower/sub_tensor_places.h"

#include <algorithm>

#include "sim/lower/lane_meaning.h"

namespace accsim::sim {

SubTensorPlaces::SubTensorPlaces(const Graph& graph, Lowered& lowered)
    : graph_(graph),
      sub_tensors_(lowered.sub_tensors),
      given_(graph.tensors.size(), false),
      result_(graph.tensors.size(), false),
      pitch_(graph.tensors.size(), 0),
      members_(graph.tensors.size()) {
  for (const TensorId id : graph.inputs) given_[index(id)] = true;
  for (const TensorId id : graph.outputs) result_[index(id)] = true;
  holds_given_ = given_;
  kept_ = result_;
  for (size_t i = 0; i < members_.size(); ++i) members_[i].push_back(static_cast<TensorId>(i));
}

void SubTensorPlaces::note_view(const Layer& l) {
  if (l.inputs.empty() || l.inputs[0] == kNoTensor) return;
  const TensorId from = root_of(l.inputs[0]);
  for (const TensorId id : l.outputs) {
    if (id == kNoTensor || elements_of(id) != elements_of(from)) continue;
    sub_tensors_[index(id)] = {from, 0, {}};
    if (kept_[index(id)]) kept_[index(from)] = true;
    if (result_[index(id)]) result_[index(from)] = true;
    join_members(from, id);
  }
}

void SubTensorPlaces::join_members(TensorId whole, TensorId id) {
  std::vector<TensorId>& all = members_[index(whole)];
  all.insert(all.end(), members_[index(id)].begin(), members_[index(id)].end());
  members_[index(id)].clear();
  if (holds_given_[index(id)]) holds_given_[index(whole)] = true;
}

PortPitches SubTensorPlaces::port_pitches(const Layer& l) const {
  const auto of = [this](const std::vector<TensorId>& ids) {
    return [this, &ids](ValuePort port) {
      const auto i = port.index();
      return i < ids.size() && ids[i] != kNoTensor ? pitch_of(ids[i]) : Pitch{};
    };
  };
  return {of(l.inputs), of(l.outputs)};
}

bool SubTensorPlaces::reads_or_writes_sub_tensors(const Layer& l) const {
  const auto is_pitched = [&](TensorId id) { return id != kNoTensor && !pitch_of(id).is_dense(); };
  return !l.work.empty() &&
         (std::ranges::any_of(l.inputs, is_pitched) || std::ranges::any_of(l.outputs, is_pitched));
}

bool SubTensorPlaces::set_places(const std::vector<TensorId>& moved, const SubTensor& to) {
  for (const TensorId id : moved) {
    const auto there = sub_tensor_within(place_in_root(id), to, elements_of(id));
    if (!there || !is_element(graph_.tensor(id).dtype)) return false;
    sub_tensors_[index(id)] = *there;
  }
  return true;
}

bool SubTensorPlaces::have_one_pitch(TensorId whole, const std::vector<TensorId>& moved) {
  int64_t pitch = pitch_[index(whole)];
  for (const TensorId id : moved) {
    const Pitch& p = pitch_of(id);
    if (p.is_dense()) continue;
    if (pitch == 0) pitch = p.pitch;
    if (p.pitch != pitch) return false;
  }
  pitch_[index(whole)] = pitch;
  return true;
}

}  // namespace accsim::sim
