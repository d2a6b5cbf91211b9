#include "hw/cosim/cosim.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "hw/cosim/command_feed.h"
#include "hw/cosim/golden_check.h"
#include "hw/cosim/memory_ports.h"
#include "hw/program/core_runs.h"
#include "hw/timing/timing.h"

namespace accsim::hw {
namespace {

constexpr std::array<Queue, rtl::kRetirePorts> kQueueOf = {
    Queue::load, Queue::load,   Queue::execute, Queue::execute,
    Queue::post, Queue::vector, Queue::store,   Queue::stage};

class Bench {
 public:
  Bench(const Program& program, const HwConfig& hw, const VerilatedCore& variant,
        MemoryImage& image, const WaveformOptions& waveform)
      : program_(program),
        hw_(hw),
        variant_(variant),
        image_(image),
        ports_(program, hw, image),
        feed_(program, hw),
        waveform_(waveform) {}

  Result<CosimResult> run(const CosimOptions& options) {
    Result<CosimResult> out = run_compared(options);
    if (options.waveform.signals && waveform_.written().first >= 0) {
      core_.reset();  // the file is whole now
      *options.waveform.signals = variant_.waveform_signals(options.waveform.file);
    }
    return out;
  }

 private:
  Result<CosimResult> run_compared(const CosimOptions& options) {
    if (options.check_golden)
      if (Status s = take_golden(options.golden); !s) return s.errors();
    progress_ = options.progress;
    const Timing model = simulate(program_, hw_, TimingMode::step, [&](const CommandTime& t) {
      expected_[t.queue].push_back(t.finish);
      waveform_.expect_command(t);
    });
    for (const auto& e : expected_) commands_ += static_cast<int64_t>(e.size());
    if (Status s = start_core(options.waveform.file); !s) return s.errors();
    if (Status s = run_cycles(model.total.count()); !s) return s.errors();
    ports_.deliver_writes(io_, INT64_MAX);
    if (golden_) golden_->compare_ends();
    return cosim_result(model.total.count());
  }

  /// Out of reset, with commands in every queue.
  Status start_core(const std::filesystem::path& waveforms) {
    if (!waveforms.empty() && !std::ofstream(waveforms))
      return Error{Errc::io, "can't write " + waveforms.string(), "waveforms"};
    core_ = variant_.create_core(waveforms, waveform_.from_reset());
    io_.traced = waveform_.from_reset();
    variant_.run_cycle(core_, io_);  // shows what the core is ready for
    for (int i = kFillCycles; i > 0; --i) {
      io_.enable = i == 1;
      if (Status s = fill_queues(); !s) return s;
    }
    return ok();
  }

  CosimResult cosim_result(int64_t model_cycles) const {
    const CommandPlace value_difference = golden_ ? golden_->difference() : CommandPlace{};
    CosimResult out;
    out.commands = commands_;
    out.rtl_cycles = end_;
    out.model_cycles = model_cycles;
    out.values_equal = value_difference.text.empty();
    out.cycles_equal = cycle_difference_.text.empty() && out.rtl_cycles == out.model_cycles;
    out.cycles = {late_, cycle_difference_.text};
    out.broken = broken_;
    const CommandPlace& first = !out.values_equal ? value_difference
                                : broken_.empty() ? cycle_difference_
                                                  : CommandPlace{broken_, {}};
    out.first_difference = first.text;
    out.wrong_layer = first.layer;
    if (out.first_difference.empty() && !out.all_equal())
      out.first_difference = "the total of cycles";
    out.waveform = waveform_.written();
    return out;
  }

  static constexpr int64_t kProgressCycles = 16384;
  /// Enough to have every queue's first command where it may start.
  static constexpr int kFillCycles = 8;

  Status fill_queues() {
    if (Status s = feed_.offer_commands(io_); !s) return s;
    variant_.run_cycle(core_, io_);
    return ok();
  }

  Status run_cycles(int64_t model_cycles) {
    const int64_t patience = 100'000 + 2 * model_cycles;
    for (cycle_ = 0; retired_ < commands_; ++cycle_) {
      if (cycle_ - last_retired_ > patience) return broken("hangs");
      if (progress_ && cycle_ % kProgressCycles == 0 && !progress_(cycle_, model_cycles))
        return Error{Errc::invalid, fmt::format("stopped in cycle {}", cycle_),
                     "co-simulation of " + program_.name};
      if (Status s = feed_.offer_commands(io_); !s) return s;
      if (Status s = serve_memory(); !s) return s;
      io_.traced = waveform_.should_write(cycle_);
      variant_.run_cycle(core_, io_);
      if (io_.traced) waveform_.note_written(cycle_, io_.time);
      if (io_.failure) return broken(fmt::format("fails the assertion at {}", io_.failure));
      if (golden_) golden_->compare_sums(io_);
      for (size_t p = 0; p < rtl::kRetirePorts; ++p)
        if (io_.retired[p]) retire_command(static_cast<rtl::RetirePort>(p));
    }
    return ok();
  }

