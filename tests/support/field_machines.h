#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/load.h"

namespace accsim::test {

/// Changes one field of the table at random: numbers by a factor of 1/4 to 4 within their range,
/// words to any choice, the list to any set. The machine may then break a rule.
inline void draw_field(const hw::Field& field, std::mt19937& random, hw::HwConfig& hw) {
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const double factor = std::exp2(std::uniform_real_distribution<double>(-2, 2)(random));
  const auto number = [&](double v) { return std::clamp(v * factor, field.min, field.max); };
  std::visit(
      hw::FieldCases{
          [&](const hw::Member<int64_t>& m) {
            m.of(hw) = std::llround(number(static_cast<double>(m.of(hw))));
          },
          [&](const hw::Member<double>& m) { m.of(hw) = number(m.of(hw)); },
          [&](const hw::Member<hw::DerivableNumber>& m) { m.of(hw) = number(m.of(hw).value); },
          [&](const hw::Member<hw::ByteRate>& m) {
            m.of(hw).milli = std::llround(1000 * number(m.of(hw).value()));
          },
          [](const hw::Member<std::string>&) {},
          [&](const hw::Member<std::vector<hw::Dataflow>>& m) {
            m.of(hw).clear();
            for (size_t d = 0, set = 1 + below(7); d < hw::kDataflows; ++d)
              if ((set >> d) % 2 == 1) m.of(hw).push_back(static_cast<hw::Dataflow>(d));
          },
          // Of several modes the first ones.
          [&](const hw::Member<std::vector<hw::TypeMode>>& m) {
            m.of(hw).resize(below(m.of(hw).size() + 1));
          },
          [&]<hw::EngineEntry T>(const hw::Member<std::vector<T>>& m) {
            m.of(hw).resize(below(m.of(hw).size() + 1));
          },
          [](const hw::Member<DType>&) {},  // go together only: what is drawn is refused
          [&]<class Enum>(const hw::Member<Enum>& m) {
            m.of(hw) = static_cast<Enum>(below(field.choices.size()));
          },
      },
      field.target);
}

/// A machine that obeys every rule, with each field of the table drawn around `base`; a field keeps
/// its value where the rules refuse what was drawn.
inline hw::HwConfig draw_machine(const hw::HwConfig& base, std::mt19937& random) {
  hw::HwConfig out = base;
  for (const hw::Field& field : hw::fields()) {
    hw::HwConfig drawn = out;
    draw_field(field, random, drawn);
    if (auto legal = hw::parse_hw(hw::print_hw(drawn), base.file)) out = std::move(*legal);
  }
  return out;
}

}  // namespace accsim::test
