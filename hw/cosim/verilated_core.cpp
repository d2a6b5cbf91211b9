#include "hw/cosim/verilated_core.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>

#include "hw/cosim/build_lock.h"
#include "hw/cosim/replaced_files.h"
#include "hw/cosim/rtl_layout.h"
#include "hw/cosim/sealed_file.h"
#include "hw/cosim/tool_process.h"
#include "hw/program/contract.h"
#include "hw/program/core_runs.h"
#include "sim/base/hash.h"

namespace accsim::hw {
namespace fs = std::filesystem;
namespace {

static_assert(kMostCosimPort == rtl::kMaxPort, "what a cycle of rtl_abi.h carries");
constexpr std::string_view kLock = ".lock";  ///< ends the name of a variant's lock

/// Whether Verilator may read a file of rtl/: others lie there, too, and come and go.
bool is_of_core(const fs::path& file) {
  constexpr std::array<std::string_view, 4> kRead = {".sv", ".svh", ".f", ".vlt"};
  return std::ranges::find(kRead, file.extension().string()) != kRead.end();
}

/// Everything that a variant is made of, as text.
Result<std::string> ingredients_text(const CoreRecipe& recipe, const VerilatedCoreOptions& o) {
  std::string all = recipe.tools;
  for (const std::string& p : recipe.parameters) all += p + "\n";
  std::vector<fs::path> files = {o.source_dir / "hw/cosim/rtl_abi.h",
                                 o.source_dir / "hw/cosim/model/rtl_model.cc"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(o.source_dir / "rtl", error))
    if (is_of_core(entry.path())) files.push_back(rtl_file(o, entry.path().filename().string()));
  if (error) return core_error(Errc::io, "can't list " + (o.source_dir / "rtl").string());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    Result<std::string> text = read_core_file(file);
    if (!text) return text.errors();
    all += file.filename().string() + "\n" + *text;
  }
  for (const fs::path& file : o.replaced) all += file.string() + "\n";  // assertions name it
  return all;
}

/// Without comments and blanks.
std::string bare_text(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    if (std::string_view(" \t\r\n").find(text[i]) == std::string_view::npos) out += text[i];
  }
  return out;
}

/// Without the parameters *Latency of a bare package.
std::string without_latencies(std::string text) {
  constexpr std::string_view kParameter = "parameterintunsigned", kName = "Latency=";
  for (size_t at = 0; (at = text.find(kParameter, at)) != std::string::npos;) {
    const size_t value = text.find('=', at) + 1, end = text.find(';', at);
    if (value == 0 || end == std::string::npos) break;
    const std::string_view parameter = std::string_view(text).substr(at, end - at);
    const bool digits = value < end && text.find_first_not_of("0123456789", value) == end;
    if (digits && parameter.substr(0, value - at).ends_with(kName))
      text.erase(at, end + 1 - at);
    else
      at += kParameter.size();
  }
  return text;
}

/// FNV-1a, as scripts/generate_rtl_layout computes it.
uint64_t fnv_hash(const std::string& text) {
  uint64_t value = 14695981039346656037ull;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return value;
}

/// Descriptors are laid out as rtl/accsim_pkg.sv said when this program was built: a core of
/// another package would take them for something else.
Status same_package(const VerilatedCoreOptions& o) {
  const fs::path file = rtl_file(o, "accsim_pkg.sv");
  const Result<std::string> text = read_core_file(file);
  if (!text) return text.errors();
  const std::string package = bare_text(*text);
  if (fnv_hash(package) == rtl::kPackageHash) return ok();
  const bool laid_out = fnv_hash(without_latencies(package)) == rtl::kLayoutHash;
  if (laid_out && o.any_cycles) return ok();
  const std::string_view what =
      laid_out ? " has other latencies than the one that this program was built with: compare "
                 "values alone with --cycles report; or"
               : " isn't the one that this program was built with;";
  return core_error(Errc::invalid, fmt::format("{}{} after a change run "
                                               "scripts/generate_rtl_layout and build again",
                                               file.string(), what));
}

/// Puts the folder of what has been built in its place; when another process was faster, its result
/// stays. What isn't intact there goes.
Status install_build(const fs::path& built, const fs::path& name) {
  std::error_code ignored, error;
  fs::rename(built, name, error);
  if (error && !is_intact(name / kCoreLibrary)) {
    fs::remove_all(name, ignored);
    fs::rename(built, name, error);
  }
  if (!error) return ok();
  fs::remove_all(built, ignored);
  if (is_intact(name / kCoreLibrary)) return ok();
  return core_error(Errc::io, "can't rename " + built.string() + ": " + error.message());
}

/// Removes what processes that have ended without a word were building.
void remove_leftovers(const fs::path& cache) {
  std::error_code error;
  std::vector<fs::path> dead, locks;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    const std::string name = entry.path().filename().string();
    const size_t dot = name.find('.');
    if (dot != std::string::npos && is_of_the_dead(name.substr(dot + 1)))
      dead.push_back(entry.path());
    if (name.ends_with(kLock)) locks.push_back(entry.path());
  }
  for (const fs::path& path : dead) fs::remove_all(path, error);
  for (const fs::path& path : locks) BuildLock::remove_abandoned(path);
}

