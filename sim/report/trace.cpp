#include "sim/report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "hw/program/engines.h"
#include "sim/base/json_text.h"

namespace accsim::sim {
namespace {

constexpr int kTraceProcess = 1, kLayersThread = 1, kFirstQueueThread = 2;

/// As a JSON string. Bytes that aren't UTF-8 become U+FFFD.
std::string json_string(std::string_view text) {
  using Json = nlohmann::ordered_json;
  return json_text(Json(text));
}

/// ,"KEY":{reasons} of the cycles waited; "" when there are none.
std::string waits_json(const std::array<int64_t, hw::kWaits>& waits) {
  std::string out;
  for (size_t w = 0; w < hw::kWaits; ++w)
    if (waits[w] > 0)
      out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", name(static_cast<hw::Wait>(w)),
                         waits[w]);
  return out.empty() ? "" : fmt::format(",\"waited\":{{{}}}", out);
}

std::string layer_args(const Report& report, const LayerReport& l, bool summarised) {
  const Costs& c = l.costs;
  return fmt::format(
      R"({{"op":{},"fate":"{}","mapping":{},"cycles":{},"milliseconds":{:.6g},"bound":"{}",)"
      R"("macs":{},"dram_read_bytes":{},"dram_write_bytes":{},"energy_pj":{:.6g},)"
      R"("summarised":{}}})",
      json_string(l.op_type), name(l.fate), json_string(l.mapping), c.cycles,
      report.seconds(c.cycles) * 1e3, name(l.bound), c.macs, c.dram_read, c.dram_write,
      c.energy.total_pj(), summarised);
}

/// Cycle at which window `i` of `windows` begins.
int64_t window_start(int64_t cycles, int64_t i, int64_t windows) {
  return cycles / windows * i + cycles % windows * i / windows;
}

/// The part of `cycles` that falls to `busy` of `all` busy ones; they are at most as many.
int64_t share_of_cycles(int64_t cycles, int64_t busy, int64_t all) {
  if (all == 0) return 0;
  return busy + static_cast<int64_t>(static_cast<double>(cycles - all) *
                                     (static_cast<double>(busy) / static_cast<double>(all)));
}

/// Bytes that a slice has moved before cycle `at`, if it moves them evenly.
double moved_before(const hw::Slice& s, int64_t bytes, int64_t at) {
  if (at >= s.end) return static_cast<double>(bytes);
  if (at <= s.start) return 0;
  return static_cast<double>(bytes) * static_cast<double>(at - s.start) /
         static_cast<double>(s.end - s.start);
}

}  // namespace

void TraceWriter::add_event(std::string_view text) {
  text_ += first_ ? "\n" : ",\n";
  text_ += text;
  first_ = false;
}

Status TraceWriter::flush() {
  const Status written = sink_(text_);
  text_.clear();
  return written;
}

void TraceWriter::name_thread(int thread, std::string_view name) {
  add_event(
      fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})",
                  kTraceProcess, thread, name));
  add_event(fmt::format(
      R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
      kTraceProcess, thread, thread));
}

Status TraceWriter::begin_trace() {
  text_ = "{\"traceEvents\":[";
  const std::string process =
      (report_.model_name.empty() ? report_.model_file : report_.model_name) + " on " +
      report_.hw.name;
  add_event(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})",
                        kTraceProcess, json_string(process)));
  name_thread(kLayersThread, "layers");
  for (const hw::Queue q : hw::Queue::all())
    if (q != hw::Queue::stage) name_queue(q);
  return flush();
}

void TraceWriter::name_queue(hw::Queue queue) {
  if (named_[queue]) return;
  named_[queue] = true;
  name_thread(kFirstQueueThread + hw::engine_of(queue).number, std::string(name(queue)) + " queue");
}

void TraceWriter::add_counter(Counter counter, int64_t at, double value) {
  constexpr std::array<const char*, kCounters> kNames = {"DRAM read", "DRAM write", "shared buffer",
                                                         "live activations"};
  constexpr std::array<const char*, kCounters> kUnits = {"bytes/cycle", "bytes/cycle", "bytes",
                                                         "bytes"};
  if (counters_[counter] == value) return;
  counters_[counter] = value;
  add_event(fmt::format(R"({{"ph":"C","pid":{},"ts":{},"name":"{}","args":{{"{}":{}}}}})",
                        kTraceProcess, at, kNames[counter], kUnits[counter], value));
}

