#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "hw/program/program.h"

namespace accsim::test {

/// Are programs, or parts of them, equal in every field? A field that is added doesn't compile here
/// before it is compared. What changes nothing, text leaves out, and it doesn't count here: terms
/// of factor 0, and first loops of what accumulates anyway.
class SameFields {
 public:
  template <class T>
  static bool same(const T& a, const T& b) {
    if constexpr (requires { a.first_of; })
      return same_fields(fields(without_idle_loops(a)), fields(without_idle_loops(b)));
    else if constexpr (requires { fields(a); })
      return same_fields(fields(a), fields(b));
    else
      return a == b;
  }
  static bool same(const hw::Affine& a, const hw::Affine& b) {
    return a.base == b.base && terms(a) == terms(b);
  }
  template <class T>
  static bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }
  template <class T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return same_lists(a, b);
  }
  template <class T, size_t N>
  static bool same(const std::array<T, N>& a, const std::array<T, N>& b) {
    return same_lists(a, b);
  }
  template <class... T>
  static bool same(const std::variant<T...>& a, const std::variant<T...>& b) {
    const auto equal = [&](const auto& x) {
      return same(x, std::get<std::remove_cvref_t<decltype(x)>>(b));
    };
    return a.index() == b.index() && std::visit(equal, a);
  }

 private:
  template <class List>
  static bool same_lists(const List& a, const List& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same(x, y); });
  }
  template <class C>
  static C without_idle_loops(C command) {
    if (command.accumulate) command.first_of.clear();
    return command;
  }
  static std::vector<hw::Affine::Term> terms(const hw::Affine& sum) {
    std::vector<hw::Affine::Term> out = sum.terms;
    std::erase_if(out, [](const hw::Affine::Term& t) { return t.coeff == 0; });
    return out;
  }
  template <class Tuple>
  static bool same_fields(const Tuple& a, const Tuple& b) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return (same(std::get<I>(a), std::get<I>(b)) && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }

  template <class C>
  static auto tie1(const C& c) {
    const auto& [f1] = c;
    return std::tie(f1);
  }
  template <class C>
  static auto tie2(const C& c) {
    const auto& [f1, f2] = c;
    return std::tie(f1, f2);
  }
  template <class C>
  static auto tie3(const C& c) {
    const auto& [f1, f2, f3] = c;
    return std::tie(f1, f2, f3);
  }
  template <class C>
  static auto tie4(const C& c) {
    const auto& [f1, f2, f3, f4] = c;
    return std::tie(f1, f2, f3, f4);
  }
  template <class C>
  static auto tie5(const C& c) {
    const auto& [f1, f2, f3, f4, f5] = c;
    return std::tie(f1, f2, f3, f4, f5);
  }
  template <class C>
  static auto tie6(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6] = c;
    return std::tie(f1, f2, f3, f4, f5, f6);
  }
  template <class C>
  static auto tie7(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7);
  }
  template <class C>
  static auto tie8(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8);
  }
  template <class C>
  static auto tie9(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9);
  }
  template <class C>
  static auto tie10(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
  }
  template <class C>
  static auto tie11(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11);
  }
  template <class C>
  static auto tie12(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12);
  }
  template <class C>
  static auto tie17(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17);
  }
  template <class C>
  static auto tie20(const C& c) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
                 f19, f20] = c;
    return std::tie(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18,
                    f19, f20);
  }

  static auto fields(const hw::PaddedWindow& c) { return tie11(c); }
  static auto fields(const hw::Gather& c) { return tie3(c); }
  static auto fields(const hw::LoadCommand& c) { return tie8(c); }
  static auto fields(const hw::StoreCommand& c) { return tie4(c); }
  static auto fields(const hw::StageCommand& c) { return tie5(c); }
  static auto fields(const hw::OperandWindow& c) { return tie10(c); }
  static auto fields(const hw::WeightTile& c) { return tie7(c); }
  static auto fields(const hw::GemmCommand& c) { return tie9(c); }
  static auto fields(const hw::DrainCommand& c) { return tie5(c); }
  static auto fields(const hw::PostCommand& c) { return tie12(c); }
  static auto fields(const hw::SetTableCommand& c) { return tie2(c); }
  static auto fields(const hw::LaneOperand& c) { return tie6(c); }
  static auto fields(const hw::LaneCommand& c) { return tie17(c); }
  static auto fields(const hw::RowOperand& c) { return tie3(c); }
  static auto fields(const hw::RowLogarithm& c) { return tie5(c); }
  static auto fields(const hw::RowCommand& c) { return tie20(c); }
  static auto fields(const hw::VectorCommand& c) { return tie3(c); }
  static auto fields(const hw::LayerHead& c) { return tie2(c); }
  static auto fields(const hw::ProgramTensor& c) { return tie7(c); }
  static auto fields(const hw::Loop& c) { return tie4(c); }
  static auto fields(const hw::Item& c) { return tie1(c); }
  static auto fields(const hw::Program& c) { return tie5(c); }
};

/// Two programs, or parts of them.
template <class T>
bool same(const T& a, const T& b) {
  return SameFields::same(a, b);
}

}  // namespace accsim::test
