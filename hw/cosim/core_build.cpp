#include "hw/cosim/core_build.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>

#include "hw/cosim/replaced_files.h"
#include "hw/cosim/sealed_file.h"
#include "hw/cosim/tool_process.h"
#include "sim/base/hash.h"

namespace accsim::hw {
namespace fs = std::filesystem;
namespace {

std::string shell_quote(const std::string& s) {
  std::string out = "'";
  for (const char c : s) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kVerilate =
    "--cc --exe --top-module accsim_core -Wno-fatal -O3 --output-split 20000 --unroll-count 8";
constexpr const char* kFast = "--x-assign fast --x-initial fast --noassert";
/// Registers begin with random values, so that what reset forgets shows. A parameter that a checker
/// calls illegal ($error) is an error; -Wno-fatal alone makes it a warning. No loops over the words
/// of a wide signal: Verilator 5.006 forgets to declare their counter (__Vilp) where it parts a
/// long function, as the one that samples the ports of 64x64 buffers is.
constexpr const char* kAssertions =
    "--x-assign unique --x-initial unique --assert -Werror-USERERROR -fno-reloop";
/// Messages of a core's assertions go to stderr: stdout is the program's.
constexpr const char* kCompile =
    "-std=c++20 -O3 -march=native -fPIC -fvisibility=hidden -w -DVM_COVERAGE=0 -DVM_SC=0 "
    "-DVM_TRACE_VCD=0 -DVL_USER_STOP '-DVL_PRINTF(...)=fprintf(stderr, __VA_ARGS__)'";
/// What runs only when a core is made, as Verilator's names of files say, isn't worth optimizing.
constexpr std::string_view kCold = "__Slow.cpp";
constexpr const char* kColdOptions = "-O0";
constexpr const char* kLink = "-shared -lz -lpthread -latomic";
/// Parts of less than this aren't compiled side by side: each parses Verilator's headers again.
constexpr uintmax_t kLeastPart = 1'000'000;

size_t processor_count() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Runs commands with their output beside them; the error carries the end of that of the one that
/// failed. `step` is told all the while, with how many have ended.
Status run_commands(const std::vector<ToolCommand>& commands, const VerilatedCoreOptions& o,
                    BuildStep::Kind kind) {
  const auto tell = [&](size_t done) {
    if (o.building) o.building({kind, done, commands.size()});
  };
  tell(0);
  const ToolsEnd end = run_tools(commands, processor_count(), o.stop, tell);
  if (end.end == ToolEnd::good) return ok();
  if (end.end == ToolEnd::stopped) return core_error(Errc::io, "building the core was interrupted");
  const ToolCommand& failed = commands[end.which];
  const Result<std::string> text = read_core_file(failed.log);
  constexpr size_t kTail = 2000;
  std::string tail = text ? *text : std::string();
  if (tail.size() > kTail) tail = "..." + tail.substr(tail.size() - kTail);
  return core_error(Errc::io, fmt::format("{}\nfailed:\n{}", failed.command, tail));
}

Result<std::string> command_output(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return core_error(Errc::io, "can't run " + command);
  std::string all;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    all.append(buffer.data(), got);
  const int status = pclose(pipe);
  constexpr int kNoSuchTool = 127;  // the shell's
  if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchTool)
    return core_error(Errc::io,
                      command +
                          ": there is no such tool. A core is built by Verilator and a C++ "
                          "compiler. In the tree: scripts/setup verify. Elsewhere on Debian: "
                          "apt-get install verilator clang-14 zlib1g-dev");
  if (status != 0) return core_error(Errc::io, fmt::format("'{}' doesn't work: {}", command, all));
  return all;
}

std::string verilate_options(const VerilatedCoreOptions& o) {
  return fmt::format("{} {}{}", kVerilate, o.assertions ? kAssertions : kFast,
                     o.trace ? " --trace-fst" : "");
}

std::string compile_options(const VerilatedCoreOptions& o) {
  return fmt::format("{} -DVM_TRACE={:d} -DVM_TRACE_FST={:d}", kCompile, o.trace, o.trace);
}

/// A source of Verilator's, with its size.
struct Source {
  std::string name;
  uintmax_t bytes;
};

/// Sources in parts that take about as long to compile: as many as there are processors, if they
/// are worth it. The largest go first, each to the part that has least.
std::vector<std::vector<std::string>> parts_of(std::vector<Source> sources) {
  std::ranges::sort(sources, [](const Source& a, const Source& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  uintmax_t all = 0;
  for (const Source& s : sources) all += s.bytes;
  const size_t most = std::min<size_t>({processor_count(), all / kLeastPart, sources.size()});
  std::vector<std::vector<std::string>> parts(std::max<size_t>(most, 1));
  std::vector<uintmax_t> bytes(parts.size(), 0);
  for (const Source& s : sources) {
    const auto least = std::ranges::min_element(bytes) - bytes.begin();
    parts[static_cast<size_t>(least)].push_back(s.name);
    bytes[static_cast<size_t>(least)] += s.bytes;
  }
  return parts;
}

/// One source that includes others: compiling headers takes longer than compiling code.
bool include_all(const fs::path& file, std::vector<std::string> names) {
  std::ranges::sort(names);
  std::ofstream out(file);
  for (const std::string& name : names) out << "#include \"" << name << "\"\n";
  out.close();
  return out.good();
}

/// Builds a variant in a folder of its own.
class Build {
 public:
  Build(const CoreRecipe& recipe, const VerilatedCoreOptions& options, fs::path folder)
      : recipe_(recipe), o_(options), folder_(std::move(folder)), gen_(folder_ / "gen") {}

  Status run_all() {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      return core_error(Errc::io,
                        fmt::format("can't create {}: {}", folder_.string(), error.message()));
    if (Status s = check_kind(kept_runtime(), fs::file_type::regular); !s) return s;
    if (Status s = verilate(); !s) return s;
    if (Status s = keep_runtime(); !s) return s;
    if (Status s = compile(); !s) return s;
    if (Status s = link(); !s) return s;
    fs::remove_all(gen_, error);
    if (seal_file(folder_ / kCoreLibrary)) return ok();
    return core_error(Errc::io, "can't write " + folder_.string());
  }

 private:
  /// Verilator's own code as an object file, compiled once for all variants of a cache.
  fs::path kept_runtime() const {
    return o_.cache_dir / ("runtime-" + hash_text(recipe_.tools) + ".o");
  }

  /// A command that compiles `source`, which may begin a pipe with its text.
  std::string compile_command(const std::string& source, const std::string& more,
                              const fs::path& object) const {
    const std::string include =
        "\"$(" + shell_quote(o_.verilator) + " --getenv VERILATOR_ROOT)/include\"";
    return fmt::format("{} {} {} -I{} -I{}/gtkwave -c {} -o {}", shell_quote(o_.compiler),
                       compile_options(o_), more, include, include, source,
                       shell_quote(object.string()));
  }

  std::string runtime_command() const {
    std::string source = "#include \"verilated.cpp\"\\n#include \"verilated_threads.cpp\"\\n";
    if (o_.trace) source += "#include \"verilated_fst_c.cpp\"\\n";
    return fmt::format("printf '{}' | {}", source,
                       compile_command("-x c++ -", "", folder_ / "runtime.o"));
  }

  /// The options that name the core's files.
  Result<std::string> file_options() const {
    if (o_.replaced.empty())
      return std::string(o_.assertions ? " -f accsim.f -f accsim_sva.f" : " -f accsim.f");
    const fs::path list = folder_ / "core.f", witness = folder_ / "accsim_witness.sv";
    const Result<std::string> text = core_list(o_, witness);
    if (!text) return text.errors();
    std::ofstream(list) << *text;
    std::ofstream(witness) << witness_text(o_);
    return " -f " + shell_quote(list.string());
  }

  /// Translates rtl/; compiles Verilator's own code beside that if it isn't there.
  Status verilate() const {
    const Result<std::string> read = file_options();
    if (!read) return read.errors();
    std::string command =
        fmt::format("cd {} && {} {} --Mdir {}", shell_quote((o_.source_dir / "rtl").string()),
                    shell_quote(o_.verilator), verilate_options(o_), shell_quote(gen_.string()));
    for (const std::string& p : recipe_.parameters) command += " " + shell_quote("-G" + p);
    command += *read;
    std::vector<ToolCommand> commands = {{command, folder_ / "verilate.log"}};
    if (!is_intact(kept_runtime()))
      commands.push_back({runtime_command(), folder_ / "runtime.log"});
    if (Status s = run_commands(commands, o_, BuildStep::Kind::verilates); !s) return s;
    if (o_.replaced.empty()) return ok();
    const Result<std::string> said = read_core_file(commands.front().log);
    return said ? replaced_wrong(o_, *said) : said.errors();
  }

  /// Keeps Verilator's own code, if it has been compiled, for other variants; when another process
  /// was faster, its result stays.
  Status keep_runtime() const {
    std::error_code ignored;
    const fs::path made = folder_ / "runtime.o", kept = kept_runtime();
    if (!fs::exists(made, ignored) || (seal_file(made) && rename_sealed(made, kept)) ||
        is_intact(kept))
      return ok();
    return core_error(Errc::io, "can't write " + kept.string());
  }

  Status compile() {
    std::vector<Source> hot;
    std::vector<std::string> cold;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(gen_, error)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(kCold))
        cold.push_back(name);
      else if (name.ends_with(".cpp"))
        hot.push_back({name, entry.file_size()});
    }
    if (error) return core_error(Errc::io, "can't list " + gen_.string());
    std::vector<ToolCommand> commands;
    const auto add = [&](const std::string& name, const std::string& source,
                         const std::string& more) {
      const fs::path object = gen_ / (name + ".o");
      commands.push_back({fmt::format("cd {} && {}", shell_quote(gen_.string()),
                                      compile_command(source, "-I. " + more, object)),
                          folder_ / (name + ".log")});
      objects_.push_back(object);
    };
    bool written = true;
    for (const std::vector<std::string>& part : parts_of(std::move(hot))) {
      const std::string name = fmt::format("part{}", objects_.size());
      written = written && include_all(gen_ / (name + ".cc"), part);
      add(name, name + ".cc", "");
    }
    written = written && include_all(gen_ / "cold.cc", cold);
    if (!written) return core_error(Errc::io, "can't write into " + gen_.string());
    add("model", shell_quote((o_.source_dir / "hw/cosim/model/rtl_model.cc").string()),
        fmt::format("-I{} -DACCSIM_RESET_CYCLES={}", shell_quote(o_.source_dir.string()),
                    recipe_.reset_cycles));
    // The last: of a function that several objects have the linker takes the first.
    objects_.push_back(kept_runtime());
    add("cold", "cold.cc", kColdOptions);
    return run_commands(commands, o_, BuildStep::Kind::compiles);
  }

  Status link() const {
    std::string command = shell_quote(o_.compiler);
    for (const fs::path& object : objects_) command += " " + shell_quote(object.string());
    command += fmt::format(" {} -o {}", kLink, shell_quote((folder_ / kCoreLibrary).string()));
    return run_commands({{command, folder_ / "link.log"}}, o_, BuildStep::Kind::links);
  }

  const CoreRecipe& recipe_;
  const VerilatedCoreOptions& o_;
  fs::path folder_, gen_;
  std::vector<fs::path> objects_;  ///< in the order of linking
};

}  // namespace

Error core_error(Errc code, std::string message) {
  return {code, std::move(message), "rtl variant"};
}

Result<std::string> read_core_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return core_error(Errc::io, "can't read " + file.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Status check_kind(const fs::path& path, fs::file_type kind) {
  std::error_code error;
  const fs::file_type found = fs::status(path, error).type();
  if (found == kind || found == fs::file_type::not_found) return ok();
  if (error) return core_error(Errc::io, "can't read " + path.string() + ": " + error.message());
  return core_error(Errc::io, fmt::format("{} isn't a {}; remove it", path.string(),
                                          kind == fs::file_type::regular ? "file" : "folder"));
}

Result<std::string> toolchain_text(const VerilatedCoreOptions& o) {
  std::string all =
      fmt::format("{}\n{}\n{}\n{}\n", verilate_options(o), compile_options(o), kColdOptions, kLink);
  for (const std::string& command :
       {shell_quote(o.verilator) + " --version", shell_quote(o.compiler) + " --version",
        shell_quote(o.compiler) + " -march=native -dM -E -x c++ /dev/null"}) {
    Result<std::string> said = command_output(command);
    if (!said) return said.errors();
    all += *said;
  }
  return all;
}

Status build_core(const CoreRecipe& recipe, const VerilatedCoreOptions& options,
                  const fs::path& folder) {
  return Build(recipe, options, folder).run_all();
}

}  // namespace accsim::hw
