#pragma once
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// Several functions as one: what it is called with chooses.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// One walk of visit_nest().
template <class F>
class NestWalk {
 public:
  explicit NestWalk(F& handler) : handler_(handler) {}

  /// False when a handler has ended the walk.
  template <class Items>
  bool walk_items(Items& items) {
    for (auto& item : items) {
      if (ended_) break;
      std::visit([this](auto& node) { this->visit_node(node); }, item.node);
    }
    return !ended_;
  }

 private:
  template <class Node>
  void visit_node(Node& node) {
    using Kind = std::remove_const_t<Node>;
    if constexpr (std::is_same_v<Kind, Loop>) {
      const auto inner = [this, &node]() -> bool { return walk_items(node.body); };
      if constexpr (std::is_invocable_v<F&, Node&, decltype(inner)&>)
        call_handler(node, inner);
      else
        inner();
    } else if constexpr (std::is_invocable_v<F&, Node&>) {
      call_handler(node);
    } else if constexpr (std::is_same_v<Kind, Command>) {
      std::visit([this](auto& command) { this->visit_node(command); }, node);
    }
  }
  template <class... Arguments>
  void call_handler(Arguments&... arguments) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Arguments&...>>)
      handler_(arguments...);
    else if (!handler_(arguments...))
      ended_ = true;
  }

  F& handler_;
  bool ended_ = false;
};

/// Walks a program's text, or a part of it, in its order. `f` is called with each item that it
/// takes: a Command or one of its kinds, a Sync, a Mark, a LayerHead. Other items are left
/// out. A loop's body is walked once, unless `f` takes the Loop with a function beside it.
/// Each call of that function walks the body. If `f` returns false the walk ends, and this
/// returns false.
template <class Items, class F>
bool visit_nest(Items&& items, F f) {
  return NestWalk<F>(f).walk_items(items);
}

/// Is `f` true of one that it takes? Looks no further than there.
template <class Items, class F>
bool any_in_nest(const Items& items, F f) {
  const auto is_other = [&](const auto& node) -> decltype(!f(node)) { return !f(node); };
  return !visit_nest(items, is_other);
}
/// Is there a command of this kind?
template <class C, class Items>
bool has_command(const Items& items) {
  return any_in_nest(items, [](const C&) { return true; });
}

/// As visit_nest(), with how often the loops around it run it: f(node, times).
template <class Items, class F>
void visit_times(const Items& items, F f) {
  int64_t times = 1;
  const auto loop = [&](const Loop& l, const auto& inner) {
    const int64_t around = std::exchange(times, times * l.count);
    inner();
    times = around;
  };
  const auto node = [&](const auto& n) -> decltype(f(n, times)) { return f(n, times); };
  visit_nest(items, Overloaded{loop, node});
}

/// Writes a text anew: of every item but loops `f(std::move(item), to)` appends to a body what
/// stands in its place. Loops stay, around what their bodies become.
template <class F>
void rewrite_nest(std::vector<Item>& items, F&& f) {
  std::vector<Item> out;
  out.reserve(items.size());
  for (Item& item : items) {
    if (auto* loop = std::get_if<Loop>(&item.node)) {
      rewrite_nest(loop->body, f);
      out.push_back(std::move(item));
    } else {
      f(std::move(item), out);
    }
  }
  items = std::move(out);
}

}  // namespace accsim::hw
