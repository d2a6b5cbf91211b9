#include "hw/random/random_network.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "hw/program/append_layer.h"
#include "hw/program/visit.h"
#include "hw/random/draw.h"
#include "hw/random/random_marks.h"

namespace accsim::hw {
namespace {

/// Queues that read and write each tensor of a program.
struct Users {
  std::vector<std::set<Queue>> readers, writers;  ///< by tensor
  PerQueue<int> last{};                           ///< tensor of the queue's last command

  explicit Users(const Program& p) : readers(p.tensors.size()), writers(p.tensors.size()) {
    const auto load = [this](const LoadCommand& c) { note_use(readers, c.tensor, Queue::load); };
    const auto store = [this](const StoreCommand& c) { note_use(writers, c.tensor, Queue::store); };
    const auto stage = [this](const StageCommand& c) {
      note_use(readers, c.from, Queue::stage);
      note_use(writers, c.to, Queue::stage);
    };
    visit_nest(p.body, Overloaded{load, store, stage});
  }

 private:
  void note_use(std::vector<std::set<Queue>>& side, int tensor, Queue q) {
    side[static_cast<size_t>(tensor)].insert(q);
    last[q] = tensor;
  }
};

class Network {
 public:
  Network(const HwConfig& hw, std::mt19937& random) : hw_(hw), random_(random) {}

  /// False when there is no room for it.
  bool add_layer(ProgramWithImage part) {
    Program& p = part.program;
    const Users used(p);
    std::vector<int> tensors;
    const std::vector<int> linked = find_links(p, used);
    if (!has_room(p)) return false;
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      tensors.push_back(linked[i] >= 0 ? linked[i] : static_cast<int>(out_.program.tensors.size()));
      if (linked[i] >= 0) {
        enlarge_tensor(linked[i], p.tensors[i].bytes);
        continue;
      }
      out_.program.tensors.push_back(p.tensors[i]);
      out_.image.push_back(std::move(part.image[i]));
    }
    add_marks(p, used, linked);
    const std::string name = "layer " + std::to_string(layers_++);
    append_layer(out_.program, std::move(p), name, tensors);
    remember_uses(used, tensors);
    return true;
  }

  /// Now and then copies a tensor into a new one in the other memory; layers to come may read it.
  void stage_tensor() {
    std::vector<int> fit;
    for (size_t t = 0; t < past_.size(); ++t)
      if (is_data(out_.program.tensors[t]) && can_mark(t)) fit.push_back(static_cast<int>(t));
    if (fit.empty() || one_in(2)) return;
    const int from = fit[static_cast<size_t>(draw_number(random_, 0, std::ssize(fit) - 1))];
    const ProgramTensor& source = out_.program.tensors[static_cast<size_t>(from)];
    const MemoryId other = source.memory == MemoryId::dram ? MemoryId::shared : MemoryId::dram;
    const int64_t bytes = draw_number(random_, 1, source.bytes);
    Program part;
    part.tensors = {{"in staged", other, bytes}};
    if (!has_room(part)) return;
    Past& past = past_[static_cast<size_t>(from)];
    std::vector<Item>& body = out_.program.body;
    for (const Queue q : past.writers) body.push_back({Mark{false, q, from}});
    if (!past.writers.empty()) body.push_back({Mark{true, Queue::stage, from}});
    const int to = static_cast<int>(out_.program.tensors.size());
    body.push_back({Command{StageCommand{from, to, 0, 0, {{}, bytes}}}});
    past.readers.insert(Queue::stage);
    past_.push_back({{}, {Queue::stage}});
    out_.program.tensors.push_back(std::move(part.tensors[0]));
    out_.image.emplace_back();
    enlarge_tensor(to, bytes);
  }

  ProgramWithImage take_network(Dataflow dataflow) {
    out_.program.name = "random network";
    out_.program.dataflow = dataflow;
    return std::move(out_);
  }

 private:
  struct Past {
    std::set<Queue> readers, writers;
  };

  bool one_in(int64_t n) { return draw_number(random_, 1, n) == 1; }
  static bool is_data(const ProgramTensor& t) {
    return t.slots == 0 && (t.name.starts_with("in") || t.name.starts_with("out")) &&
           t.name != "indices";
  }
  int64_t memory_latency(MemoryId m) const { return hw_.memory(m).channel.latency; }

  /// By tensor of the part, the tensor of an earlier one that it is, or -1.
  std::vector<int> find_links(const Program& p, const Users& used) {
    std::vector<int> out(p.tensors.size(), -1);
    for (size_t i = 0; i < p.tensors.size(); ++i) {
      if (!is_data(p.tensors[i]) || one_in(3)) continue;
      std::vector<int> fit;
      for (size_t t = 0; t < past_.size(); ++t) {
        const bool taken = std::ranges::find(out, static_cast<int>(t)) != out.end();
        // What has been written is read, and what has been read is written.
        const bool other =
            used.writers[i].empty() ? !past_[t].writers.empty() : past_[t].writers.empty();
        const bool alike = is_data(out_.program.tensors[t]) &&
                           out_.program.tensors[t].memory == p.tensors[i].memory;
        if (alike && !taken && other && can_mark(t)) fit.push_back(static_cast<int>(t));
      }
      if (!fit.empty())
        out[i] = fit[static_cast<size_t>(draw_number(random_, 0, std::ssize(fit) - 1))];
    }
    return out;
  }

  /// Is a store that is done the last one of all?
  bool can_mark(size_t t) const {
    return !past_[t].writers.contains(Queue::store) ||
           memory_latency(last_store_) >= memory_latency(out_.program.tensors[t].memory);
  }

