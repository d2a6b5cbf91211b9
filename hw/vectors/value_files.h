#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/golden/golden.h"
#include "hw/vectors/number_file.h"

namespace accsim::hw {

/// The files of numbers that all levels have: operands of gemms, sums, parameters of posts, bytes.
/// What puts something into one gives [first, count], as lists name it.
class ValueFiles {
 public:
  /// `turned`: the program has input stationary gemms, whose rows of weights are as long as k.
  ValueFiles(const HwConfig& hw, bool turned, const std::filesystem::path& folder,
             NumberFormats formats);

  /// A gemm's: m rows of k in "a"; k rows of n in "b", input stationary n rows of k. Puts both, and
  /// the dataflow, into `line`.
  void write_operands(const RetiredCommand& r, const GemmCommand& g, nlohmann::ordered_json& line);
  /// Sums of a gemm or a drain.
  nlohmann::ordered_json write_sums(const RetiredCommand& r);
  /// A post's, a row per channel.
  nlohmann::ordered_json write_parameters(const RetiredCommand& r);
  /// Those that a command wrote.
  nlohmann::ordered_json write_bytes(const RetiredCommand& r);

  /// The files by their names.
  std::vector<std::pair<std::string, NumberFile*>> number_files();

 private:
  NumberFile a_, b_, sums_, parameters_, bytes_;
};

/// Appends sums in rows of `columns`; [first, count].
nlohmann::ordered_json put_rows(NumberFile& to, std::span<const int32_t> sums, int64_t columns);

}  // namespace accsim::hw
