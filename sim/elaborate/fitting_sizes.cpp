#include "sim/elaborate/fitting_sizes.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

using Numbers = std::vector<int64_t>;

constexpr std::array<int64_t, 3> kPictures = {224, 320, 640};
constexpr int64_t kCache = 127;
const Numbers kBatches = {1, 8};
const Numbers kOtherPictures = {384, 256, 336, 518, 512, 299, 32};
const Numbers kTokens = {128, 1, 64, 256, 512, 77, 1024, 3000, 16000};
const Numbers kCaches = {kCache, 1024, 64};
const Numbers kFrames = {16, 8, 32, 64, 128};
const Numbers kHeads = {64, 128, 32, 16, 80, 96, 256, 8};
const Numbers kChannels = {3, 1, 4};
const Numbers kFeatures = {128, 224, 1024, 16000};

/// What a size is of, as far as the shapes of inputs say.
enum class Role : uint8_t { batch, picture, tokens, cache, frames, head, channels, features };
constexpr size_t kRoles = 8;

/// Types that tokens, their places and masks have.
bool of_tokens(const ValueDef& input) {
  return input.dtype == DType::int64 || input.dtype == DType::int32 ||
         input.dtype == DType::boolean;
}

bool is_fixed(const ValueDef& input, size_t axis) { return (*input.dims)[axis].value >= 0; }

/// So few as a picture has channels.
bool is_channel_count(const ValueDef& input, size_t axis) {
  return is_fixed(input, axis) && (*input.dims)[axis].value <= 4;
}

/// Axes behind the first that have no number.
int64_t count_open_axes(const ValueDef& input) {
  int64_t count = 0;
  for (size_t axis = 1; axis < input.dims->size(); ++axis) count += is_fixed(input, axis) ? 0 : 1;
  return count;
}

/// Of a picture, or of several one after the other.
size_t channel_axis(const ValueDef& input) {
  const size_t last = input.dims->size() - 1;
  if (last == 2) return is_channel_count(input, 0) ? 0 : 2;
  if (is_channel_count(input, 1)) return 1;
  if (last == 4 && is_channel_count(input, 2)) return 2;
  if (is_channel_count(input, last)) return last;
  const bool is_last = is_fixed(input, last) && !is_fixed(input, last - 1) && !is_fixed(input, 1);
  return is_last ? last : 1;
}

/// The shape without names.
Numbers numbers_of(const ValueDef& input) {
  Numbers out;
  for (const DimDef& dim : *input.dims) out.push_back(dim.value);
  return out;
}

/// Inputs of a graph that recurrent operators read as their states, through others or not, and as
/// nothing else.
class States {
 public:
  explicit States(const GraphDef& graph) {
    if (std::ranges::none_of(graph.nodes, [](const NodeDef& node) { return is_recurrent(node); }))
      return;
    for (const ValueDef& input : graph.inputs)
      if (input.dims && input.dims->size() == 3) from_[input.name] = {input.name};
    for (const NodeDef& node : graph.nodes) look_at(node);
  }
  bool contains(std::string_view input) const {
    return states_.contains(input) && !others_.contains(input);
  }

 private:
  using Inputs = std::set<std::string_view>;

  static bool is_state(const OpRow& row, size_t port) {
    return port < row.ports.size() && row.ports[port].name.starts_with("initial_");
  }

  static bool is_recurrent(const NodeDef& node) {
    const OpRow* const row = find_op(node.domain, node.op_type);
    for (size_t i = 0; row != nullptr && i < row->ports.size(); ++i)
      if (is_state(*row, i)) return true;
    return false;
  }

  void look_at(const NodeDef& node) {
    const OpRow* const row = find_op(node.domain, node.op_type);
    const bool recurrent = is_recurrent(node);
    Inputs read;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = from_.find(node.inputs[i]);
      if (found == from_.end()) continue;
      Inputs& to = !recurrent ? read : is_state(*row, i) ? states_ : others_;
      to.insert(found->second.begin(), found->second.end());
    }
    if (read.empty()) return;
    for (const std::string& output : node.outputs) from_[output] = read;
  }

  std::map<std::string_view, Inputs> from_;  ///< what tensors are made of
  Inputs states_, others_;
};

