#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>

#include "hw/program/contract.h"

namespace accsim::hw {

/// Some of the buffers, in the order in which descriptors have them.
class BufferList {
 public:
  constexpr BufferList(std::initializer_list<Buffer> of) : size_(of.size()) {
    std::copy(of.begin(), of.end(), buffers_.begin());
  }
  constexpr auto begin() const { return buffers_.begin(); }
  constexpr auto end() const { return buffers_.begin() + size_; }
  constexpr bool contains(Buffer b) const { return std::find(begin(), end(), b) != end(); }

 private:
  std::array<Buffer, kBuffers> buffers_{};
  size_t size_;
};

/// What runs the commands of a queue. What its commands take follows from their sizes
/// (hw/program/contract.h).
struct Engine {
  std::string_view name;
  int number;               ///< in traces and in the C interface
  BufferList fills, reads;  ///< whose slots it claims, or frees
  bool moves;               ///< from memory or to it: it sets marks
  /// Cycles from the last beat of a command to its result. 0: the array's skew, or the memory's.
  int64_t latency = 0;
};

/// The list of engines. Of moves that are costed only, the store queue claims what it stores.
constexpr PerQueue<Engine> engine_list() {
  using enum Buffer;
  return {{{
      {"load", 0, {activation, weight, parameter, accumulator, output}, {parameter}, true},
      {"execute", 1, {accumulator}, {activation, weight}, false},
      {"post", 2, {output}, {accumulator, parameter}, false, contract::kPostLatency},
      {"vector", 3, {output}, {activation, parameter}, false, contract::kVectorLatency},
      {"store", 4, {output}, {output}, true},
      {"stage", 5, {}, {}, true},
  }}};
}
inline constexpr PerQueue<Engine> kEngines = engine_list();
/// A row of it.
constexpr const Engine& engine_of(Queue q) { return kEngines[q]; }

/// Cycles a table occupies its unit: until the command before it has left the unit, then beats.
constexpr int64_t table_cycles(Queue unit) {
  return engine_of(unit).latency + SetTableCommand::kBytes / contract::kTableBeat;
}

}  // namespace accsim::hw
