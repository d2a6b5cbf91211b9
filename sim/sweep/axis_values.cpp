#include "sim/sweep/axis_values.h"

#include <fmt/format.h>

#include <cmath>

namespace accsim::sim {

std::nullopt_t AxisErrors::fail(hw::TextPosition at, std::string_view what) {
  all_.fail(at, fmt::format("axis {}: {}", axis_, what));
  none_ = false;
  return std::nullopt;
}

std::optional<double> AxisErrors::number(const hw::YamlNode& node, std::string_view what) {
  const auto v = read_number(node, what, all_);
  if (!v) none_ = false;
  return v;
}

void AxisValues::take_key(const hw::YamlEntry& e) {
  if (e.key == "values") list_ = &e;
  if (e.key == "range") range_ = &e;
  if (e.key == "powers_of_two") powers_ = &e;
}

hw::TextPosition AxisValues::place() const {
  for (const hw::YamlEntry* e : {list_, range_, powers_})
    if (e != nullptr) return e->at;
  return axis_;
}

std::vector<double> AxisValues::read() const {
  if (range_ != nullptr) return read_range();
  if (powers_ != nullptr) return read_powers();
  return list_ != nullptr ? read_list() : std::vector<double>{};
}

std::vector<double> AxisValues::read_list() const {
  std::vector<double> out;
  if (list_->value.kind != hw::YamlNode::Kind::sequence) {
    errors_.fail(list_->at, "values must be a list, e.g. [64, 128]");
    return out;
  }
  if (list_->value.items.empty()) errors_.fail(list_->at, "has no values; give at least one");
  for (const hw::YamlNode& node : list_->value.items)
    out.push_back(errors_.number(node, "a value of axis " + errors_.axis()).value_or(0));
  return out;
}

std::vector<double> AxisValues::read_range() const {
  constexpr double kMostSteps = 10'000;
  std::optional<double> from, to, step;
  read_section(range_->value, range_->at, fmt::format("range of axis {}", errors_.axis()),
               {"from", "to", "step"}, errors_.all(), [&](const hw::YamlEntry& e) {
                 auto& target = e.key == "from" ? from : e.key == "to" ? to : step;
                 target = errors_.number(e.value, e.key);
               });
  std::vector<double> out;
  if (!from || !to || !step)
    return errors_.fail(range_->at, "range needs numbers from, to and step"), out;
  if (*step <= 0 || *from > *to)
    return errors_.fail(range_->at,
                        "range is empty: from must not be above to, and step be above 0"),
           out;
  const double steps = std::floor((*to - *from) / *step + 1e-9) + 1;
  if (steps > kMostSteps)
    return errors_.fail(range_->at, fmt::format("has {:.0f} values, more than {:.0f}; take a "
                                                "larger step",
                                                steps, kMostSteps)),
           out;
  for (double i = 0; i < steps; ++i)  // to nine decimals: 0.1 + 2 x 0.1 is 0.3
    out.push_back(std::round((*from + i * *step) * 1e9) / 1e9);
  return out;
}

std::vector<double> AxisValues::read_powers() const {
  const auto& items = powers_->value.items;
  const char* usage = "powers_of_two must be [from, to], both powers of two, from not above to";
  std::vector<double> out;
  if (powers_->value.kind != hw::YamlNode::Kind::sequence || items.size() != 2)
    return errors_.fail(powers_->at, usage), out;
  const auto from = errors_.number(items[0], "from"), to = errors_.number(items[1], "to");
  if (!from || !to) return out;
  if (*from <= 0 || *from > *to || std::exp2(std::round(std::log2(*from))) != *from ||
      std::exp2(std::round(std::log2(*to))) != *to || *to > 0x1p40 || *from < 0x1p-10)
    return errors_.fail(powers_->at, usage), out;
  for (double v = *from; v <= *to; v *= 2) out.push_back(v);
  return out;
}

}  // namespace accsim::sim
