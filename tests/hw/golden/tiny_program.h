#pragma once
#include <array>
#include <vector>

#include "hw/golden/golden.h"
#include "tests/support/machines.h"

namespace accsim::test {

using namespace hw;

/// A hand-written program of one tile: m activation rows of k, k x n weights, one parameter entry a
/// channel, m x n outputs. The parts can be bent before it's put together.
struct TinyProgram {
  int64_t m, k, n;
  Dataflow dataflow = Dataflow::weight_stationary;
  LoadCommand load_a, load_w, load_p;
  GemmCommand gemm;
  PostCommand post;
  StoreCommand store;

  TinyProgram(int64_t m_, int64_t k_, int64_t n_, Dataflow d = Dataflow::weight_stationary)
      : m(m_), k(k_), n(n_), dataflow(d) {
    load_a = {Buffer::activation, 0, 0, 0, {{}, m * k}, std::nullopt};
    load_w = {Buffer::weight, 1, 0, 0, {{}, k * n}, std::nullopt};
    load_p = {Buffer::parameter, 3, 0, 0, {{}, n * 12}, std::nullopt};
    gemm.m = m;
    gemm.k = k;
    gemm.n = n;
    gemm.useful_macs = m * k * n;
    gemm.window.tile = gemm.window.count = {1, 1, m};
    gemm.window.pixel = gemm.window.line = k;
    gemm.weights = {0, d == Dataflow::input_stationary ? k : n};
    post.rows = m;
    post.cols = n;
    post.pitch = n;
    post.has_parameters = true;
    if (d == Dataflow::input_stationary) {
      std::swap(post.rows, post.cols);
      post.transposed = true;
    }
    store = {2, 0, 0, {{}, m * n}};
  }

  static Item sync(SyncKind kind, Queue queue, Buffer b) { return {Sync{kind, queue, b}}; }
  static std::vector<Item> filled(const LoadCommand& c) {
    return {sync(SyncKind::wait_free, Queue::load, c.buffer),
            {Command{c}},
            sync(SyncKind::signal_full, Queue::load, c.buffer)};
  }

  Program frame() const {
    Program p;
    p.name = "tiny";
    p.dataflow = dataflow;
    p.tensors = {{"a", MemoryId::dram, m * k},
                 {"w", MemoryId::dram, k * n},
                 {"y", MemoryId::dram, m * n},
                 {"p", MemoryId::dram, n * 12}};
    return p;
  }

  Program program() const {
    Program p = frame();
    const auto add = [&](SyncKind kind, Queue q, Buffer b) { p.body.push_back(sync(kind, q, b)); };
    const std::array readers = {std::pair{Buffer::activation, Queue::execute},
                                std::pair{Buffer::weight, Queue::execute},
                                std::pair{Buffer::parameter, Queue::post}};
    for (const LoadCommand* c : {&load_a, &load_w, &load_p})
      for (Item& item : filled(*c)) p.body.push_back(std::move(item));
    for (const auto& [b, q] : readers) add(SyncKind::wait_full, q, b);
    add(SyncKind::wait_free, Queue::execute, Buffer::accumulator);
    p.body.push_back({Command{gemm}});
    if (dataflow == Dataflow::output_stationary)
      p.body.push_back({Command{DrainCommand{m, n, 0, {}, false}}});
    add(SyncKind::signal_full, Queue::execute, Buffer::accumulator);
    add(SyncKind::wait_full, Queue::post, Buffer::accumulator);
    add(SyncKind::wait_free, Queue::post, Buffer::output);
    p.body.push_back({Command{post}});
    add(SyncKind::signal_free, Queue::post, Buffer::accumulator);
    add(SyncKind::signal_full, Queue::post, Buffer::output);
    add(SyncKind::wait_full, Queue::store, Buffer::output);
    p.body.push_back({Command{store}});
    add(SyncKind::signal_free, Queue::store, Buffer::output);
    for (const auto& [b, q] : readers) add(SyncKind::signal_free, q, b);
    return p;
  }

  /// Multiplier 1 and shift 0 in every channel.
  MemoryImage image(const std::vector<int>& a, const std::vector<int>& w) const {
    MemoryImage out(4);
    for (int v : a) out[0].push_back(static_cast<uint8_t>(v));
    for (int v : w) out[1].push_back(static_cast<uint8_t>(v));
    out[2].resize(static_cast<size_t>(m * n));
    out[3].resize(static_cast<size_t>(n * 12));
    for (int64_t c = 0; c < n; ++c) parameter(out, c, 0, 1, 0);
    return out;
  }

  static void parameter(MemoryImage& image, int64_t channel, int32_t bias, int32_t multiplier,
                        int32_t shift) {
    size_t at = static_cast<size_t>(channel) * 12;
    for (const int32_t word : {bias, multiplier, shift})
      for (int bit = 0; bit < 32; bit += 8)
        image[3][at++] = static_cast<uint8_t>(static_cast<uint32_t>(word) >> bit);
  }
};

inline std::vector<int> signed_values(const std::vector<uint8_t>& bytes) {
  std::vector<int> out;
  for (uint8_t b : bytes) out.push_back(static_cast<int8_t>(b));
  return out;
}

}  // namespace accsim::test
