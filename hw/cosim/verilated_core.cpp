#include "hw/cosim/verilated_core.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>

#include "hw/cosim/rtl_layout.h"
#include "hw/cosim/sealed_file.h"
#include "hw/cosim/tool_process.h"
#include "sim/base/hash.h"

namespace accsim::hw {
namespace fs = std::filesystem;
namespace {

Error failed(Errc code, std::string message) { return {code, std::move(message), "rtl variant"}; }

Result<std::string> read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return failed(Errc::io, "can't read " + file.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string quote(const std::string& s) {
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
/// Bytes of a beat are 16 bits in rtl/ (*_bytes_o).
constexpr int64_t kMostBeat = 65535;
constexpr const char* kLibrary = "core.so";  ///< in the folder of a variant
constexpr const char* kLink = "-shared -lz -lpthread -latomic";

/// Runs a command with its output in `log`; the error carries the end of it.
Status run(const std::string& command, const fs::path& log, const VerilatedCoreOptions& o) {
  const ToolEnd end = run_tool(command, log, o.stop);
  if (end == ToolEnd::good) return ok();
  if (end == ToolEnd::stopped) return failed(Errc::io, "building the core was interrupted");
  const Result<std::string> text = read(log);
  constexpr size_t kTail = 2000;
  std::string tail = text ? *text : std::string();
  if (tail.size() > kTail) tail = "..." + tail.substr(tail.size() - kTail);
  return failed(Errc::io, fmt::format("{}\nfailed:\n{}", command, tail));
}

Result<std::string> output(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return failed(Errc::io, "can't run " + command);
  std::string all;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    all.append(buffer.data(), got);
  if (pclose(pipe) != 0)
    return failed(Errc::io, fmt::format("'{}' doesn't work: {}", command, all));
  return all;
}

std::string verilate_options(const VerilatedCoreOptions& o) {
  return fmt::format("{} {}{}", kVerilate, o.assertions ? kAssertions : kFast,
                     o.trace ? " --trace-fst" : "");
}

std::string compile_options(const VerilatedCoreOptions& o) {
  return fmt::format("{} -DVM_TRACE={:d} -DVM_TRACE_FST={:d}", kCompile, o.trace, o.trace);
}

/// The tools with their options, and the processor that -march=native stands for: all that the
/// compiler predefines for it.
Result<std::string> toolchain(const VerilatedCoreOptions& o) {
  std::string all = verilate_options(o) + "\n" + compile_options(o) + "\n" + kLink + "\n";
  for (const std::string& command :
       {quote(o.verilator) + " --version", quote(o.compiler) + " --version",
        quote(o.compiler) + " -march=native -dM -E -x c++ /dev/null"}) {
    Result<std::string> said = output(command);
    if (!said) return said.errors();
    all += *said;
  }
  return all;
}

/// Whether Verilator may read a file of rtl/: others lie there, too, and come and go.
bool is_of_core(const fs::path& file) {
  constexpr std::array<std::string_view, 4> kRead = {".sv", ".svh", ".f", ".vlt"};
  return std::ranges::find(kRead, file.extension().string()) != kRead.end();
}

/// Everything that a variant is made of, as text.
Result<std::string> ingredients(const std::vector<std::string>& parameters,
                                const VerilatedCoreOptions& o, const std::string& tools) {
  std::string all = tools;
  for (const std::string& p : parameters) all += p + "\n";
  std::vector<fs::path> files = {o.source_dir / "hw/cosim/rtl_abi.h",
                                 o.source_dir / "hw/cosim/model/rtl_model.cc"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(o.source_dir / "rtl", error))
    if (is_of_core(entry.path())) files.push_back(entry.path());
  if (error) return failed(Errc::io, "can't list " + (o.source_dir / "rtl").string());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    Result<std::string> text = read(file);
    if (!text) return text.errors();
    all += file.filename().string() + "\n" + *text;
  }
  return all;
}

/// FNV-1a without comments and blanks, as scripts/generate_rtl_layout computes it.
uint64_t package_hash(const std::string& text) {
  uint64_t value = 14695981039346656037ull;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    const bool blank = std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos;
    if (!blank) value = (value ^ static_cast<uint8_t>(text[i])) * 1099511628211ull;
  }
  return value;
}

/// Descriptors are laid out as rtl/accsim_pkg.sv said when this program was built: a core of
/// another package would take them for something else.
Status same_package(const fs::path& source) {
  const fs::path file = source / "rtl/accsim_pkg.sv";
  const Result<std::string> text = read(file);
  if (!text) return text.errors();
  if (package_hash(*text) == rtl::kPackageHash) return ok();
  return failed(Errc::invalid,
                file.string() +
                    " isn't the one that this program was built with; after a change "
                    "run scripts/generate_rtl_layout and build again");
}

/// Puts the folder of what has been built in its place; when another process was faster, its result
/// stays. What isn't intact there goes.
Status finish(const fs::path& built, const fs::path& name) {
  std::error_code ignored, error;
  fs::rename(built, name, error);
  if (error && !is_intact(name / kLibrary)) {
    fs::remove_all(name, ignored);
    fs::rename(built, name, error);
  }
  if (!error) return ok();
  fs::remove_all(built, ignored);
  if (is_intact(name / kLibrary)) return ok();
  return failed(Errc::io, "can't rename " + built.string() + ": " + error.message());
}

/// Removes what processes that have ended without a word were building.
void remove_leftovers(const fs::path& cache) {
  std::error_code error;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    const std::string name = entry.path().filename().string();
    const size_t dot = name.find('.');
    if (dot != std::string::npos && is_of_the_dead(name.substr(dot + 1)))
      dead.push_back(entry.path());
  }
  for (const fs::path& path : dead) fs::remove_all(path, error);
}

/// Verilator's own code as an object file, compiled once for all variants of a cache.
Result<fs::path> runtime(const VerilatedCoreOptions& o, const std::string& tools,
                         const std::string& include) {
  const fs::path object = o.cache_dir / ("runtime-" + hash_text(tools) + ".o");
  if (is_intact(object)) return object;
  const fs::path folder = o.cache_dir / ("runtime-" + hash_text(tools) + "." + process_mark());
  const fs::path work = folder / "runtime.o";
  std::error_code error;
  fs::create_directories(folder, error);
  std::string source = "#include \"verilated.cpp\"\\n#include \"verilated_threads.cpp\"\\n";
  if (o.trace) source += "#include \"verilated_fst_c.cpp\"\\n";
  const std::string compile =
      fmt::format("printf '{}' | {} {} -I{} -I{}/gtkwave -x c++ -c - -o {}", source,
                  quote(o.compiler), compile_options(o), include, include, quote(work.string()));
  Status made = run(compile, folder / "log", o);
  if (made && !(seal(work) && rename_sealed(work, object)) && !is_intact(object))
    made = failed(Errc::io, "can't write " + object.string());
  fs::remove_all(folder, error);
  if (!made) return made.errors();
  return object;
}

/// One source that includes those of a folder: compiling headers takes longer than compiling code.
Status include_all(const fs::path& folder, const std::string& name) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".cpp") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  std::ofstream out(folder / name);
  for (const std::string& file : files) out << "#include \"" << file << "\"\n";
  out.close();
  return error || !out ? Status(failed(Errc::io, "can't write into " + folder.string())) : ok();
}

