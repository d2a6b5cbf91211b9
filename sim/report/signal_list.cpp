#include "sim/report/signal_list.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <string_view>

namespace accsim::sim {
namespace {

/// A group's heading and the patterns of what is in it, in order. `*` stands for no dot: an array's
/// modules have thousands of ports.
struct Group {
  std::string_view name;
  std::vector<std::string> patterns;
};

std::vector<Group> signal_groups() {
  const std::string core = "TOP.accsim_core.";
  Group queues{"Queues", {core + "clk_i", core + "rst_ni", core + "enable_i"}};
  for (const char* queue : {"load", "gemm", "post", "vector", "store", "stage"})
    for (const char* port : {"{}_valid_i", "{}_ready_o", "retire_{}_o"})
      queues.patterns.push_back(core + fmt::format(fmt::runtime(port), queue));
  queues.patterns.push_back(core + "retire_drain_o");
  const std::string execute = core + "u_execute.gen_array.";
  return {std::move(queues),
          {"Tokens",
           {core + "u_tokens.*.count_q", core + "u_tokens.*.*.count_q",
            core + "u_region_tokens.*.count_q", core + "u_region_tokens.*.*.count_q"}},
          {"Array",
           {execute + "u_exec.*_active", execute + "u_array.*_i", execute + "u_array.sum_o",
            core + "acc_write_o", core + "acc_write_row_o", core + "acc_write_sum_o"}},
          {"Memory",
           {core + "read_valid_o", core + "read_ready_i", core + "read_shared_o",
            core + "read_addr_o", core + "read_bytes_o", core + "data_valid_i",
            core + "write_valid_o", core + "write_ready_i", core + "write_shared_o",
            core + "write_addr_o", core + "write_bytes_o", core + "write_done_i",
            core + "copy_valid_o", core + "copy_ready_i", core + "copy_done_i"}}};
}

/// "a.b [7:0]" without its range.
std::string signal_stem(const std::string& signal) { return signal.substr(0, signal.find(' ')); }
/// With it, as GTKWave calls it.
std::string without_blanks(std::string signal) {
  std::erase(signal, ' ');
  return signal;
}

bool matches_pattern(std::string pattern, std::string name) {
  std::ranges::replace(pattern, '.', '/');
  std::ranges::replace(name, '.', '/');
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0;
}

std::vector<std::string> of_group(const Group& group, const std::vector<std::string>& signals) {
  std::vector<std::string> out;
  for (const std::string& pattern : group.patterns)
    for (const std::string& signal : signals)
      if (matches_pattern(pattern, signal_stem(signal))) out.push_back(signal);
  return out;
}

}  // namespace

std::string gtkwave_list(const std::vector<std::string>& signals, const std::string& waveforms) {
  // What a trace looks like: a comment, a wide signal in hexadecimal digits, a single bit.
  constexpr std::string_view kComment = "@200", kHexadecimal = "@22", kBit = "@28";
  std::string out = fmt::format("[dumpfile] \"{}\"\n[timestart] 0\n", waveforms);
  for (const Group& group : signal_groups()) {
    out += fmt::format("{}\n-{}\n", kComment, group.name);
    for (const std::string& signal : of_group(group, signals))
      out += fmt::format("{}\n{}\n", signal.find(' ') < signal.size() ? kHexadecimal : kBit,
                         without_blanks(signal));
  }
  return out;
}

std::string surfer_list(const std::vector<std::string>& signals) {
  std::string out;
  for (const Group& group : signal_groups()) {
    out += fmt::format("divider_add {}\n", group.name);
    for (const std::string& signal : of_group(group, signals))
      out += fmt::format("variable_add {}\n", signal_stem(signal));
  }
  return out;
}

}  // namespace accsim::sim
