#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sim/abi/accsim.h"
#include "sim/base/broken.h"
#include "sim/base/result.h"

namespace accsim::abi {

/// Keeps the text as what the thread's last call had to say; returns the code.
int32_t say_message(accsim_code code, std::string_view text) noexcept;
/// The same of errors: the first says the code. `usage` is that of wrong use, as an argument or as
/// a file that asks for more than there is.
int32_t say_message(const Errors& errors, accsim_code usage = ACCSIM_INPUT);
/// The same of the exception that is being handled.
int32_t say_caught() noexcept;

/// A pointer that a function was given, by its name in accsim.h.
struct Given {
  template <class T>
  Given(const char* of, const T* pointer) : name(of), is_null(pointer == nullptr) {}

  const char* name;
  bool is_null;
};
/// The first of them that is null; nullptr when none is.
const char* first_null(std::initializer_list<Given> all);
/// What is said of it.
int32_t say_null(const char* name);

/// The body of a function of accsim.h: what it returns, or the code of what it throws. It isn't run
/// when a pointer is null.
template <class Body>
int32_t call_guarded(std::initializer_list<Given> all, Body body) noexcept {
  try {
    const BrokenIsThrown on_this_thread;
    if (const char* name = first_null(all)) return say_null(name);
    return body();
  } catch (...) {
    return say_caught();
  }
}

/// ACCSIM_ARGUMENT with "NAME is VALUE; LOW to HIGH is possible".
int32_t say_range(std::string_view name, int64_t value, int64_t low, int64_t high);

}  // namespace accsim::abi
