#pragma once
#include <string>
#include <string_view>
#include <type_traits>

#include "hw/program/program.h"

namespace accsim::hw {

/// The words that programs' text has for the values of an enumeration, in its order.
inline std::string_view word_of(Buffer v) { return name(v); }
inline std::string_view word_of(Dataflow v) { return name(v); }
inline std::string_view word_of(MemoryId v) { return name(v); }
inline std::string_view word_of(Queue v) { return name(v); }
inline std::string_view word_of(SyncKind v) { return name(v); }
inline std::string_view word_of(TapOp v) { return name(v); }
inline std::string_view word_of(RowOp v) { return name(v); }
inline std::string_view word_of(LaneOp v) { return row_of(v).name; }
inline std::string_view word_of(FormatId v) { return number_format(v).name; }

/// How many values an enumeration has.
template <class E>
constexpr size_t value_count() {
  if constexpr (std::is_same_v<E, Buffer>) return kBuffers;
  if constexpr (std::is_same_v<E, Dataflow>) return kDataflows;
  if constexpr (std::is_same_v<E, SyncKind>) return kSyncKinds;
  if constexpr (std::is_same_v<E, TapOp>) return kTapOps;
  if constexpr (std::is_same_v<E, RowOp>) return kRowOps;
  if constexpr (std::is_same_v<E, LaneOp>) return kLaneOps;
  if constexpr (std::is_same_v<E, FormatId>) return kNumberFormats.size();
}

/// Calls `f` with every value until it says true; whether it has.
template <class E, class F>
bool find_value(F f) {
  if constexpr (IsId<E>) {
    for (const E v : E::all())
      if (f(v)) return true;
  } else {
    for (size_t i = 0; i < value_count<E>(); ++i)
      if (f(static_cast<E>(i))) return true;
  }
  return false;
}

/// As text has a loop: what it runs over, and its id. A name that ends in a digit or an underscore
/// has one more of those before the id.
inline std::string loop_word(const Loop& loop) {
  const bool apart = !loop.name.empty() && (loop.name.back() == '_' ||
                                            (loop.name.back() >= '0' && loop.name.back() <= '9'));
  return loop.name + (apart ? "_" : "") + std::to_string(loop.id);
}

}  // namespace accsim::hw
