#pragma once
#include "sim/map/product/tile_nest.h"
#include "sim/map/product/weight_loads.h"
#include "sim/map/product/weight_panels.h"

namespace accsim::sim {

/// Tensors of a program that stages panels of weights: the weights, and the first of the regions.
struct PanelTensors {
  int weights = 0, regions = 0;
};

/// Walks the panels of a tiling with staged weights (WeightPanels), region by region. It stages a
/// panel's weights into a region, and the next panel's as soon as the last tile of pixels has
/// loaded what the region has.
template <class Sink>
class PanelWalk {
 public:
  using Address = typename Sink::Address;

  /// Outputs are cut within a panel; the first and the last tile of the pixels stand alone.
  /// All but `tensors` must outlive it.
  PanelWalk(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, TileNest<Address>& nest,
            Sink& sink, PanelTensors tensors)
      : p_(p),
        hw_(hw),
        t_(t),
        nest_(nest),
        sink_(sink),
        panels_(weight_panels(p, hw, t)),
        weights_(tensors.weights),
        regions_(tensors.regions) {
    nest_.cut_outputs(std::min(t_.staged, p_.op.outputs));
    pass_dim_ = nest_.part_first_and_last_pixels();
    nest_.rewind_from(0);
  }

  void add_regions() const {
    for (int64_t r = 0; r < panels_.regions; ++r) sink_.add_region(panels_.region_bytes);
  }

  /// The dimension whose tiles are those of the regions.
  TileDim staged_dim() const { return panels_.by_channels ? kC : kN; }
  bool is_first_panel() const { return panel_.first; }
  /// Outputs before the panel.
  const Address& first_output() const { return panel_.start; }
  /// The region whose weight tiles are loaded now.
  int tensor() const { return regions_ + static_cast<int>(region_); }

  /// Calls `inner` for every panel, the nest on its first tile.
  template <class Inner>
  void for_panels(Inner inner) {
    const auto on_panel = [&](const Panel& panel) {
      panel_ = panel;
      nest_.cut_outputs(panel.outputs);
      nest_.rewind_from(0);
      inner();
    };
    const int64_t size = t_.staged, last = panels_.last_outputs, count = panels_.panels;
    if (count == 1) return on_panel({.outputs = last});
    on_panel({.outputs = size, .next = count == 2 ? last : size});
    // Those whose next one is whole, then the one before a narrower last one.
    const int64_t alike = count - 2 - (last < size ? 1 : 0);
    const Segment middle{.start = size, .count = alike, .step = size, .size = size};
    if (alike > 0)
      for_segments(sink_, "panel", {&middle, 1}, [&](const Segment&, const Address& start, int) {
        on_panel({.outputs = size, .start = start, .next = size, .first = false});
      });
    if (count > 2 && last < size)
      on_panel({.outputs = size, .start = (count - 2) * size, .next = last, .first = false});
    on_panel({.outputs = last, .start = (count - 1) * size, .first = false});
  }

  /// Tells it that the nest has entered a segment.
  void note_segment(TileDim d, const Segment& s) {
    if (d != pass_dim_) return;
    first_pass_ = s.start == 0;
    last_pass_ = s.start == nest_.segments_of(d).back().start;
  }

  /// Calls `inner` with the weight tiles of each region, and leaves it behind the last pass.
  template <class Inner>
  void for_regions(Inner inner) {
    const int64_t tiles = total_count(nest_.segments_of(staged_dim()));
    for (region_ = 0; region_ * panels_.each < tiles; ++region_) {
      const InlineVector<Segment, 3> run = region_tiles(tiles);
      inner(std::span<const Segment>(run.data(), run.size()));
      if (last_pass_) leave_region();
    }
  }

  /// Before a weight tile is loaded: the first load of a region waits until it has been staged.
  void await_weights() {
    if (!first_pass_ || !is_first_of_region()) return;
    if (panel_.first) stage_region(panel_.outputs, panel_.start);
    add_sync(hw::SyncKind::wait_full, hw::Queue::load);
  }

  /// Of the current weight tile in the region.
  WeightTilePlace<Sink> weight_place() const {
    const RegionPart part = region_part(p_, t_, panels_, region_, panel_.outputs);
    return {part.outputs,
            part.channels,
            0,
            nest_.at(kN).start + Address(-part.first_output),
            nest_.at(kC).start + Address(-part.first_channel),
            staged_in_blocks(p_, hw_, t_)};
  }

 private:
  /// A panel as the loops over pixels pass it by.
  struct Panel {
    int64_t outputs = 0;
    Address start = 0;  ///< outputs before it
    int64_t next = 0;   ///< outputs of the next one; 0: it is the last
    bool first = true;
  };

  int64_t tile_size() const { return staged_dim() == kC ? t_.channels : t_.outputs; }

  /// On the first pass the first tile, which waits for the region, stands alone.
  InlineVector<Segment, 3> region_tiles(int64_t tiles) const {
    const Segments& all = nest_.segments_of(staged_dim());
    const int64_t tile = tile_size(), end = all.back().start;
    const int64_t first = region_ * panels_.each;
    const int64_t count = std::min(panels_.each, tiles - first);
    InlineVector<Segment, 3> run;
    const auto add = [&](int64_t from, int64_t number) {
      if (number <= 0) return;
      Segment s = from * tile == end ? all.back() : all.front();
      s.start = s.in_start = from * tile;
      s.count = number;
      run.push_back(s);
    };
    const int64_t alone = first_pass_ ? 1 : 0;
    const bool ragged = all.back().size < tile && first + count == tiles;
    add(first, alone);
    add(first + alone, count - alone - (ragged && count > alone ? 1 : 0));
    if (ragged && count > alone) add(tiles - 1, 1);
    return run;
  }

  bool is_first_of_region() const {
    return nest_.segment_at(staged_dim()).start == region_ * panels_.each * tile_size();
  }

  void leave_region() {
    add_sync(hw::SyncKind::signal_free, hw::Queue::load);
    if (panel_.next > 0) stage_region(panel_.next, panel_.start + Address(t_.staged));
  }

  /// Brings the region's part of a panel into it.
  void stage_region(int64_t outputs, const Address& start) {
    const RegionPart part = region_part(p_, t_, panels_, region_, outputs);
    if (part.empty()) return;
    const RegionSource source = region_source(p_, hw_, t_, panels_, part, outputs);
    add_sync(hw::SyncKind::wait_free, hw::Queue::stage);
    sink_.add_stage(weights_, tensor(), source.walk,
                    [&](auto& c) { c.source = panel_offset(start) + Address(source.offset); });
    add_sync(hw::SyncKind::signal_full, hw::Queue::stage);
  }

  /// Bytes of weights in DRAM before a panel.
  Address panel_offset(const Address& start) const {
    if (p_.b_encoding.is_packed())
      return divide(start, t_.outputs) * weight_chunk_bytes(p_, hw_, t_, t_.outputs);
    return start * (p_.b.constant || weights_n_major(p_) ? p_.op.k() * p_.b_bytes() : p_.b_bytes());
  }

  void add_sync(hw::SyncKind kind, hw::Queue queue) { sink_.region_sync(kind, queue, tensor()); }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  TileNest<Address>& nest_;
  Sink& sink_;
  const WeightPanels panels_;
  const int weights_, regions_;
  Panel panel_;
  int64_t region_ = 0;
  TileDim pass_dim_ = kX;  ///< tiles of pixels that pass by a panel
  bool first_pass_ = false, last_pass_ = false;
};

}  // namespace accsim::sim
