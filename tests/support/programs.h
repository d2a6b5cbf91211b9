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

/// A random nest of tiles: what the mapper would never write, but a machine must run.
inline Program random_program(std::mt19937& random) {
  int loops = 0;
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const auto body = [&](const auto& self, int depth) -> std::vector<Item> {
    std::vector<Item> out;
    for (int64_t parts = pick(1, 3); parts > 0; --parts) {
      if (depth > 0 && pick(0, 1) == 1) {
        Loop loop{loops++, "l", pick(1, depth == 3 ? 60 : 12), {}};
        loop.body = self(self, depth - 1);
        out.push_back({std::move(loop)});
      } else {
        append(out, tile(pick(1, 40), pick(1, 8), pick(1, 8), pick(1, 3)));
      }
    }
    return out;
  };
  Program p = program(body(body, 3));
  p.loops = loops;
  return p;
}

}  // namespace accsim::test
