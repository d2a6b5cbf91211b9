// A tile program and a machine: what the verifier accepts golden and timing run as well, and their
// numbers must go together.
#include "hw/energy/energy.h"
#include "hw/golden/golden.h"
#include "hw/program/core_runs.h"
#include "hw/program/coverage.h"
#include "hw/program/reach.h"
#include "hw/timing/timing.h"
#include "tests/fuzz/program_bytes.h"
#include "tests/fuzz/target.h"
#include "tests/support/timings.h"

namespace {

using namespace accsim;
using namespace accsim::hw;

/// Lines of programs that are run, as often as loops run them; bytes and products of commands.
constexpr int64_t kMostSteps = 10'000, kMostWork = 2'000'000, kMostImage = 1 << 20;

/// What running a program takes, without overflow.
class Work {
 public:
  explicit Work(const Program& p) {
    visit(p.body, 1);
    for (const ProgramTensor& t : p.tensors) image_ = add_far(image_, t.bytes);
  }
  bool is_small() const {
    return steps_ <= kMostSteps && work_ <= kMostWork && image_ <= kMostImage;
  }

 private:
  static int64_t product(std::initializer_list<int64_t> factors) {
    int64_t out = 1;
    for (const int64_t f : factors) out = multiply_far(out, f);
    return out;
  }
  void visit(const std::vector<Item>& body, int64_t times) {
    for (const Item& item : body) {
      steps_ = add_far(steps_, times);
      // An empty body takes time, too.
      if (const auto* loop = std::get_if<Loop>(&item.node); loop && loop->body.empty())
        steps_ = add_far(steps_, multiply_far(times, loop->count));
      else if (loop)
        visit(loop->body, multiply_far(times, loop->count));
      if (const auto* command = std::get_if<Command>(&item.node)) {
        const int64_t one = std::visit([](const auto& c) { return of(c); }, *command);
        work_ = add_far(work_, multiply_far(times, one));
      }
    }
  }
  static int64_t of(const Walk& w) {
    int64_t out = w.run;
    for (const Walk::Level& l : w.levels) out = multiply_far(out, l.count);
    return out;
  }
  static int64_t of(const LoadCommand& c) { return of(c.walk); }
  static int64_t of(const StoreCommand& c) { return of(c.walk); }
  static int64_t of(const StageCommand& c) { return of(c.walk); }
  static int64_t of(const GemmCommand& c) { return product({c.m, c.k, c.n}); }
  static int64_t of(const DrainCommand& c) { return product({c.m, c.n}); }
  static int64_t of(const PostCommand& c) { return product({c.rows, c.cols, c.groups}); }
  static int64_t of(const SetTableCommand&) { return SetTableCommand::kBytes; }
  static int64_t of(const LaneCommand& c) {
    return product({c.rows[0], c.rows[1], c.rows[2], c.rows[3], c.run, c.taps[0], c.taps[1]});
  }
  static int64_t of(const RowCommand& c) {
    return product({c.rows[0], c.rows[1], c.rows[2], c.rows[3], c.pieces, c.run, 4});
  }
  static int64_t of(const VectorCommand& c) {
    int64_t out = add_far(c.in_bytes, c.out_bytes);
    for (const int64_t ops : c.ops) out = add_far(out, ops);
    return out;
  }

  int64_t steps_ = 0, work_ = 0, image_ = 0;
};

/// Memory as it is filled: noise, parameters of posts and norms that shift little, or tables as
/// softmax has them.
MemoryImage image_of(const test::ProgramCase& c) {
  std::mt19937 random(static_cast<unsigned>(c.fill));
  MemoryImage out;
  for (const ProgramTensor& t : c.program.tensors) {
    std::vector<uint8_t>& bytes = out.emplace_back(static_cast<size_t>(t.bytes));
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint32_t word = static_cast<uint32_t>(i / 4) % 64;
      const uint32_t table = (1U << 30) / (word + 1);
      const std::array<uint32_t, 3> words = {static_cast<uint32_t>(random()), word % 40, table};
      bytes[i] = static_cast<uint8_t>(words[static_cast<uint64_t>(c.fill) % 3] >> i % 4 * 8);
    }
  }
  return out;
}

/// Does golden refuse what it says it does, or numbers in memory, of which the verifier knows
/// nothing?
bool may_refuse(const Error& e) {
  if (e.code == Errc::unsupported) return true;
  for (const char* what : {"tables of a softmax", "a channel shifts by", "shifts channel"})
    if (e.message.find(what) != std::string::npos) return true;
  return false;
}

void check_golden(const test::ProgramCase& c, int64_t commands) {
  const std::optional<CoreLack> machine = core_lacks(c.hw);
  if (machine && *machine != CoreLack::wide_ports) return;  // golden has no ports
  if (core_lacks(c.program)) return;
  MemoryImage image = image_of(c), again = image;
  int64_t retired = 0;
  const Status ran = run_golden(c.program, c.hw, image, [&](const RetiredCommand&) { ++retired; });
  check(ran.ok() || may_refuse(ran.errors().front()),
        ran.ok() ? "" : "golden refuses a verified program: " + ran.errors().front().message);
  check(!ran.ok() || retired == commands, "golden runs other commands than are counted");
  check(run_golden(c.program, c.hw, again).ok() == ran.ok() && again == image,
        "golden isn't repeatable");
}

void check_timing(const test::ProgramCase& c, int64_t commands) {
  int64_t seen = 0;
  const auto observe = [&](const CommandTime& t) {
    check(t.start >= 0 && t.finish >= t.start, "a command ends before it begins");
    ++seen;
  };
  const Timing step = simulate(c.program, c.hw, TimingMode::step, observe);
  const Timing fast = simulate(c.program, c.hw);
  check(test::equal(step, fast), "periodic loops change the time");
  check(seen == commands, "timing runs other commands than are counted");
  for (const QueueTiming& q : step.queues) {
    Cycles all = q.busy;
    for (const Cycles wait : q.waits) all += wait;
    check(all == q.free_at + q.hidden, "a queue's cycles aren't all told");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const test::ProgramCase c = test::decode(test::text_of(data, size));
  const bool good = verify(c.program, c.hw).ok();
  if (!good) return 0;
  if (!Work(c.program).is_small()) return 0;
  program_text(c.program);
  Coverage coverage;
  add_coverage(c.program, coverage);
  const Counts counts = count_program(c.program, c.hw);
  check_timing(c, counts.commands);
  check_golden(c, counts.commands);
  return 0;
}