/// Tells who waits for a variant how far it is, and in the end that it has ended.
class Teller {
 public:
  explicit Teller(const std::function<void(const BuildStep&)>& listener) : listener_(listener) {}
  ~Teller() {
    if (told_) listener_({});
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  void operator()(const BuildStep& step) {
    if (!listener_) return;
    told_ = true;
    listener_(step);
  }

 private:
  const std::function<void(const BuildStep&)>& listener_;
  bool told_ = false;
};

/// Builds a variant; where somebody else is doing so, waits for theirs.
Status make_variant(const CoreRecipe& recipe, const VerilatedCoreOptions& given,
                    const fs::path& dir) {
  std::error_code error;
  fs::create_directories(given.cache_dir, error);  // what it can't be made for building says
  Teller tell(given.building);
  const auto waits = [&] { tell({BuildStep::Kind::waits}); };
  const auto lock = BuildLock::take(dir.string() + std::string(kLock), given.stop, waits);
  if (!lock) return core_error(Errc::io, "waiting for a core that is being built was interrupted");
  if (is_intact(dir / kCoreLibrary)) return ok();
  remove_leftovers(given.cache_dir);
  VerilatedCoreOptions options = given;
  options.building = [&](const BuildStep& step) { tell(step); };
  // Where there are no locks two builds of one variant must not meet: each has its own folder.
  const fs::path work = dir.string() + "." + process_mark();
  if (Status s = build_core(recipe, options, work); !s) {
    fs::remove_all(work, error);
    return s;
  }
  return install_build(work, dir);
}

}  // namespace

Result<std::vector<std::string>> rtl_parameters(const HwConfig& hw, Dataflow dataflow) {
  if (const Status s = rtl_describes(hw); !s) return s.errors();
  check(hw.parameter_bytes() == rtl::kParameterBytes, "parameters of a channel that fit the core");
  std::vector<std::string> out = {fmt::format("Rows={}", hw.array.rows),
                                  fmt::format("Cols={}", hw.array.cols)};
  if (dataflow == Dataflow::output_stationary)
    out.push_back("OutputStationary=1'b1");
  else
    out.push_back(fmt::format("FillRows={}", hw.array.fill_rows));
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
  const int64_t vector = std::min(std::max({lanes[0], lanes[2], lanes[3], hw.vector.mac_lanes}),
                                  hw.buffer(Buffer::activation).width);
  out.push_back(fmt::format("VecLanes={}", vector));
  out.push_back(fmt::format("ExpLanes={}", std::min(lanes[1], vector)));
  out.push_back(fmt::format("RowLanes={}", contract::row_lanes(hw)));
  out.push_back(fmt::format("MacLanes={}", std::min(hw.vector.mac_lanes, vector)));
  return out;
}

Result<std::vector<std::string>> core_parameters(const HwConfig& hw, Dataflow dataflow) {
  if (const Status s = cosim_builds(hw); !s) return s.errors();
  return rtl_parameters(hw, dataflow);
}

Result<std::shared_ptr<const VerilatedCore>> VerilatedCore::load(
    const HwConfig& hw, Dataflow dataflow, const VerilatedCoreOptions& given) {
  VerilatedCoreOptions options = given;  // the tools run in folders of their own
  options.source_dir = fs::absolute(given.source_dir);
  options.cache_dir = fs::absolute(given.cache_dir);
  for (fs::path& file : options.replaced) file = fs::absolute(file);
  if (Status s = check_replaced(options); !s) return s.errors();
  Result<std::vector<std::string>> parameters = core_parameters(hw, dataflow);
  if (!parameters) return parameters.errors();
  if (Status s = same_package(options); !s) return s.errors();
  parameters->push_back(fmt::format("OneProcess=1'b{:d}", !options.pe_modules));
  Result<std::string> tools = toolchain_text(options);
  if (!tools) return tools.errors();
  const CoreRecipe recipe{std::move(*parameters), hw.array.rows + hw.array.cols, std::move(*tools)};
  const Result<std::string> all = ingredients_text(recipe, options);
  if (!all) return all.errors();
  const fs::path dir = options.cache_dir / hash_text(*all);
  if (Status s = check_kind(dir, fs::file_type::directory); !s) return s.errors();
  if (Status s = check_kind(dir / kCoreLibrary, fs::file_type::regular); !s) return s.errors();
  if (!is_intact(dir / kCoreLibrary))
    if (Status s = make_variant(recipe, options, dir); !s) return s.errors();
  std::shared_ptr<VerilatedCore> v(new VerilatedCore);
  if (Status s = v->open_library(dir / kCoreLibrary); !s) return s.errors();
  return std::shared_ptr<const VerilatedCore>(std::move(v));
}

Status VerilatedCore::open_library(const fs::path& library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) return core_error(Errc::io, dlerror());
  auto* const abi = reinterpret_cast<rtl::AbiFunction*>(dlsym(handle_, "accsim_rtl_abi"));
  begin_thread_ =
      reinterpret_cast<rtl::BeginThreadFunction*>(dlsym(handle_, "accsim_rtl_begin_thread"));
  create_ = reinterpret_cast<rtl::CreateFunction*>(dlsym(handle_, "accsim_rtl_create"));
  cycle_ = reinterpret_cast<rtl::CycleFunction*>(dlsym(handle_, "accsim_rtl_cycle"));
  destroy_ = reinterpret_cast<rtl::DestroyFunction*>(dlsym(handle_, "accsim_rtl_destroy"));
  signals_ = reinterpret_cast<rtl::SignalsFunction*>(dlsym(handle_, "accsim_rtl_signals"));
  if (!abi || !begin_thread_ || !create_ || !cycle_ || !destroy_ || !signals_ || abi() != rtl::kAbi)
    return core_error(Errc::io, library.string() + " is not a library of this version; delete it");
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

std::vector<std::string> VerilatedCore::waveform_signals(const fs::path& trace) const {
  std::vector<std::string> out;
  signals_(trace.c_str(), &out, [](void* to, const char* name) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
  });
  return out;
}

VerilatedCore::Core VerilatedCore::create_core(const fs::path& trace, bool traced) const {
  return Core(create_(trace.empty() ? nullptr : trace.c_str(), traced), Closer{destroy_});
}

}  // namespace accsim::hw
