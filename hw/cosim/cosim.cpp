#include "hw/cosim/cosim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>

#include "hw/cosim/bench_memory.h"
#include "hw/cosim/dram.h"
#include "hw/cosim/queue_unroller.h"
#include "hw/cosim/sum_check.h"
#include "hw/program/core_runs.h"
#include "hw/timing/timing.h"

namespace accsim::hw {
namespace {

constexpr std::array<Queue, rtl::kRetirePorts> kQueueOf = {
    Queue::load, Queue::load,   Queue::execute, Queue::execute,
    Queue::post, Queue::vector, Queue::store,   Queue::stage};

size_t queue_index(Queue q) { return static_cast<size_t>(q); }

class Bench {
 public:
  Bench(const Program& program, const HwConfig& hw, const VerilatedCore& variant,
        MemoryImage& image, const WaveformOptions& waveform)
      : program_(program),
        hw_(hw),
        variant_(variant),
        image_(image),
        memory_(program, image),
        order_(program, hw),
        channels_(program),
        cursors_{queue_cursor(Queue::load),  queue_cursor(Queue::execute),
                 queue_cursor(Queue::post),  queue_cursor(Queue::vector),
                 queue_cursor(Queue::store), queue_cursor(Queue::stage)},
        reads_{PacedChannel(hw.dram.read), PacedChannel(hw.shared.channel.read)},
        writes_{PacedChannel(hw.dram.write), PacedChannel(hw.shared.channel.write)},
        returns_{ReturnPath(hw.dram.latency), ReturnPath(hw.shared.channel.latency)},
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
      expected_[queue_index(t.queue)].push_back(t.finish);
      waveform_.expect_command(t);
    });
    for (const auto& e : expected_) commands_ += static_cast<int64_t>(e.size());
    if (Status s = start_core(options.waveform.file); !s) return s.errors();
    if (Status s = run_cycles(model.total.count()); !s) return s.errors();
    if (Status s = deliver_writes(INT64_MAX); !s) return s.errors();
    if (sums_) sums_->finish();
    compare_sums();
    if (options.check_golden) compare_images();
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
    CosimResult out;
    out.commands = commands_;
    out.rtl_cycles = end_;
    out.model_cycles = model_cycles;
    out.values_equal = value_difference_.text.empty();
    out.cycles_equal = cycle_difference_.text.empty() && out.rtl_cycles == out.model_cycles;
    out.cycles = {late_, cycle_difference_.text};
    out.broken = broken_;
    const CommandPlace& first = !out.values_equal ? value_difference_
                                : broken_.empty() ? cycle_difference_
                                                  : CommandPlace{broken_, {}};
    out.first_difference = first.text;
    out.wrong_layer = first.layer;
    if (out.first_difference.empty() && !out.all_equal())
      out.first_difference = "the total of cycles";
    out.waveform = waveform_.written();
    return out;
  }

  QueueUnroller queue_cursor(Queue q) const { return {program_, hw_, order_, channels_, q}; }

  static constexpr int64_t kProgressCycles = 16384;
  /// Enough to have every queue's first command where it may start.
  static constexpr int kFillCycles = 8;

  Status fill_queues() {
    if (Status s = offer_commands(); !s) return s;
    variant_.run_cycle(core_, io_);
    return ok();
  }

  /// Offers each queue its next command.
  Status offer_commands() {
    for (size_t p = 0; p < rtl::kCommandPorts; ++p) {
      if (io_.command_valid[p] && ready_[p]) {
        offered_[p].reset();
        io_.command_valid[p] = false;
      }
      if (!offered_[p] && !finished_[p]) {
        Result<std::optional<QueueUnroller::Entry>> next = cursors_[p].next();
        if (!next) return next.errors();
        offered_[p] = std::move(*next);
        finished_[p] = !offered_[p];
        if (offered_[p]) {
          io_.command[p] = offered_[p]->descriptor.words;
          io_.command_valid[p] = true;
          expect_retirement(static_cast<rtl::CommandPort>(p), *offered_[p]);
        }
      }
    }
    ready_ = io_.command_ready;
    return ok();
  }

  /// Which command each retire port will report next.
  void expect_retirement(rtl::CommandPort port, const QueueUnroller::Entry& e) {
    switch (port) {
      case rtl::kLoad: {
        const auto& c = std::get<LoadCommand>(*e.command);
        const bool shared =
            program_.tensors[static_cast<size_t>(c.tensor)].memory == Memory::shared;
        retiring_[shared ? rtl::kRetireLoadShared : rtl::kRetireLoad].push_back(e.ordinal);
        break;
      }
      case rtl::kGemm:
        retiring_[rtl::kRetireGemm].push_back(e.ordinal);
        if (e.drained) retiring_[rtl::kRetireDrain].push_back(e.ordinal + 1);
        break;
      case rtl::kPost:
        retiring_[rtl::kRetirePost].push_back(e.ordinal);
        break;
      case rtl::kVector:
        retiring_[rtl::kRetireVector].push_back(e.ordinal);
        break;
      case rtl::kStage:
        retiring_[rtl::kRetireStage].push_back(e.ordinal);
        break;
      default:
        retiring_[rtl::kRetireStore].push_back(e.ordinal);
        storing_.push_back(std::get<StoreCommand>(*e.command).tensor);
        break;
    }
  }

  Status run_cycles(int64_t model_cycles) {
    const int64_t patience = 100'000 + 2 * model_cycles;
    for (cycle_ = 0; retired_ < commands_; ++cycle_) {
      if (cycle_ - last_retired_ > patience) return broken("hangs");
      if (progress_ && cycle_ % kProgressCycles == 0 && !progress_(cycle_, model_cycles))
        return Error{Errc::invalid, fmt::format("stopped in cycle {}", cycle_),
                     "co-simulation of " + program_.name};
      if (Status s = offer_commands(); !s) return s;
      if (Status s = serve_memory(); !s) return s;
      io_.traced = waveform_.should_write(cycle_);
      variant_.run_cycle(core_, io_);
      if (io_.traced) waveform_.note_written(cycle_, io_.time);
      if (io_.failure) return broken(fmt::format("fails the assertion at {}", io_.failure));
      if (sums_) sums_->take_sums(io_);
      compare_sums();
      for (size_t p = 0; p < rtl::kRetirePorts; ++p)
        if (io_.retired[p]) retire_command(static_cast<rtl::RetirePort>(p));
    }
    return ok();
  }

  /// A request that wasn't taken must stay as it is.
  void check_stable(const rtl::Request& now, bool taken, rtl::Request& untaken) {
    if (untaken.valid && !(now == untaken))
      note_broken(fmt::format("the core changes a request in cycle {}", cycle_));
    untaken = taken ? rtl::Request{} : now;
  }

  Status serve_memory() {
    if (Status s = take_write(); !s) return s;
    if (Status s = take_copy(); !s) return s;
    io_.write_done = {};
    io_.copy_done = false;
    if (Status s = deliver_writes(cycle_); !s) return s;
    const rtl::Request& r = io_.read;
    io_.read_ready = r.valid && reads_[r.shared].try_take(r, cycle_);
    check_stable(r, io_.read_ready, untaken_read_);
    if (io_.read_ready) {
      const uint8_t* from = memory_.bytes_at(r.address, r.bytes);
      if (!from) return broken("reads outside its tensors");
      returns_[r.shared].push({from, r.bytes}, r.tag, cycle_);
    }
    for (size_t m = 0; m < returns_.size(); ++m) {
      const ReturnPath::Beat* beat = returns_[m].arrived_beat(cycle_);
      io_.data_valid[m] = beat != nullptr;
      if (!beat) continue;
      std::memcpy(io_.data[m].data(), beat->data.data(), beat->data.size());
      io_.data_tag[m] = beat->tag;
      returns_[m].pop();
    }
    return ok();
  }

  Status take_write() {
    const rtl::Request& w = io_.write;
    io_.write_ready = w.valid && writes_[w.shared].try_take(w, cycle_);
    check_stable(w, io_.write_ready, untaken_write_);
    if (!io_.write_ready) return ok();
    stored_to_ = w.shared ? Memory::shared : Memory::dram;
    if (!memory_.bytes_at(w.address, w.bytes)) return broken("writes outside its tensors");
    const std::deque<int64_t>& stores = retiring_[rtl::kRetireStore];
    if (stores.empty()) return broken("writes and has no store to do");
    stored_[w.shared].push({cycle_ + memory_latency(stored_to_),
                            w.address,
                            {io_.write_data.begin(), io_.write_data.begin() + w.bytes},
                            w.last,
                            w.tag[0]});
    // A region's slots are written again later: what golden has in the end is something else.
    if (!golden_.image.empty())
      compare_store(w.address, {io_.write_data.data(), w.bytes}, stores.front());
    return ok();
  }

  Status take_copy() {
    const rtl::Copy& c = io_.copy;
    rtl::Request beat{c.valid, c.to_dram, c.last, c.bytes, c.source, {c.tag}};
    PacedChannel& channel = c.to_dram ? writes_[0] : reads_[0];
    io_.copy_ready = c.valid && channel.try_take(beat, cycle_);
    if (untaken_copy_.valid && !(c == untaken_copy_))
      note_broken(fmt::format("the core changes a request for a copy in cycle {}", cycle_));
    untaken_copy_ = io_.copy_ready ? rtl::Copy{} : c;
    if (!io_.copy_ready) return ok();
    const uint8_t* from = memory_.bytes_at(c.source, c.bytes);
    if (!from || !memory_.bytes_at(c.target, c.bytes)) return broken("copies outside its tensors");
    copied_.push({cycle_ + 1 + memory_latency(Memory::dram) + memory_latency(Memory::shared),
                  c.target,
                  {from, from + c.bytes},
                  c.last,
                  c.tag});
    return ok();
  }

  /// What is due by a cycle is in memory then, and the core hears of it.
  Status deliver_writes(int64_t cycle) {
    const auto put = [&](const WritePath::Beat& b) {
      std::memcpy(memory_.bytes_at(b.address, static_cast<uint32_t>(b.data.size())), b.data.data(),
                  b.data.size());
    };
    for (size_t m = 0; m < stored_.size(); ++m)
      while (const auto beat = stored_[m].take_arrived(cycle)) {
        put(*beat);
        io_.write_done[m] = beat->last;
        io_.write_done_tag[m] = beat->tag;
      }
    while (const auto beat = copied_.take_arrived(cycle)) {
      put(*beat);
      io_.copy_done = beat->last;
      io_.copy_done_tag = beat->tag;
    }
    return ok();
  }

  int64_t memory_latency(Memory m) const {
    return m == Memory::dram ? hw_.dram.latency : hw_.shared.channel.latency;
  }

  Status take_golden(const GoldenRun* given) {
    if (given) {
      golden_ = *given;
    } else {
      Result<GoldenRun> made = golden_run(program_, hw_, image_);
      if (!made) return made.errors();
      golden_ = std::move(*made);
    }
    for (size_t t = 0; t < image_.size(); ++t)
      if (!program_.tensors[t].is_placed() && golden_.image[t] != image_[t])
        before_.emplace_back(t, image_[t]);
    const bool drained = program_.dataflow == Dataflow::output_stationary;
    sums_.emplace(golden_.writes, hw_.array.cols, drained);
    return ok();
  }

  /// Says where the accumulators differ, unless something else did before.
  void compare_sums() {
    if (!sums_ || !sums_->difference() || !value_difference_.text.empty()) return;
    const SumCheck::Difference& d = *sums_->difference();
    value_difference_ = place_of_command(program_, hw_, Queue::execute, d.ordinal);
    value_difference_.text += ": " + (d.text.empty() ? wrong_sum(d) : d.text);
  }
  /// Golden is run again, from what the memory was in the beginning: its sums aren't kept.
  std::string wrong_sum(const SumCheck::Difference& d) const {
    MemoryImage image = image_;
    for (const auto& [tensor, bytes] : before_) image[tensor] = bytes;
    const Result<std::vector<int32_t>> want =
        golden_sums(program_, hw_, std::move(image), d.ordinal);
    if (!want) return want.errors().front().text();
    const auto [mine, golden] = std::ranges::mismatch(d.sums, *want);
    if (mine == d.sums.end() || golden == want->end()) return "its sums differ";
    const int64_t at = mine - d.sums.begin();
    return fmt::format("the sum of row {}, column {} is {}, golden {}", at / d.columns,
                       at % d.columns, *mine, *golden);
  }

  /// What the store in work writes, with what golden has there.
  void compare_store(uint64_t address, std::span<const uint8_t> data, int64_t ordinal) {
    const int tensor = storing_.front();
    const ProgramTensor& t = program_.tensors[static_cast<size_t>(tensor)];
    if (!value_difference_.text.empty() || t.slots > 0) return;
    const int64_t at = memory_.offset_in(tensor, address);
    const auto differs = [&](const std::string& how) {
      value_difference_ = place_of_command(program_, hw_, Queue::store, ordinal);
      value_difference_.text += ": " + how;
    };
    if (at < 0 || at + std::ssize(data) > t.bytes)
      return differs(fmt::format("bytes from {} on of '{}', which has {}", at, t.name, t.bytes));
    const uint8_t* want = golden_.image[static_cast<size_t>(tensor)].data() + at;
    for (size_t i = 0; i < data.size(); ++i)
      if (want[i] != data[i])
        return differs(fmt::format("byte {} of '{}' is {}, golden {}", at + static_cast<int64_t>(i),
                                   t.name, data[i], want[i]));
  }
  void compare_images() {
    for (size_t t = 0; t < image_.size() && value_difference_.text.empty(); ++t)
      for (size_t i = program_.tensors[t].is_placed() ? image_[t].size() : 0;
           i < image_[t].size() && value_difference_.text.empty(); ++i)
        if (image_[t][i] != golden_.image[t][i])
          value_difference_.text =
              fmt::format("in the end byte {} of '{}' is {}, golden {}", i,
                          program_.tensors[t].name, image_[t][i], golden_.image[t][i]);
  }

  void retire_command(rtl::RetirePort port) {
    const Queue q = kQueueOf[port];
    if (retiring_[port].empty())
      return note_broken(fmt::format("{} retires a command more than it was given", name(q)));
    const int64_t ordinal = retiring_[port].front();
    retiring_[port].pop_front();
    if (port == rtl::kRetireStore) storing_.pop_front();
    ++retired_;
    last_retired_ = cycle_;
    int64_t time = cycle_;
    if (port == rtl::kRetireStore) time += memory_latency(stored_to_);
    if (port == rtl::kRetireStage)
      time += memory_latency(Memory::dram) + memory_latency(Memory::shared);
    end_ = std::max(end_, time);
    const int64_t want = expected_[queue_index(q)][static_cast<size_t>(ordinal)];
    waveform_.note_retired(q, ordinal);
    if (time == want) return;
    ++late_[queue_index(q)];
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
      if (!retiring_[p].empty())
        waiting += "\n  " + place_of_command(program_, hw_, kQueueOf[p], retiring_[p].front()).text;
    return {Errc::invalid,
            fmt::format("the core {} in cycle {}; not finished:{}", what, cycle_, waiting),
            "co-simulation of " + program_.name};
  }

  const Program& program_;
  const HwConfig& hw_;
  const VerilatedCore& variant_;
  MemoryImage& image_;
  BenchMemory memory_;
  GoldenRun golden_;
  std::optional<SumCheck> sums_;  ///< nothing without golden
  /// Tensors that the program changes, as they were.
  std::vector<std::pair<size_t, std::vector<uint8_t>>> before_;
  std::function<bool(int64_t, int64_t)> progress_;
  VerilatedCore::Core core_{nullptr, {nullptr}};
  rtl::Cycle io_;
  rtl::Request untaken_read_, untaken_write_;
  rtl::Copy untaken_copy_;
  const TokenOrder order_;
  const ChannelOrder channels_;
  std::array<QueueUnroller, kQueues> cursors_;
  std::array<std::optional<QueueUnroller::Entry>, rtl::kCommandPorts> offered_;
  std::array<bool, rtl::kCommandPorts> ready_{}, finished_{};
  std::array<PacedChannel, 2> reads_, writes_;
  std::array<ReturnPath, 2> returns_;
  std::array<WritePath, 2> stored_;  ///< by memory
  WritePath copied_;
  std::array<std::vector<int64_t>, kQueues> expected_;
  std::array<std::deque<int64_t>, rtl::kRetirePorts> retiring_;
  std::deque<int> storing_;  ///< tensors of the stores that haven't retired
  CommandPlace cycle_difference_, value_difference_;
  Memory stored_to_ = Memory::dram;  ///< of the latest write
  std::string broken_;
  std::array<int64_t, kQueues> late_{};  ///< commands that finish in another cycle than the model's
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