  Status serve_memory() {
    if (Status s = take_write(); !s) return s;
    if (const auto why = ports_.take_copy(io_, cycle_); !why.empty()) return broken(why);
    ports_.deliver_writes(io_, cycle_);
    if (const auto why = ports_.take_read(io_, cycle_); !why.empty()) return broken(why);
    ports_.return_data(io_, cycle_);
    if (!ports_.changed().empty()) note_broken(ports_.changed());
    return ok();
  }

  Status take_write() {
    if (const auto why = ports_.take_write(io_, cycle_); !why.empty()) return broken(why);
    if (!io_.write_ready) return ok();
    const std::deque<int64_t>& stores = feed_.under_way(rtl::kRetireStore);
    if (stores.empty()) return broken("writes and has no store to do");
    if (!golden_) return ok();
    const rtl::Request& w = io_.write;
    const int tensor = feed_.stored_tensor();
    golden_->compare_store(tensor, ports_.offset_in(tensor, w.address),
                           {io_.write_data.data(), w.bytes}, stores.front());
    return ok();
  }

  Status take_golden(const GoldenRun* given) {
    Result<GoldenRun> run = given ? *given : golden_run(program_, hw_, image_);
    if (!run) return run.errors();
    golden_.emplace(program_, hw_, image_, std::move(*run));
    return ok();
  }

  void retire_command(rtl::RetirePort port) {
    const Queue q = kQueueOf[port];
    if (feed_.under_way(port).empty())
      return note_broken(fmt::format("{} retires a command more than it was given", name(q)));
    const int64_t ordinal = feed_.under_way(port).front();
    feed_.retire(port);
    ++retired_;
    last_retired_ = cycle_;
    int64_t time = cycle_;
    if (port == rtl::kRetireStore) time += ports_.store_latency();
    if (port == rtl::kRetireStage) time += ports_.copy_latency();
    end_ = std::max(end_, time);
    const int64_t want = expected_[q][static_cast<size_t>(ordinal)];
    waveform_.note_retired(q, ordinal);
    if (time == want) return;
    ++late_[q];
    if (!cycle_difference_.text.empty()) return;
    cycle_difference_ = place_of_command(program_, hw_, q, ordinal);
    cycle_difference_.text += fmt::format(" finishes in cycle {}, model {}", time, want);
  }

  /// Notes the first thing that no core may do.
  void note_broken(std::string what) {
    if (broken_.empty()) broken_ = std::move(what);
  }

  /// With what each queue has in work.
  Error broken(std::string_view what) const {
    std::string waiting;
    for (size_t p = 0; p < rtl::kRetirePorts; ++p)
      if (const auto& of = feed_.under_way(static_cast<rtl::RetirePort>(p)); !of.empty())
        waiting += "\n  " + place_of_command(program_, hw_, kQueueOf[p], of.front()).text;
    return {Errc::invalid,
            fmt::format("the core {} in cycle {}; not finished:{}", what, cycle_, waiting),
            "co-simulation of " + program_.name};
  }

  const Program& program_;
  const HwConfig& hw_;
  const VerilatedCore& variant_;
  MemoryImage& image_;
  MemoryPorts ports_;
  CommandFeed feed_;
  std::optional<GoldenCheck> golden_;  ///< nothing where values aren't checked
  std::function<bool(int64_t, int64_t)> progress_;
  VerilatedCore::Core core_{nullptr, {nullptr}};
  rtl::Cycle io_;
  PerQueue<std::vector<int64_t>> expected_;
  CommandPlace cycle_difference_;
  std::string broken_;
  PerQueue<int64_t> late_{};  ///< commands that finish in another cycle than the model's
  int64_t commands_ = 0, retired_ = 0, cycle_ = 0, end_ = 0, last_retired_ = 0;
  WaveformWindow waveform_;
};

}  // namespace

Result<CosimResult> cosim(const Program& program, const HwConfig& hw, const VerilatedCore& variant,
                          MemoryImage& image, const CosimOptions& options) {
  if (const Status good = core_runs(hw); !good) return good.errors();
  return Bench(program, hw, variant, image, options.waveform).run(options);
}

}  // namespace accsim::hw