void TraceWriter::add_layer_slice(const LayerTimeline& l) {
  const LayerReport& layer = report_.layers[static_cast<size_t>(l.layer)];
  add_event(fmt::format(
      R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"layer","name":{},"args":{}}})",
      kTraceProcess, kLayersThread, l.start, l.cycles, json_string(layer.name),
      layer_args(report_, layer, l.summarised)));
}

/// The slices of a queue in order of their starts. Where some overlap, which only groups of several
/// turns of a layer do, they share that time by their busy cycles.
std::vector<TraceWriter::Placed> TraceWriter::place_slices(const NetworkTimeline& block,
                                                           hw::Queue queue) {
  std::vector<Placed> out;
  for (const LayerTimeline& l : block)
    for (size_t i = 0; i < l.queues[queue].size(); ++i) {
      hw::Slice s = l.queues[queue][i];
      s.start += l.start;
      s.end += l.start;
      s.visible += l.start;
      out.push_back({&l, s, l.hidden[queue].empty() ? 0 : l.hidden[queue][i], s.start, s.end});
    }
  std::ranges::stable_sort(out, {}, &Placed::start);
  for (size_t first = 0, last = 0; first < out.size(); first = last) {
    int64_t end = out[first].end, busy = 0;
    for (; last < out.size() && (last == first || out[last].start < end); ++last) {
      end = std::max(end, out[last].end);
      busy += out[last].slice.busy;
    }
    if (last - first == 1) continue;
    const int64_t start = out[first].start;
    int64_t before = 0;
    for (size_t i = first; i < last; ++i) {
      out[i].start = start + share_of_cycles(end - start, before, busy);
      before += out[i].slice.busy;
      out[i].end = start + share_of_cycles(end - start, before, busy);
    }
  }
  return out;
}

void TraceWriter::add_queue(const NetworkTimeline& block, hw::Queue queue) {
  const std::vector<Placed> slices = place_slices(block, queue);
  if (slices.empty()) return;
  name_queue(queue);
  const std::span all(slices);
  for (size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].layer == all[first].layer) ++last;
    add_turn(all.subspan(first, last - first), queue);
  }
}

void TraceWriter::add_turn(std::span<const Placed> turn, hw::Queue queue) {
  hw::Slice all;
  int64_t hidden = 0;
  for (const Placed& p : turn) {
    all.append(p.slice);
    hidden += p.hidden;
  }
  const int64_t start = turn.front().start;
  const LayerReport& layer = report_.layers[static_cast<size_t>(turn.front().layer->layer)];
  add_event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"queue","name":{},)"
                        R"("args":{{"commands":{},"busy":{}{}{}}}}})",
                        kTraceProcess, kFirstQueueThread + hw::engine_of(queue).number, start,
                        turn.back().end - start, json_string(layer.name), all.count, all.busy,
                        hidden > 0 ? fmt::format(",\"hidden\":{}", hidden) : "",
                        waits_json(all.waits)));
  for (const Placed& p : turn) add_command(p, queue);
}

void TraceWriter::add_command(const Placed& placed, hw::Queue queue) {
  const hw::Slice& s = placed.slice;
  const bool group = s.count > 1;
  std::string args = fmt::format("\"visible\":{}", s.visible);
  if (placed.start != s.start || placed.end != s.end)
    args += fmt::format(",\"from\":{},\"to\":{}", s.start, s.end);
  if (group) args += fmt::format(",\"commands\":{}", s.count);
  if (group || s.busy != placed.end - placed.start) args += fmt::format(",\"busy\":{}", s.busy);
  for (const hw::MemoryId m : hw::MemoryId::all())
    if (const int64_t bytes = s.read[m] + s.written[m]; bytes > 0)
      args += fmt::format(",\"{}_bytes\":{}", name(m), bytes);
  args += waits_json(s.waits);
  if (s.token != hw::Slice::kNoToken)
    args += fmt::format(",\"waited_for\":\"{}\"", hw::token_name(s.token));
  add_event(fmt::format(
      R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":"{}","name":"{}{}","args":{{{}}}}})",
      kTraceProcess, kFirstQueueThread + hw::engine_of(queue).number, placed.start,
      placed.end - placed.start, group ? "summary" : "command", hw::command_names(s.commands),
      group ? " (summarised)" : "", args));
}