/// The ways to choose the sizes of some names together.
using Choices = std::vector<Sizes>;

class Search {
 public:
  Search(const GraphDef& graph, const InputDefs& inputs, const std::vector<std::string>& open,
         const Sizes& bound);

  /// Ways to choose, a list for names that go together; those likely to be found first come last.
  std::vector<Choices> list_choices() const;
  const std::vector<std::string>& names_of_role(Role role) const {
    return names_[static_cast<size_t>(role)];
  }

 private:
  const ValueDef& input_at(const SizePlace& at) const { return *inputs_[at.input]; }
  size_t axis_count(const SizePlace& at) const { return input_at(at).dims->size(); }
  bool is_batch(const NamedSize& size) const;
  bool counts_tokens(const NamedSize& size) const;
  bool is_cache(const NamedSize& size, const SizePlace& widest) const;
  Role role_in_picture(const SizePlace& at) const;
  Role role_of(const NamedSize& size) const;
  void look_at_inputs(const std::vector<NamedSize>& sizes);
  void look_at_weights(const GraphDef& graph);
  Numbers sizes_beside(const NamedSize& size) const;
  Choices choices_for_all(const std::vector<std::string>& names, const Numbers& numbers) const;
  Choices token_choices() const;
  void add_alone(Role role, const Numbers& numbers, bool stored_first,
                 std::vector<Choices>& out) const;

  const InputDefs& inputs_;
  std::map<std::string, NamedSize> sizes_;
  const States states_;
  std::map<Numbers, int64_t> alike_;  ///< how many inputs have a shape, names aside
  std::set<size_t> masks_;            ///< inputs with axes that count tokens
  /// Of an input dims of stored tensors that nodes read together with it.
  std::map<std::string_view, Numbers> beside_;
  std::array<std::vector<std::string>, kRoles> names_;  ///< by role
  bool has_tokens_ = false;
  bool is_cached_ = false;
  int64_t cache_ = kCache;
  int64_t tokens_ = 0;  ///< the fewest that are given; 0: none are
};

Search::Search(const GraphDef& graph, const InputDefs& inputs, const std::vector<std::string>& open,
               const Sizes& bound)
    : inputs_(inputs), states_(graph) {
  const std::vector<NamedSize> sizes = named_sizes(inputs);
  look_at_inputs(sizes);
  look_at_weights(graph);
  const std::set<std::string_view> is_open(open.begin(), open.end());
  for (const NamedSize& size : sizes) {
    const Role what = role_of(size);
    const auto known = bound.find(size.name);
    if (what == Role::cache) is_cached_ = true;
    if (what == Role::cache && known != bound.end()) cache_ = known->second;
    if (what == Role::tokens && known != bound.end())
      tokens_ = tokens_ == 0 ? known->second : std::min(tokens_, known->second);
    if (is_open.contains(size.name)) names_[static_cast<size_t>(what)].push_back(size.name);
    sizes_.emplace(size.name, size);
  }
}

void Search::look_at_inputs(const std::vector<NamedSize>& sizes) {
  for (const ValueDef* input : inputs_) {
    if (!input->dims) continue;
    ++alike_[numbers_of(*input)];
    if (of_tokens(*input) && input->dims->size() <= 2) has_tokens_ = true;
  }
  for (const NamedSize& size : sizes)
    if (counts_tokens(size))
      for (const SizePlace& at : size.places) masks_.insert(at.input);
}