/// Verilates and compiles in `dir`, which then holds core.so.
Status build(const std::vector<std::string>& parameters, int64_t reset_cycles,
             const VerilatedCoreOptions& o, const std::string& tools, const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return failed(Errc::io, "can't create " + dir.string() + ": " + error.message());
  const std::string include = "\"$(" + quote(o.verilator) + " --getenv VERILATOR_ROOT)/include\"";
  const Result<fs::path> library = runtime(o, tools, include);
  if (!library) return library.errors();
  std::string verilate =
      fmt::format("cd {} && {} {} --Mdir {}", quote((o.source_dir / "rtl").string()),
                  quote(o.verilator), verilate_options(o), quote((dir / "gen").string()));
  for (const std::string& p : parameters) verilate += " " + quote("-G" + p);
  verilate += o.assertions ? " -f accsim.f -f accsim_sva.f" : " -f accsim.f";
  if (Status s = run(verilate, dir / "verilate.log", o); !s) return s;
  if (Status s = include_all(dir / "gen", "all.cc"); !s) return s;
  const std::string compile = fmt::format(
      "cd {} && {} {} -DACCSIM_RESET_CYCLES={} -I. -I{} -I{} all.cc {} {} {} -o ../core.so",
      quote((dir / "gen").string()), quote(o.compiler), compile_options(o), reset_cycles,
      quote(o.source_dir.string()), include,
      quote((o.source_dir / "hw/cosim/model/rtl_model.cc").string()), quote(library->string()),
      kLink);
  if (Status s = run(compile, dir / "compile.log", o); !s) return s;
  fs::remove_all(dir / "gen", error);
  return seal(dir / kLibrary) ? ok() : Status(failed(Errc::io, "can't write " + dir.string()));
}

