#pragma once
#include <source_location>
#include <string_view>

namespace accsim {

/// Says which invariant broke, and where, and stops the program.
[[noreturn]] void fail_check(std::string_view what, std::source_location at);

/// Stops the program when an internal invariant is broken. On in release builds too: a cost model
/// that goes on after a broken invariant prints wrong numbers. Never used for user errors; those
/// travel as Result<T>.
constexpr void check(bool condition, std::string_view what,
                     std::source_location at = std::source_location::current()) {
  if (!condition) [[unlikely]]
    fail_check(what, at);
}

}  // namespace accsim
