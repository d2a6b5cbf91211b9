#include "sim/abi/boundary.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace accsim::abi {
namespace {

/// The latter where there is no memory for the former.
struct Message {
  std::string text;
  const char* shown = "";
};
thread_local Message message;

accsim_code code_of(Errc code, accsim_code usage) {
  switch (code) {
    case Errc::usage:
      return usage;
    case Errc::unsupported:
      return ACCSIM_UNSUPPORTED;
    case Errc::io:
    case Errc::parse:
    case Errc::invalid:
    case Errc::capacity:
    case Errc::overflow:
      return ACCSIM_INPUT;
  }
  return ACCSIM_INTERNAL;
}

}  // namespace

int32_t say_message(accsim_code code, std::string_view text) noexcept {
  try {
    message.text = text;
    message.shown = message.text.c_str();
  } catch (const std::bad_alloc&) {
    message.shown = "there is too little memory to say what is wrong";
  }
  return code;
}

int32_t say_message(const Errors& errors, accsim_code usage) {
  std::string text;
  for (const Error& e : errors) text += (text.empty() ? "" : "\n") + e.text();
  return say_message(code_of(errors.front().code, usage), text);
}

int32_t say_caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return say_message(ACCSIM_MEMORY, "there is too little memory");
  } catch (const std::length_error&) {  // of a vector that no memory could hold
    return say_message(ACCSIM_MEMORY, "there is too little memory");
  } catch (const std::exception& e) {
    try {
      return say_message(ACCSIM_INTERNAL, fmt::format("internal error: {}", e.what()));
    } catch (...) {
      return say_message(ACCSIM_INTERNAL, "internal error");
    }
  } catch (...) {
    return say_message(ACCSIM_INTERNAL, "internal error");
  }
}

const char* first_null(std::initializer_list<Given> all) {
  for (const Given& g : all)
    if (g.is_null) return g.name;
  return nullptr;
}

int32_t say_null(const char* name) {
  return say_message(ACCSIM_ARGUMENT, fmt::format("{} is null", name));
}

int32_t say_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  return say_message(ACCSIM_ARGUMENT,
                     high < low
                         ? fmt::format("{} is {}; there is none", name, value)
                         : fmt::format("{} is {}; {} to {} is possible", name, value, low, high));
}

}  // namespace accsim::abi

const char* accsim_message() { return accsim::abi::message.shown; }

int32_t accsim_abi_version() { return ACCSIM_ABI_VERSION; }