/// Errors for the ports that are wider than `most` bytes; `whose` limit it is begins the reason.
Status ports_within(const HwConfig& hw, int64_t most, std::string_view whose) {
  Errors errors;
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto buffer = static_cast<Buffer>(i);
    if (buffer == Buffer::accumulator || hw.buffers[i].width <= most) continue;
    errors.push_back(
        failed(Errc::unsupported, fmt::format("buffers.{}.width is {}; {} at most {} bytes",
                                              name(buffer), hw.buffers[i].width, whose, most)));
  }
  return errors.empty() ? ok() : Status(std::move(errors));
}

}  // namespace

Result<std::vector<std::string>> rtl_parameters(const HwConfig& hw, Dataflow dataflow) {
  if (hw.types.activation != DType::int8 ||
      (hw.types.weight != DType::int8 && hw.types.weight != DType::int4) ||
      hw.types.accumulator != DType::int32)
    return failed(Errc::unsupported, "the core computes int8 x int8 -> int32 only");
  if (Status s = ports_within(hw, kMostBeat, "a beat of the core counts"); !s) return s.errors();
  check(hw.parameter_bytes() == rtl::kParameterBytes, "parameters of a channel that fit the core");
  std::vector<std::string> out = {fmt::format("Rows={}", hw.array.rows),
                                  fmt::format("Cols={}", hw.array.cols)};
  if (dataflow == Dataflow::output_stationary) out.push_back("OutputStationary=1'b1");
  constexpr std::array<const char*, kBuffers> kPrefix = {"Act", "Wgt", "Par", "Acc", "Out"};
  for (size_t i = 0; i < kBuffers; ++i) {
    const BufferConfig& b = hw.buffers[i];
    out.push_back(fmt::format("{}Slots={}", kPrefix[i], b.slots));
    if (static_cast<Buffer>(i) == Buffer::accumulator) {
      out.push_back(fmt::format("AccRows={}", hw.accumulator_rows()));
      continue;
    }
    out.push_back(fmt::format("{}SlotBytes={}", kPrefix[i], b.slot_bytes()));
    out.push_back(fmt::format("{}Port={}", kPrefix[i], b.width));
  }
  // Lanes for every class that lane commands have, as far as the port of their operands feeds them.
  const auto& lanes = hw.vector.lanes;
  out.push_back(fmt::format("VecLanes={}", std::min(std::max({lanes[0], lanes[2], lanes[3]}),
                                                    hw.buffer(Buffer::activation).width)));
  return out;
}

