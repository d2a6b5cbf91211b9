#include "sim/sweep/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/config/derive.h"
#include "hw/config/rules.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostMisses = 10'000'000;  // draws in a row that constraints refuse

/// 64 well-mixed bits of a number (the finaliser of MurmurHash3): draws, no names.
constexpr uint64_t mix_bits(uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdULL;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ULL;
  v ^= v >> 33;
  return v;
}

hw::RuleContext::Positions every_field() {
  hw::RuleContext::Positions out;
  for (const hw::Field& f : hw::fields()) out.emplace(f.path, hw::TextPosition{});
  return out;
}

}  // namespace

Space::Space(const SweepSpec& spec) : spec_(&spec) {
  const size_t axes = spec.axes.size();
  const std::vector<const hw::Field*> numeric = numeric_fields(spec.base);
  hw::HwConfig base = spec.base;
  variables_.assign(axes, 0);
  for (const hw::Field* f : numeric)
    variables_.push_back(as_number(field_setting(*f, base)).value_or(0));
  for (size_t a = 0; a < axes; ++a) {
    const Axis& axis = spec.axes[a];
    size_ *= static_cast<int64_t>(axis.steps.size());
    auto& of_axis = assignments_.emplace_back();
    for (const AxisStep& step : axis.steps) {
      auto& of_step = of_axis.emplace_back();
      of_step.push_back({a, step.value});
      for (size_t k = 0; k < axis.fields.size(); ++k) {
        const auto at = std::find(numeric.begin(), numeric.end(), axis.fields[k]);
        if (const auto v = as_number(step.fields[k]); v && at != numeric.end())
          of_step.push_back({axes + static_cast<size_t>(at - numeric.begin()), *v});
      }
    }
  }
}

AxisSteps Space::steps_of_point(int64_t point) const {
  AxisSteps out(spec_->axes.size());
  for (size_t a = out.size(); a-- > 0;) {
    const auto n = static_cast<int64_t>(spec_->axes[a].steps.size());
    out[a] = static_cast<int>(point % n);
    point /= n;
  }
  return out;
}

int64_t Space::point_of_steps(const AxisSteps& steps) const {
  int64_t out = 0;
  for (size_t a = 0; a < steps.size(); ++a)
    out = out * static_cast<int64_t>(spec_->axes[a].steps.size()) + steps[a];
  return out;
}

bool Space::is_legal(const AxisSteps& steps) {
  if (spec_->constraints.empty()) return true;
  for (size_t a = 0; a < steps.size(); ++a)
    for (const Assignment& set : assignments_[a][static_cast<size_t>(steps[a])])
      variables_[set.variable] = set.value;
  return std::all_of(spec_->constraints.begin(), spec_->constraints.end(),
                     [this](const Expression& c) { return c.holds(variables_); });
}

hw::HwConfig Space::machine_at(const AxisSteps& steps) const {
  hw::HwConfig out = spec_->base;
  for (size_t a = 0; a < steps.size(); ++a) {
    const Axis& axis = spec_->axes[a];
    const AxisStep& step = axis.steps[static_cast<size_t>(steps[a])];
    for (size_t k = 0; k < axis.fields.size(); ++k) set_field(*axis.fields[k], step.fields[k], out);
  }
  derive(out);
  return out;
}

std::vector<std::string> Space::labels_at(const AxisSteps& steps) const {
  std::vector<std::string> out;
  for (size_t a = 0; a < steps.size(); ++a)
    out.push_back(spec_->axes[a].steps[static_cast<size_t>(steps[a])].label);
  return out;
}

std::vector<double> Space::sizes_at(const AxisSteps& steps) const {
  std::vector<double> out;
  for (size_t a = 0; a < bind_axes(*spec_); ++a)
    out.push_back(spec_->axes[a].steps[static_cast<size_t>(steps[a])].value);
  return out;
}

std::string broken_rule(const hw::HwConfig& hw) {
  static const hw::RuleContext::Positions kRead = every_field();
  std::vector<hw::PlacedError> errors;
  hw::RuleContext context(hw, kRead, errors);
  for (const hw::Rule& rule : hw::config_rules()) {
    rule.check(context);
    if (!errors.empty()) return errors.front().message;
  }
  return {};
}

PointSource::PointSource(const SweepSpec& spec) : spec_(spec), space_(spec) {
  const auto most = static_cast<uint64_t>(space_.size() - 1);
  bits_ = std::max(1, (static_cast<int>(std::bit_width(most)) + 1) / 2);
}

/// A permutation of 0..size-1: a Feistel network over the next even number of bits, walked until it
/// comes back into range.
int64_t PointSource::shuffled_point(int64_t i) const {
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  auto v = static_cast<uint64_t>(i);
  do {
    uint64_t left = v >> bits_, right = v & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      const uint64_t next = left ^ (mix_bits(right ^ mix_bits(spec_.seed * 8 + round)) & mask);
      left = right;
      right = next;
    }
    v = left << bits_ | right;
  } while (v >= static_cast<uint64_t>(space_.size()));
  return static_cast<int64_t>(v);
}

int64_t PointSource::next_point() {
  const bool random = spec_.strategy == Strategy::random;
  if (random && found_ == spec_.count) return -1;
  for (int64_t misses = 0; at_ < space_.size() && (!random || misses < kMostMisses); ++misses) {
    const int64_t point = random ? shuffled_point(at_) : at_;
    ++at_;
    if (!space_.is_legal(space_.steps_of_point(point))) continue;
    ++found_;
    return point;
  }
  return -1;
}

Result<int64_t> count_points(const SweepSpec& spec) {
  int64_t count = 0;
  if (spec.constraints.empty()) {
    count = Space(spec).size();
    return spec.strategy == Strategy::random ? std::min(count, spec.count) : count;
  }
  PointSource source(spec);
  while (source.next_point() >= 0) ++count;
  if (count > 0) return count;
  std::string all;
  for (const Expression& c : spec.constraints) all += (all.empty() ? "" : ", ") + c.text();
  return Error{
      Errc::invalid,
      fmt::format("no point of {} satisfies the constraints ({}); they contradict one another "
                  "or the axes' values",
                  Space(spec).size(), all),
      spec.file};
}

}  // namespace accsim::sim
