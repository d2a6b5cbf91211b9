#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace accsim::sim {

/// What the waveforms of a program have of it.
struct WrittenWaveform {
  int64_t first = -1, last = -1;  ///< cycles of the program; -1: none
  uint64_t time = 0;              ///< in the file, of the first; a cycle has two steps
  bool complete = true;           ///< false: the file has reached its limit
};

/// Commands that finish on RTL in another cycle than on the timing model.
struct LateCommands {
  std::map<std::string, int64_t> queues = {};  ///< how many, by queue; those with none aren't here
  std::string first;                           ///< of them, with both cycles

  int64_t command_count() const;
};

/// One program that was run on RTL, golden and timing model.
struct VerifyRow {
  std::string name;  ///< layer, or the case's number
  std::string shape;
  std::string mapping;
  std::string cut;                ///< what --max-cycles left out; empty: the whole layer ran
  std::vector<std::string> same;  ///< other layers that run the very same program
  int64_t commands = 0;
  bool values_equal = false, cycles_equal = false;
  bool any_cycles = false;  ///< RTL may take other cycles than the model: they are reported
  LateCommands late = {};
  int64_t rtl_cycles = 0, model_cycles = 0;
  double seconds = 0;       ///< of the co-simulation, golden included
  std::string broken;       ///< what no core may do, whatever cycles it takes; empty: nothing
  std::string difference;   ///< first command that is wrong, or late where it may not; empty: none
  std::string wrong_layer;  ///< of a network: that command's
  std::optional<WrittenWaveform> waveform;
  std::vector<std::string> signals = {};  ///< of the waveforms (signal_list.h), where asked for
  std::string error;                      ///< why it could not be run; empty when it was
  bool no_core = false;                   ///< because its core couldn't be built or loaded
  bool done = false;                      ///< false: interrupted before its turn
  /// How often it ran what, by command and option (hw/program/coverage.h).
  std::map<std::string, int64_t> coverage = {};

  bool has_passed() const {
    return done && error.empty() && broken.empty() && values_equal && (any_cycles || cycles_equal);
  }
};

/// A network that was verified as one program, beside what the main job reports of it.
struct VerifiedNetwork {
  int64_t report_cycles = 0;          ///< the report's total
  int64_t left_cycles = 0;            ///< of it, of layers that weren't part of the program
  std::vector<std::string> left_out;  ///< those layers
  int64_t parts = 0;                  ///< programs that it is of
  int64_t part_constants = 0;         ///< of them, with scales of a float run; the others: random
  int64_t referenced = 0;             ///< results compared with the integer reference
  std::vector<std::string> taken;     ///< layers whose moves have no meaning that it could compute
  /// Layers that RTL ran: the first, the last; empty: the network's.
  std::string from, until;
  int64_t before = 0, behind = 0;  ///< commands of the program that golden alone ran

  bool is_complete() const { return left_out.empty(); }
  /// Did RTL run a part of the program only?
  bool is_pitched() const { return !from.empty() || !until.empty(); }
};

/// The outcome of `accsim verify`: a row for each program, in the order of the cases.
struct VerifyReport {
  std::string hw, model;  ///< model: file, or what was asked for
  std::vector<VerifyRow> rows;
  std::optional<VerifiedNetwork> network = std::nullopt;  ///< the one row is its program
  bool any_cycles = false;                                ///< of all rows
  bool interrupted = false;
  int64_t unmade = 0;  ///< programs that had no row yet when it was interrupted

  int64_t program_count() const { return static_cast<int64_t>(rows.size()) + unmade; }
  /// Of all programs that were run.
  std::map<std::string, int64_t> merged_coverage() const;
  int64_t passed_count() const;
  int64_t failed_count() const;  ///< run and different, or not runnable
  /// Is what didn't pass only what had no core? Then nothing speaks against the RTL.
  bool only_lacks_cores() const;
  bool all_passed() const { return !interrupted && failed_count() == 0 && !rows.empty(); }
};

/// How to_text() lays the outcome out.
struct VerifyTextOptions {
  size_t width = 100;        ///< no line is wider; at least 60
  bool only_failed = false;  ///< programs that passed are counted, not listed
};
/// Table: a row a program with what speaks against it below, the totals last.
std::string to_text(const VerifyReport& report, const VerifyTextOptions& options);
/// Schema accsim.verify/1.
std::string to_json(const VerifyReport& report);

}  // namespace accsim::sim