void Search::look_at_weights(const GraphDef& graph) {
  constexpr size_t kMost = 6;
  std::map<std::string_view, const StoredTensor*> stored;
  for (const StoredTensor& tensor : graph.initializers)
    if (tensor.dtype != DType::int64) stored.emplace(tensor.name, &tensor);  // those are shapes
  for (const ValueDef* input : inputs_) beside_[input->name];
  for (const NodeDef& node : graph.nodes)
    for (const std::string& name : node.inputs) {
      const auto of = beside_.find(name);
      if (of == beside_.end() || of->second.size() >= kMost) continue;
      for (const std::string& other : node.inputs)
        if (const auto found = stored.find(other); found != stored.end())
          for (const int64_t dim : found->second->dims)
            if (dim > 0 && std::ranges::find(of->second, dim) == of->second.end())
              of->second.push_back(dim);
    }
}

/// Tokens come in batches, whatever axis of a state is the batch. Of the states of recurrent
/// operators the middle one is.
bool Search::is_batch(const NamedSize& size) const {
  if (std::ranges::any_of(size.places, [&](const SizePlace& at) {
        return at.axis == 1 && states_.contains(input_at(at).name);
      }))
    return true;
  bool is_first = false;
  for (const SizePlace& at : size.places) {
    if (!of_tokens(input_at(at)) || axis_count(at) < 2) continue;
    if (at.axis > 0) return false;
    is_first = true;
  }
  return is_first;
}

/// Stands it behind the batch of an input of tokens?
bool Search::counts_tokens(const NamedSize& size) const {
  return std::ranges::any_of(size.places, [&](const SizePlace& at) {
    return of_tokens(input_at(at)) && axis_count(at) <= 3 && (at.axis > 0 || axis_count(at) == 1);
  });
}

/// Keys and values that are there already come as two inputs or more.
bool Search::is_cache(const NamedSize& size, const SizePlace& widest) const {
  if (widest.axis == 0 || axis_count(widest) < 3) return false;
  std::set<size_t> in;
  for (const SizePlace& at : size.places)
    if (at.axis > 0 && axis_count(at) >= 3) in.insert(at.input);
  if (in.size() < 2 && alike_.at(numbers_of(input_at(widest))) < 2) return false;
  return has_tokens_ || (axis_count(widest) == 4 && count_open_axes(input_at(widest)) == 1);
}

Role Search::role_in_picture(const SizePlace& at) const {
  const size_t channels = channel_axis(input_at(at));
  if (at.axis == channels) return Role::channels;
  const size_t first = channels == 1 ? 2 : 1;
  return axis_count(at) == 5 && at.axis == first ? Role::frames : Role::picture;
}

/// As the input of the most axes that has it says.
Role Search::role_of(const NamedSize& size) const {
  const auto count = [&](const SizePlace& at) { return std::pair(axis_count(at), at.axis > 0); };
  const SizePlace at = *std::ranges::max_element(size.places, {}, count);
  const ValueDef& in = input_at(at);
  const bool is_last = at.axis + 1 == axis_count(at);
  if (is_batch(size) || (at.axis == 0 && axis_count(at) > 1)) return Role::batch;
  if (counts_tokens(size)) return Role::tokens;
  if (is_cache(size, at)) return is_last && count_open_axes(in) > 1 ? Role::head : Role::cache;
  // Of three axes: 3 or 4 channels before height and width.
  const bool one_picture = axis_count(at) == 3 && is_channel_count(in, 0) &&
                           (*in.dims)[0].value >= 3 && count_open_axes(in) == 2;
  if (axis_count(at) >= 4 && masks_.contains(at.input)) return Role::tokens;
  if (axis_count(at) >= 4 || one_picture) return role_in_picture(at);
  return axis_count(at) == 3 && count_open_axes(in) == 1 ? Role::tokens : Role::features;
}

Numbers Search::sizes_beside(const NamedSize& size) const {
  return beside_.at(input_at(size.places.front()).name);
}

/// One size for all of the names.
Choices Search::choices_for_all(const std::vector<std::string>& names,
                                const Numbers& numbers) const {
  Choices out;
  for (const int64_t number : numbers) {
    Sizes& sizes = out.emplace_back();
    for (const std::string& name : names) sizes.emplace(name, number);
  }
  return out;
}

