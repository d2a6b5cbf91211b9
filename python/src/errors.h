#pragma once
#include <exception>
#include <string>
#include <utility>

#include "sim/base/result.h"

namespace accsim::python {

/// Errors on their way to Python, where they become accsim.Error.
class RaisedErrors : public std::exception {
 public:
  explicit RaisedErrors(Errors errors) : errors_(std::move(errors)) {}
  const Errors& errors() const { return errors_; }
  const char* what() const noexcept override { return "accsim.Error"; }

 private:
  Errors errors_;
};

/// The value, or RaisedErrors.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw RaisedErrors(result.errors());
  return std::move(*result);
}

/// Makes RaisedErrors accsim.Error. Called once, when the module is loaded.
void translate_errors();

}  // namespace accsim::python