Result<std::vector<std::string>> core_parameters(const HwConfig& hw, Dataflow dataflow) {
  Result<std::vector<std::string>> parameters = rtl_parameters(hw, dataflow);
  if (!parameters) return parameters;
  constexpr std::string_view kWhose = "co-simulation's ports have";
  if (Status s = ports_within(hw, rtl::kMaxPort, kWhose); !s) return s.errors();
  return parameters;
}

Result<std::shared_ptr<const VerilatedCore>> VerilatedCore::load(
    const HwConfig& hw, Dataflow dataflow, const VerilatedCoreOptions& given) {
  VerilatedCoreOptions options = given;  // the tools run in folders of their own
  options.source_dir = fs::absolute(given.source_dir);
  options.cache_dir = fs::absolute(given.cache_dir);
  Result<std::vector<std::string>> parameters = core_parameters(hw, dataflow);
  if (!parameters) return parameters.errors();
  if (Status s = same_package(options.source_dir); !s) return s.errors();
  parameters->push_back(fmt::format("OneProcess=1'b{:d}", !options.pe_modules));
  const Result<std::string> tools = toolchain(options);
  if (!tools) return tools.errors();
  const Result<std::string> all = ingredients(*parameters, options, *tools);
  if (!all) return all.errors();
  const fs::path dir = options.cache_dir / hash_text(*all);
  if (!is_intact(dir / kLibrary)) {
    remove_leftovers(options.cache_dir);
    // Two builds of one variant at a time must not meet: each has a folder of its own.
    const fs::path work = dir.string() + "." + process_mark();
    if (options.building) options.building();
    const int64_t reset_cycles = hw.array.rows + hw.array.cols;
    if (Status s = build(*parameters, reset_cycles, options, *tools, work); !s) {
      std::error_code error;
      fs::remove_all(work, error);
      return s.errors();
    }
    if (Status s = finish(work, dir); !s) return s.errors();
  }
  std::shared_ptr<VerilatedCore> v(new VerilatedCore);
  if (Status s = v->open(dir / kLibrary); !s) return s.errors();
  return std::shared_ptr<const VerilatedCore>(std::move(v));
}

Status VerilatedCore::open(const fs::path& library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) return failed(Errc::io, dlerror());
  auto* const abi = reinterpret_cast<rtl::AbiFunction*>(dlsym(handle_, "accsim_rtl_abi"));
  begin_thread_ =
      reinterpret_cast<rtl::BeginThreadFunction*>(dlsym(handle_, "accsim_rtl_begin_thread"));
  create_ = reinterpret_cast<rtl::CreateFunction*>(dlsym(handle_, "accsim_rtl_create"));
  cycle_ = reinterpret_cast<rtl::CycleFunction*>(dlsym(handle_, "accsim_rtl_cycle"));
  destroy_ = reinterpret_cast<rtl::DestroyFunction*>(dlsym(handle_, "accsim_rtl_destroy"));
  if (!abi || !begin_thread_ || !create_ || !cycle_ || !destroy_ || abi() != rtl::kAbi)
    return failed(Errc::io, library.string() + " is not a library of this version; delete it");
  if (!begin_thread()) throw std::bad_alloc();
  return ok();
}

VerilatedCore::~VerilatedCore() {
  if (handle_) dlclose(handle_);
}

bool VerilatedCore::begin_thread() const {
  // Verilator's runtime has 33 kB of such variables. As much as the C library maps at once where a
  // heap can't grow, and more, is there when it takes them.
  constexpr size_t kRoom = size_t{4} << 20;
  void* const room =
      mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, kRoom);
  begin_thread_();
  return true;
}

VerilatedCore::Core VerilatedCore::create(const fs::path& trace, bool traced) const {
  return Core(create_(trace.empty() ? nullptr : trace.c_str(), traced), Closer{destroy_});
}

}  // namespace accsim::hw