  bool has_room(const Program& p) const {
    int64_t shared = 0, regions = 0;
    for (const ProgramTensor& t : out_.program.tensors) {
      shared += t.memory == MemoryId::shared ? t.bytes : 0;
      regions += t.slots > 0 ? 1 : 0;
    }
    for (const ProgramTensor& t : p.tensors) {  // one that is enlarged counts twice
      shared += t.memory == MemoryId::shared ? t.bytes : 0;
      regions += t.slots > 0 ? 1 : 0;
    }
    return shared <= hw_.memory(MemoryId::shared).bytes &&
           regions <= static_cast<int64_t>(kMostRegions);
  }

  void enlarge_tensor(int tensor, int64_t bytes) {
    const auto t = static_cast<size_t>(tensor);
    std::vector<uint8_t>& image = out_.image[t];
    while (std::ssize(image) < bytes) image.push_back(static_cast<uint8_t>(random_()));
    out_.program.tensors[t].bytes = std::ssize(image);
  }

  /// Marks for what earlier layers do with the part's tensors, before its text; waits before it or
  /// before the commands that use them.
  void add_marks(Program& p, const Users& used, const std::vector<int>& linked) {
    for (size_t i = 0; i < linked.size(); ++i) {
      if (linked[i] < 0) continue;
      const Past& past = past_[static_cast<size_t>(linked[i])];
      const bool writes = !used.writers[i].empty();
      for (const Queue q : writes ? past.readers : past.writers)
        out_.program.body.push_back({Mark{false, q, linked[i]}});
      for (const Queue q : writes ? used.writers[i] : used.readers[i]) {
        const Mark wait{true, q, static_cast<int>(i)};
        if (one_in(3))
          p.body.insert(p.body.begin(), {wait});
        else
          before_uses(p.body, wait);
      }
    }
  }

  static void before_uses(std::vector<Item>& body, const Mark& wait) {
    rewrite_nest(body, [&](Item item, std::vector<Item>& to) {
      const auto* command = std::get_if<Command>(&item.node);
      if (command && uses_tensor(*command, wait)) to.push_back({wait});
      to.push_back(std::move(item));
    });
  }
  static bool uses_tensor(const Command& command, const Mark& wait) {
    if (queue_of(command) != wait.queue) return false;
    if (const auto* load = std::get_if<LoadCommand>(&command)) return load->tensor == wait.tensor;
    if (const auto* store = std::get_if<StoreCommand>(&command))
      return store->tensor == wait.tensor;
    const auto& stage = std::get<StageCommand>(command);
    return stage.from == wait.tensor || stage.to == wait.tensor;
  }

  void remember_uses(const Users& used, const std::vector<int>& tensors) {
    past_.resize(out_.program.tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      Past& past = past_[static_cast<size_t>(tensors[i])];
      past.readers.insert(used.readers[i].begin(), used.readers[i].end());
      past.writers.insert(used.writers[i].begin(), used.writers[i].end());
    }
    const int store = used.last[Queue::store];
    if (std::ranges::any_of(used.writers, [](const auto& w) { return w.contains(Queue::store); }))
      last_store_ =
          out_.program.tensors[static_cast<size_t>(tensors[static_cast<size_t>(store)])].memory;
  }

  const HwConfig& hw_;
  std::mt19937& random_;
  ProgramWithImage out_;
  std::vector<Past> past_;  ///< by tensor
  MemoryId last_store_ = MemoryId::dram;
  int layers_ = 0;
};

/// Draws the layers of a network, one kind or another.
class Layers {
 public:
  Layers(const HwConfig& hw, Dataflow dataflow, std::mt19937& random)
      : hw_(hw), random_(random), network_(hw, random), first_(dataflow), now_(dataflow) {}

  std::optional<ProgramWithImage> draw_layers() {
    for (int64_t layers = draw_number(random_, 3, 6); layers > 0 && more_; --layers) {
      const int64_t kind = draw_number(random_, 0, 2);
      if (kind == 0)
        add_part(random_marks(hw_, now_, random_));
      else if (kind == 1)
        add_products();
      else
        add_program();
    }
    if (!drawn_) return std::nullopt;
    return network_.take_network(first_);
  }

 private:
  void add_program() {
    add_part(random_program(hw_, now_, random_));
    if (more_) network_.stage_tensor();
    if (draw_number(random_, 0, 1) == 1) turn_dataflow();
  }
  /// Mostly weight and input stationary by turns, each ready before the array is.
  void add_products() {
    for (int64_t layers = draw_number(random_, 2, 5); layers > 0 && more_; --layers) {
      add_part(random_products(hw_, now_, random_));
      if (draw_number(random_, 0, 3) > 0) turn_dataflow();
    }
  }
  void add_part(std::optional<ProgramWithImage> part) {
    drawn_ = drawn_ && part;
    more_ = part && network_.add_layer(std::move(*part));
  }
  void turn_dataflow() {
    if (first_ == Dataflow::output_stationary) return;
    now_ = now_ == Dataflow::weight_stationary ? Dataflow::input_stationary
                                               : Dataflow::weight_stationary;
  }

  const HwConfig& hw_;
  std::mt19937& random_;
  Network network_;
  const Dataflow first_;
  Dataflow now_;
  bool drawn_ = true;  ///< no program was none
  bool more_ = true;   ///< there was room so far
};

}  // namespace

std::optional<ProgramWithImage> random_network(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random) {
  return Layers(hw, dataflow, random).draw_layers();
}

}  // namespace accsim::hw
