#pragma once
#include <random>

#include "hw/program/program.h"

namespace accsim::test {

inline Item sync(SyncKind kind, Queue queue, Buffer buffer) { return {Sync{kind, queue, buffer}}; }

inline Item load(Buffer buffer, int64_t bytes) {
  return {Command{LoadCommand{buffer, 0, 0, 0, {{}, bytes}, {}}}};
}

/// m pixels of k bytes, one accumulator block.
inline Item gemm(int64_t m, int64_t k, int64_t n) {
  GemmCommand c;
  c.m = m;
  c.k = k;
  c.n = n;
  c.useful_macs = m * k * n;
  c.window.tile = {1, 1, m};
  c.window.count = {1, 1, m};
  c.window.pixel = c.window.line = k;
  c.weights.pitch = n;
  return {Command{c}};
}

inline Item post(int64_t rows, int64_t cols) {
  PostCommand c;
  c.rows = rows;
  c.cols = c.pitch = cols;
  return {Command{c}};
}

inline Item store(int64_t bytes) {
  return {Command{StoreCommand{1, 0, 0, {{}, bytes}}}};
}

inline void append(std::vector<Item>& to, std::vector<Item> items) {
  for (Item& i : items) to.push_back(std::move(i));
}

inline std::vector<Item> fill(Buffer b, int64_t bytes) {
  return {sync(SyncKind::wait_free, Queue::load, b), load(b, bytes),
          sync(SyncKind::signal_full, Queue::load, b)};
}

/// One tile from memory to memory: loads, `passes` gemms, post, store. Weights of `k` x `n`.
inline std::vector<Item> tile(int64_t m, int64_t k, int64_t n, int64_t passes = 1) {
  std::vector<Item> out = fill(Buffer::weight, k * n);
  out.push_back(sync(SyncKind::wait_full, Queue::execute, Buffer::weight));
  append(out, fill(Buffer::activation, m * k));
  out.push_back(sync(SyncKind::wait_full, Queue::execute, Buffer::activation));
  out.push_back(sync(SyncKind::wait_free, Queue::execute, Buffer::accumulator));
  for (int64_t i = 0; i < passes; ++i) out.push_back(gemm(m, k, n));
  append(out, {sync(SyncKind::signal_free, Queue::execute, Buffer::weight),
               sync(SyncKind::signal_free, Queue::execute, Buffer::activation),
               sync(SyncKind::signal_full, Queue::execute, Buffer::accumulator),
               sync(SyncKind::wait_full, Queue::post, Buffer::accumulator),
               sync(SyncKind::wait_free, Queue::post, Buffer::output), post(m, n),
               sync(SyncKind::signal_free, Queue::post, Buffer::accumulator),
               sync(SyncKind::signal_full, Queue::post, Buffer::output),
               sync(SyncKind::wait_full, Queue::store, Buffer::output), store(m * n),
               sync(SyncKind::signal_free, Queue::store, Buffer::output)});
  return out;
}

inline Program program(std::vector<Item> body, int loops = 0) {
  Program p;
  p.name = "test";
  p.tensors = {{"in", Memory::dram, int64_t{1} << 20}, {"out", Memory::dram, int64_t{1} << 20}};
  p.body = std::move(body);
  p.loops = loops;
  return p;
}

/// A random program: what the mapper would never write, but a machine must run. Tiles in nests of loops;
/// passes and posts in loops of their own; operands kept over several tiles; slots that are handed on
/// unfilled (so that a loop reads moments it doesn't write); vector commands; all three dataflows.
class RandomProgram {
 public:
  explicit RandomProgram(std::mt19937& random) : random_(random) {}

