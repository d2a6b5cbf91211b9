#include "hw/random/random_program.h"

#include "hw/random/contents.h"
#include "hw/random/region_drawer.h"

namespace accsim::hw {
namespace {

/// Puts tiles behind one another, and their tensors beside them.
class Generator {
 public:
  Generator(const HwConfig& hw, Dataflow dataflow, std::mt19937& random)
      : dataflow_(dataflow),
        dice_(random),
        tensors_(hw, dice_),
        tiles_(hw, dataflow, dice_, tensors_),
        regions_(hw, dice_, tensors_, tiles_) {}

  ProgramWithImage run() {
    for (int64_t parts = dice_.pick(2, 7); parts > 0; --parts) draw_part();
    return finished_program();
  }
  ProgramWithImage run_products() {
    tiles_.multiply_tile({body_}, 24);
    return finished_program();
  }

 private:
  /// Tiles, with or without a loop around them.
  void draw_part() {
    const bool looped = dice_.one_in(2);
    const int64_t iterations = looped ? dice_.pick(2, TileText::kMostIterations) : 1;
    const int loop = looped ? loops_++ : -1;
    std::vector<Item> inner;
    const TileText to{looped ? inner : body_, loop, iterations};
    for (int64_t tiles = dice_.pick(1, 3); tiles > 0; --tiles) draw_tile(to);
    if (looped) body_.push_back({Loop{loop, "l", iterations, std::move(inner)}});
  }

  void draw_tile(const TileText& to) {
    const int64_t kind = dice_.pick(0, TileDrawer::kKinds + 2);
    if (kind < TileDrawer::kKinds)
      tiles_.compute_tile(to, kind);
    else if (kind < TileDrawer::kKinds + 2)
      regions_.draw_parts(to);
    else
      tiles_.copy_tile(to);
  }

  ProgramWithImage finished_program() {
    ProgramWithImage out;
    Program& p = out.program;
    p.name = "random";
    p.dataflow = dataflow_;
    p.loops = loops_;
    p.body = std::move(body_);
    p.tensors = tensors_.all_tensors();
    out.image = draw_contents(p.tensors, tiles_.has_rows(), dice_);
    p.tensors[TensorDrawer::kRows].bytes = std::ssize(out.image[TensorDrawer::kRows]);
    return out;
  }

  const Dataflow dataflow_;
  const Dice dice_;
  TensorDrawer tensors_;
  TileDrawer tiles_;
  RegionDrawer regions_;
  std::vector<Item> body_;
  int loops_ = 0;
};

bool has_room(const HwConfig& hw) {
  constexpr int64_t kParameters = TensorDrawer::kParameterBytes;
  return hw.buffer(Buffer::activation).slot_bytes() >= 64 &&
         hw.buffer(Buffer::weight).slot_bytes() >= hw.array.rows &&
         hw.buffer(Buffer::parameter).slot_bytes() >= kParameters &&
         hw.buffer(Buffer::output).slot_bytes() >= 64 && hw.accumulator_rows() >= 1 &&
         hw.buffer(Buffer::activation).slot_bytes() >= hw.array.rows &&
         hw.parameter_bytes() == kParameters;
}

}  // namespace

std::optional<ProgramWithImage> random_program(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random) {
  if (!has_room(hw)) return std::nullopt;
  return Generator(hw, dataflow, random).run();
}

std::optional<ProgramWithImage> random_products(const HwConfig& hw, Dataflow dataflow,
                                                std::mt19937& random) {
  if (!has_room(hw)) return std::nullopt;
  return Generator(hw, dataflow, random).run_products();
}

}  // namespace accsim::hw