/// DRAM's bytes in windows of equal length from a layer's first slice of a queue to its last, each
/// slice's spread evenly over it; the stage queue's with them.
void TraceWriter::add_bandwidth(const LayerTimeline& l) {
  constexpr int64_t kMostWindows = 64;
  using Bytes = hw::PerMemory<int64_t> hw::Slice::*;
  struct Span {
    int64_t from = std::numeric_limits<int64_t>::max(), to = 0;
    int64_t window_at(int64_t i, int64_t windows) const {
      return from + window_start(to - from, i, windows);
    }
  };
  const auto slices = [&](hw::Queue q) -> const auto& { return l.queues[q]; };
  const auto add = [&](hw::Queue queue, Bytes bytes, const Span& span, std::vector<double>& to) {
    const auto windows = static_cast<int64_t>(to.size());
    size_t next = 0;
    for (int64_t i = 0; i < windows; ++i) {
      const int64_t from = span.window_at(i, windows), end = span.window_at(i + 1, windows);
      while (next < slices(queue).size() && slices(queue)[next].end <= from) ++next;
      for (size_t s = next; s < slices(queue).size() && slices(queue)[s].start < end; ++s) {
        const int64_t moved = (slices(queue)[s].*bytes)[hw::MemoryId::dram];
        to[static_cast<size_t>(i)] += moved_before(slices(queue)[s], moved, end) -
                                      moved_before(slices(queue)[s], moved, from);
      }
    }
  };
  for (const auto& [counter, queue, bytes] :
       {std::tuple{kDramRead, hw::Queue::load, &hw::Slice::read},
        std::tuple{kDramWrite, hw::Queue::store, &hw::Slice::written}}) {
    Span span;
    for (const hw::Queue q : {queue, hw::Queue::stage})
      for (const hw::Slice& s : slices(q)) {
        span.from = std::min(span.from, s.start);
        span.to = std::max(span.to, s.end);
      }
    if (span.from >= span.to) continue;
    const int64_t windows = std::min(kMostWindows, span.to - span.from);
    std::vector<double> moved(static_cast<size_t>(windows), 0.0);
    add(queue, bytes, span, moved);
    add(hw::Queue::stage, bytes, span, moved);
    for (int64_t i = 0; i < windows; ++i)
      add_counter(
          counter, l.start + span.window_at(i, windows),
          moved[static_cast<size_t>(i)] /
              static_cast<double>(span.window_at(i + 1, windows) - span.window_at(i, windows)));
    add_counter(counter, l.start + span.to, 0);
  }
}

namespace {

/// The layers' slices, at cycles of the network.
LayerTimeline as_one(const NetworkTimeline& block) {
  LayerTimeline out;
  for (const LayerTimeline& l : block)
    for (const hw::Queue q : hw::Queue::all())
      for (hw::Slice s : l.queues[q]) {
        s.start += l.start;
        s.end += l.start;
        out.queues[q].push_back(s);
      }
  for (auto& queue : out.queues) std::ranges::stable_sort(queue, {}, &hw::Slice::start);
  return out;
}

}  // namespace

Status TraceWriter::add_layers(const NetworkTimeline& block) {
  for (const LayerTimeline& l : block) add_layer(l);
  for (const hw::Queue q : hw::Queue::all()) add_queue(block, q);
  // Layers that take turns move bytes at the same time: what the counters show is their sum.
  add_bandwidth(as_one(block));
  return flush();
}

void TraceWriter::add_layer(const LayerTimeline& l) {
  const LayerReport& layer = report_.layers[static_cast<size_t>(l.layer)];
  ++layers_;
  summarised_ += l.summarised ? 1 : 0;
  end_ = std::max(end_, l.start + l.cycles);
  add_layer_slice(l);
  add_counter(kShared, l.start, static_cast<double>(layer.resident_bytes));
  add_counter(kLive, l.start, static_cast<double>(layer.live_bytes));
}

Status TraceWriter::end_trace(int64_t limit) {
  for (int c = 0; c < kCounters; ++c) add_counter(static_cast<Counter>(c), end_, 0);
  const std::string said =
      summarised_ == 0 ? fmt::format("all commands of all {} layers", layers_)
                       : fmt::format("{} of {} layers have more than {} commands: summarised",
                                     summarised_, layers_, limit);
  add_event(fmt::format(
      R"({{"ph":"M","pid":{},"name":"process_labels","args":{{"labels":"1 us = 1 cycle; {}"}}}})",
      kTraceProcess, said));
  text_ += fmt::format(
      "\n],\n\"otherData\":{{\"tool\":\"accsim\",\"model\":{},\"machine\":{},"
      "\"unit\":\"1 us = 1 cycle\",\"clock_mhz\":{},\"cycles\":{},\"layers\":{},"
      "\"summarised_layers\":{},\"commands_limit\":{},\"detail\":\"{}\"}}}}\n",
      json_string(report_.model_file), json_string(report_.hw.name), report_.hw.clock_mhz, end_,
      layers_, summarised_, limit, said);
  return flush();
}

}  // namespace accsim::sim
