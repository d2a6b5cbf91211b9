#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hw/timing/simulator.h"

namespace accsim::hw {

/// What chains have found out about programs, for later chains on this machine and on others. A
/// program's steps say all that time depends on, apart from the slots that a machine begins with.
/// One chain at a time; not thread-safe.
class ChainMemory {
 public:
  /// What a program makes of a machine's state.
  struct Known {
    Timing share;
    std::vector<int64_t> marks;  ///< those that the program sets, from the old floor on
    int32_t next = 0;            ///< number of the next state
    int64_t ahead = 0;           ///< from floor to floor
  };

  /// Before each chain: forgets what is of machines with other slots, or of too many programs.
  void begin_chain(const HwConfig& hw, bool loads_first);
  /// A number for a program, the same for equal ones.
  int32_t program_number(std::span<const Step> steps);
  /// A number for a state but for its marks, the same for equal ones. Precondition: its rings begin
  /// at their heads.
  int32_t state_number(const SimulatorState& s);
  /// The state of a number, without marks; the same object until the next chain begins.
  const SimulatorState& state(int32_t number) const { return all_states_[size_t(number)]; }
  /// What is known under a key, the same until the next chain begins; nothing yet when `fresh`.
  struct Entry {
    Known& known;
    bool fresh;
  };
  Entry find_known(std::string_view key);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const;
  };
  template <class Value>
  using Texts = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  static int32_t number_of_text(Texts<int32_t>& of, std::string_view text);

  std::string machine_;
  Texts<int32_t> programs_;  ///< by the bytes of their steps
  Texts<int32_t> states_;
  std::deque<SimulatorState> all_states_;  ///< by number
  Texts<Known> known_;
};

}  // namespace accsim::hw
