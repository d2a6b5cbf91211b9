#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace accsim {

/// Of a signature, as std::function has one.
template <class Signature>
class FunctionRef;

/// A call of something that the caller keeps alive: two words, no allocation, and one function of
/// code for each kind of callable (std::function has four). As std::function_ref of C++26.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<Result, F&, Args...>)
      // NOLINTNEXTLINE(google-explicit-constructor): a lambda is passed as it stands
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace accsim
