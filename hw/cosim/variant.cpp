#include "hw/cosim/variant.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

namespace accsim {
namespace fs = std::filesystem;
namespace {

Error failed(Errc code, std::string message) { return {code, std::move(message), "rtl variant"}; }

Result<std::string> read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return failed(Errc::io, "can't read " + file.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// FNV-1a, twice with different offsets: names cache entries, no more.
std::string hash(const std::string& text) {
  uint64_t a = 14695981039346656037ull, b = 1099511628211ull * 31;
  for (const char c : text) {
    a = (a ^ static_cast<uint8_t>(c)) * 1099511628211ull;
    b = (b ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

std::string quote(const std::string& s) {
  std::string out = "'";
  for (const char c : s) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kVerilate =
    "--cc --exe --top-module accsim_core -Wno-fatal -O3 --x-assign fast --x-initial fast --noassert "
    "--output-split 20000 --unroll-count 8";
constexpr const char* kCompile =
    "-std=c++20 -O3 -march=native -fPIC -shared -fvisibility=hidden -w -DVM_COVERAGE=0 -DVM_SC=0 "
    "-DVM_TRACE_VCD=0";
constexpr const char* kLink = "-lz -lpthread -latomic";

/// Runs a command with its output in `log`; the error carries the end of it.
Status run(const std::string& command, const fs::path& log) {
  const std::string line = command + " > " + quote(log.string()) + " 2>&1";
  if (std::system(line.c_str()) == 0) return ok();
  const Result<std::string> text = read(log);
  constexpr size_t kTail = 2000;
  std::string tail = text ? *text : std::string();
  if (tail.size() > kTail) tail = "..." + tail.substr(tail.size() - kTail);
  return failed(Errc::io, fmt::format("{}\nfailed:\n{}", command, tail));
}

Result<std::string> first_line(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return failed(Errc::io, "can't run " + command);
  std::array<char, 256> buffer{};
  std::string line = std::fgets(buffer.data(), buffer.size(), pipe) ? buffer.data() : "";
  if (pclose(pipe) != 0)
    return failed(Errc::io, fmt::format("'{}' doesn't work: {}", command, line));
  return line;
}

/// Everything that a variant is made of, as text.
Result<std::string> ingredients(const std::vector<std::string>& parameters,
                                const VariantOptions& o) {
  std::string all;
  for (const std::string& p : parameters) all += p + "\n";
  for (const std::string& tool : {o.verilator, o.compiler}) {
    Result<std::string> version = first_line(quote(tool) + " --version");
    if (!version) return version.errors();
    all += *version;
  }
  all += fmt::format("{}\n{}\n{}\n{}\n", kVerilate, kCompile, kLink, o.trace);
  std::vector<fs::path> files = {o.source_dir / "hw/cosim/rtl_abi.h",
                                 o.source_dir / "hw/cosim/model/rtl_model.cc"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(o.source_dir / "rtl", error))
    if (entry.path().extension() != ".md") files.push_back(entry.path());
  if (error) return failed(Errc::io, "can't list " + (o.source_dir / "rtl").string());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    Result<std::string> text = read(file);
    if (!text) return text.errors();
    all += file.filename().string() + "\n" + *text;
  }
  return all;
}

/// Verilates and compiles in `dir`, which then holds core.so.
Status build(const std::vector<std::string>& parameters, const VariantOptions& o,
             const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return failed(Errc::io, "can't create " + dir.string() + ": " + error.message());
  const fs::path rtl = o.source_dir / "rtl";
  std::string verilate = fmt::format(
      "cd {} && {} {} --Mdir {}{}", quote(rtl.string()), quote(o.verilator), kVerilate,
      quote((dir / "gen").string()),
      o.trace ? " --trace-fst" : "");
  for (const std::string& p : parameters) verilate += " " + quote("-G" + p);
  verilate += " -f accsim.f";
  if (Status s = run(verilate, dir / "verilate.log"); !s) return s;
  const std::string root = "$(" + quote(o.verilator) + " --getenv VERILATOR_ROOT)/include";
  std::string compile = fmt::format(
      "cd {} && {} {} -DVM_TRACE={} -DVM_TRACE_FST={} -I. -I{} -I{} *.cpp {} {}/verilated.cpp "
      "{}/verilated_threads.cpp {} -o ../core.so.new {}",
      quote((dir / "gen").string()), quote(o.compiler), kCompile, o.trace ? 1 : 0, o.trace ? 1 : 0,
      quote(o.source_dir.string()), root,
      quote((o.source_dir / "hw/cosim/model/rtl_model.cc").string()), root, root,
      o.trace ? root + "/verilated_fst_c.cpp -I" + root + "/gtkwave" : "", kLink);
  if (Status s = run(compile, dir / "compile.log"); !s) return s;
  fs::rename(dir / "core.so.new", dir / "core.so", error);
  if (error) return failed(Errc::io, "can't finish " + dir.string() + ": " + error.message());
  fs::remove_all(dir / "gen", error);
  return ok();
}

}  // namespace

Result<std::vector<std::string>> variant_parameters(const HwConfig& hw, Dataflow dataflow) {
  if (hw.types.activation != DType::int8 || hw.types.weight != DType::int8 ||
      hw.types.accumulator != DType::int32)
    return failed(Errc::unsupported, "the core computes int8 x int8 -> int32 only");
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
    if (b.width > static_cast<int64_t>(rtl::kMaxPort))
      return failed(Errc::unsupported,
                    fmt::format("buffers.{}.width is {}; the core's ports have at most {} bytes",
                                name(static_cast<Buffer>(i)), b.width, rtl::kMaxPort));
    out.push_back(fmt::format("{}SlotBytes={}", kPrefix[i], b.slot_bytes()));
    out.push_back(fmt::format("{}Port={}", kPrefix[i], b.width));
  }
  return out;
}

Result<std::shared_ptr<const Variant>> Variant::load(const HwConfig& hw, Dataflow dataflow,
                                                     const VariantOptions& given) {
  VariantOptions options = given;  // the tools run in folders of their own
  options.source_dir = fs::absolute(given.source_dir);
  options.cache_dir = fs::absolute(given.cache_dir);
  const Result<std::vector<std::string>> parameters = variant_parameters(hw, dataflow);
  if (!parameters) return parameters.errors();
  const Result<std::string> all = ingredients(*parameters, options);
  if (!all) return all.errors();
  const fs::path dir = options.cache_dir / hash(*all);
  if (!fs::exists(dir / "core.so")) {
    // Two builds of one variant at a time must not meet: each has a folder of its own.
    const fs::path work = dir.string() + fmt::format(".{}", getpid());
    std::error_code error;
    if (options.building) options.building();
    if (Status s = build(*parameters, options, work); !s) {
      fs::remove_all(work, error);
      return s.errors();
    }
    fs::rename(work, dir, error);
    if (error && !fs::exists(dir / "core.so"))
      return failed(Errc::io, "can't rename " + work.string() + ": " + error.message());
    if (error) fs::remove_all(work, error);
  }
  std::shared_ptr<Variant> v(new Variant);
  if (Status s = v->open(dir / "core.so"); !s) return s.errors();
  return std::shared_ptr<const Variant>(std::move(v));
}

Status Variant::open(const fs::path& library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) return failed(Errc::io, dlerror());
  auto* const abi = reinterpret_cast<rtl::AbiFunction*>(dlsym(handle_, "accsim_rtl_abi"));
  create_ = reinterpret_cast<rtl::CreateFunction*>(dlsym(handle_, "accsim_rtl_create"));
  cycle_ = reinterpret_cast<rtl::CycleFunction*>(dlsym(handle_, "accsim_rtl_cycle"));
  destroy_ = reinterpret_cast<rtl::DestroyFunction*>(dlsym(handle_, "accsim_rtl_destroy"));
  if (!abi || !create_ || !cycle_ || !destroy_ || abi() != rtl::kAbi)
    return failed(Errc::io, library.string() + " is not a library of this version; delete it");
  return ok();
}

Variant::~Variant() {
  if (handle_) dlclose(handle_);
}

Variant::Core Variant::create(const fs::path& trace) const {
  return Core(create_(trace.empty() ? nullptr : trace.c_str()), Closer{destroy_});
}

}  // namespace accsim
