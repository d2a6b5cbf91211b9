#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/base/check.h"
#include "sim/base/variant.h"

namespace accsim {

/// What kind of thing is wrong, for callers that treat kinds differently.
enum class Errc { usage, io, parse, unsupported, invalid, capacity, overflow };

/// One thing that is wrong with the user's input. `where` names the file, line, node or field.
struct Error {
  Errc code = Errc::invalid;
  std::string message;
  std::string where;

  /// "where: message", or the message alone when `where` is empty.
  std::string text() const { return where.empty() ? message : where + ": " + message; }
};

/// All that is wrong, in the order in which it was found.
using Errors = std::vector<Error>;

/// A value or the list of everything that is wrong (never an empty list).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(Errors{std::move(error)}) {}
  Result(Errors errors) : state_(std::move(errors)) {
    check(!std::get<Errors>(state_).empty(), "a failed Result needs an error");
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    check(ok(), "value() of a failed Result");
    return std::get<T>(state_);
  }
  T& value() & {
    check(ok(), "value() of a failed Result");
    return std::get<T>(state_);
  }
  T&& value() && {
    check(ok(), "value() of a failed Result");
    return std::get<T>(std::move(state_));
  }
  const Errors& errors() const {
    check(!ok(), "errors() of a good Result");
    return std::get<Errors>(state_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  Variant<Errors, T> state_;  // errors first: a list without elements needs no memory
};

/// The value of an operation that gives nothing but its success.
struct Ok {};
/// For operations that either work or fail and return nothing.
using Status = Result<Ok>;
/// A Status without error.
inline Status ok() { return Ok{}; }

}  // namespace accsim