/// Behind a cache one token comes, and masks are as long as both.
Choices Search::token_choices() const {
  const std::vector<std::string>& all = names_of_role(Role::tokens);
  if (!is_cached_) return choices_for_all(all, kTokens);
  if (tokens_ > cache_) return choices_for_all(all, {tokens_ - cache_, tokens_ + cache_, tokens_});
  if (tokens_ > 0) return choices_for_all(all, {tokens_ + cache_, tokens_});
  const int64_t both = cache_ + 1;
  Choices one_of_both = choices_for_all(all, {both, both, 1, both});
  one_of_both[0][all.front()] = 1;
  one_of_both[1][all.back()] = 1;
  return one_of_both;
}

/// Each name by itself; what weights beside it have before or behind the usual ones.
void Search::add_alone(Role role, const Numbers& numbers, bool stored_first,
                       std::vector<Choices>& out) const {
  for (const std::string& name : names_of_role(role)) {
    Numbers tried = sizes_beside(sizes_.at(name));
    tried.insert(stored_first ? tried.end() : tried.begin(), numbers.begin(), numbers.end());
    out.push_back(choices_for_all({name}, tried));
  }
}

std::vector<Choices> Search::list_choices() const {
  std::vector<Choices> out;
  if (!names_of_role(Role::batch).empty())
    out.push_back(choices_for_all(names_of_role(Role::batch), kBatches));
  Numbers pictures(kPictures.begin(), kPictures.end());
  pictures.insert(pictures.end(), kOtherPictures.begin(), kOtherPictures.end());
  if (!names_of_role(Role::picture).empty())
    out.push_back(choices_for_all(names_of_role(Role::picture), pictures));
  if (!names_of_role(Role::cache).empty())
    out.push_back(choices_for_all(names_of_role(Role::cache), kCaches));
  if (!names_of_role(Role::tokens).empty()) out.push_back(token_choices());
  add_alone(Role::frames, kFrames, false, out);
  if (!names_of_role(Role::head).empty())
    out.push_back(choices_for_all(names_of_role(Role::head), kHeads));
  add_alone(Role::channels, kChannels, false, out);
  add_alone(Role::features, kFeatures, true, out);
  return out;
}

/// Of all combinations of choices, the one with that number; the last list changes fastest. Empty
/// behind the last.
Sizes nth_combination(const std::vector<Choices>& choices, int64_t number) {
  Sizes out;
  for (size_t i = choices.size(); i-- > 0;) {
    const auto count = std::ssize(choices[i]);
    const Sizes& chosen = choices[i][static_cast<size_t>(number % count)];
    out.insert(chosen.begin(), chosen.end());
    number /= count;
  }
  return number == 0 ? out : Sizes();
}

}  // namespace

FittingSizes find_sizes(const GraphDef& graph, const InputDefs& inputs,
                        const std::vector<std::string>& open, const Sizes& bound,
                        const std::function<bool(const Sizes&)>& fits) {
  const Search search(graph, inputs, open, bound);
  const std::vector<Choices> choices = search.list_choices();
  FittingSizes out;
  for (int64_t i = 0; i < kMostTries && out.sizes.empty(); ++i) {
    Sizes tried = nth_combination(choices, i);
    if (tried.empty()) break;
    if (fits(tried)) out.sizes = std::move(tried);
  }
  const std::vector<std::string>& pictures = search.names_of_role(Role::picture);
  if (out.sizes.empty() || pictures.empty()) return out;
  const int64_t found = out.sizes.at(pictures.front());
  for (const int64_t size : kPictures) {
    Sizes other = out.sizes;
    for (const std::string& name : pictures) other[name] = size;
    if (size == found || fits(other)) out.pictures.push_back(size);
  }
  if (out.pictures.empty()) out.pictures.push_back(found);
  return out;
}

}  // namespace accsim::sim