  Program run() {
    Program p = program({});
    p.dataflow = static_cast<Dataflow>(pick(0, 2));
    drains_ = p.dataflow == Dataflow::output_stationary;
    p.body = nest(3);
    p.loops = loops_;
    return p;
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool one_in(int64_t n) { return pick(1, n) == 1; }

  Item loop(int64_t count, std::vector<Item> body) {
    return {Loop{loops_++, "l", count, std::move(body)}};
  }
  /// The same now and then, now and then in a loop.
  std::vector<Item> maybe_looped(std::vector<Item> body) {
    if (!one_in(3)) return body;
    std::vector<Item> out;
    out.push_back(loop(pick(1, 12), std::move(body)));
    return out;
  }

  std::vector<Item> nest(int depth) {
    std::vector<Item> out;
    for (int64_t parts = pick(1, 3); parts > 0; --parts) {
      if (depth > 0 && one_in(2))
        out.push_back(loop(pick(1, depth == 3 ? 40 : 9), nest(depth - 1)));
      else
        append(out, one_in(5) ? vector_tile() : gemm_tile());
    }
    return out;
  }

  std::vector<Item> filled(Buffer b, Queue reader, int64_t bytes) {
    std::vector<Item> out = {sync(SyncKind::wait_free, Queue::load, b)};
    if (!one_in(12)) append(out, maybe_looped({load(b, bytes)}));
    out.push_back(sync(SyncKind::signal_full, Queue::load, b));
    out.push_back(sync(SyncKind::wait_full, reader, b));
    return out;
  }

  std::vector<Item> passes() {
    std::vector<Item> out;
    for (int64_t parts = pick(1, 2); parts > 0; --parts)
      append(out, maybe_looped({gemm(pick(1, 40), pick(1, 8), pick(1, 8))}));
    if (drains_) {
      DrainCommand d;
      d.m = pick(1, 2);
      d.n = pick(1, 2);
      append(out, maybe_looped({{Command{d}}}));
    }
    return maybe_looped(std::move(out));
  }

  std::vector<Item> stored(int64_t bytes) {
    std::vector<Item> out = {sync(SyncKind::wait_full, Queue::store, Buffer::output)};
    if (!one_in(12)) append(out, maybe_looped({store(bytes)}));
    out.push_back(sync(SyncKind::signal_free, Queue::store, Buffer::output));
    return out;
  }

  std::vector<Item> gemm_tile() {
    std::vector<Item> out = filled(Buffer::weight, Queue::execute, pick(1, 64));
    std::vector<Item> inner = filled(Buffer::activation, Queue::execute, pick(1, 300));
    inner.push_back(sync(SyncKind::wait_free, Queue::execute, Buffer::accumulator));
    append(inner, passes());
    append(inner, {sync(SyncKind::signal_free, Queue::execute, Buffer::activation),
                   sync(SyncKind::signal_full, Queue::execute, Buffer::accumulator),
                   sync(SyncKind::wait_full, Queue::post, Buffer::accumulator),
                   sync(SyncKind::wait_free, Queue::post, Buffer::output)});
    append(inner, maybe_looped({post(pick(1, 40), pick(1, 2))}));
    append(inner, {sync(SyncKind::signal_free, Queue::post, Buffer::accumulator),
                   sync(SyncKind::signal_full, Queue::post, Buffer::output)});
    append(inner, stored(pick(1, 80)));
    append(out, maybe_looped(std::move(inner)));  // weights that stay over several tiles
    out.push_back(sync(SyncKind::signal_free, Queue::execute, Buffer::weight));
    return out;
  }

  std::vector<Item> vector_tile() {
    std::vector<Item> out = filled(Buffer::activation, Queue::post, pick(1, 300));
    out.push_back(sync(SyncKind::wait_free, Queue::post, Buffer::output));
    VectorCommand c;
    c.ops[static_cast<size_t>(pick(0, 6))] = pick(1, 500);
    c.in_bytes = pick(0, 300);
    c.out_bytes = pick(1, 80);
    append(out, maybe_looped({{Command{c}}}));
    append(out, {sync(SyncKind::signal_free, Queue::post, Buffer::activation),
                 sync(SyncKind::signal_full, Queue::post, Buffer::output)});
    append(out, stored(c.out_bytes));
    return out;
  }

  std::mt19937& random_;
  int loops_ = 0;
  bool drains_ = false;
};

inline Program random_program(std::mt19937& random) { return RandomProgram(random).run(); }

}  // namespace accsim::test
