#pragma once
#include <utility>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// A place in a random program's text, behind which tiles write theirs.
struct TileText {
  static constexpr int64_t kMostIterations = 5;
  std::vector<Item>& items;
  int loop = -1;           ///< Loop::id of the loop around it; -1: none
  int64_t iterations = 1;  ///< of that loop

  void add_sync(SyncKind kind, Queue q, Buffer b) const { items.push_back({Sync{kind, q, b}}); }
  /// On a region, a tensor of the program.
  void region_sync(SyncKind kind, Queue q, int region) const {
    items.push_back({Sync{kind, q, Buffer::activation, region}});
  }
  template <class C>
  void add_command(C c) const {
    items.push_back({Command{std::move(c)}});
  }
};

}  // namespace accsim::hw
