#pragma once
#include <stdexcept>

namespace accsim {

/// A broken invariant, on a thread on which it doesn't stop the program.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// While it lives, check() throws Broken on its thread: for libraries in other people's programs,
/// which give up what they were asked for and nothing else.
class BrokenIsThrown {
 public:
  BrokenIsThrown();
  ~BrokenIsThrown();
  BrokenIsThrown(const BrokenIsThrown&) = delete;
  BrokenIsThrown& operator=(const BrokenIsThrown&) = delete;

 private:
  bool before_;
};

}  // namespace accsim
