#include "sim/app/tile_command.h"

#include <fmt/format.h>

#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/moved_weights.h"
#include "sim/app/output.h"
#include "sim/rewrite/tile.h"

namespace accsim::sim {
namespace {

std::string tiling_summary(const TiledModel& tiled, const std::string& model,
                           const std::string& output) {
  std::string out;
  int64_t products = 0;
  for (const TiledFrom& layer : tiled.layers) {
    const GemmOp& op = layer.op;
    out += fmt::format("{} ({}): {}{}x{}x{} as {} MatMul{}\n", layer.layer, layer.op_type,
                       op.batch > 1 ? fmt::format("{} of ", op.batch) : "", op.m(), op.k(), op.n(),
                       layer.products, layer.products == 1 ? "" : "s");
    products += layer.products;
  }
  for (const std::string& kept : tiled.kept) out += fmt::format("kept {}\n", kept);
  for (const auto& [symbol, size] : tiled.bindings)
    out += fmt::format("symbol '{}' is {} now\n", symbol, size);
  for (const std::string& line : moved_weights(tiled.external, model, output)) out += line + "\n";
  return out + fmt::format("{}: {} layers as {} MatMuls\n", output, tiled.layers.size(), products);
}

}  // namespace

void TileCommand::add_to(Command& program) {
  sub_ = &program.add_command("tile", "Cut Gemm, MatMul and Conv into tile-sized MatMuls");
  sub_->footer =
      "In the written model each symbolic dimension has the size that --bind gives (default 1).\n"
      "Exit codes: 0 done, 2 input that can't be used.";
  model_.add_to(*sub_, true, "ONNX model file. The written model has its weights");
  sub_->add(
      {{.name = "-o,--output",
        .to = &output_,
        .about = "Model file to write",
        .kind = ValueKind::written_file,
        .required = true},
       {.name = "--tile",
        .to = &tile_,
        .about = "Most rows, reduction and columns of a MatMul",
        .metavar = "MxKxN",
        .shows_default = true},
       {.name = "--edge",
        .to = &edge_,
        .about =
            "If the tile doesn't divide a size: ragged (smaller tiles at the edge) or pad (zeros)",
        .choices = {"ragged", "pad"},
        .shows_default = true},
       {.name = "--conv",
        .to = &conv_,
        .about = "Keep convolutions (keep), or turn them into products (im2col)",
        .choices = {"keep", "im2col"},
        .shows_default = true},
       {.name = "--layers",
        .to = &layers_,
        .about = "Cut only nodes whose name matches",
        .metavar = "GLOB",
        .shows_default = true}});
}

int TileCommand::run() const {
  const auto elaborate = model_.to_elaborate_options();
  if (!elaborate) return report_errors(elaborate.errors());
  const Result<Dims> size = parse_product(tile_, "--tile");
  if (!size) return report_errors(size.errors());
  TileOptions options;
  options.tile = {(*size)[0], (*size)[1], (*size)[2]};
  options.pad = edge_ == "pad";
  options.convolutions = conv_ == "im2col";
  options.layers = layers_;
  const Result<TiledModel> tiled = tile_model(model_.model_path(), *elaborate, options);
  if (!tiled) return report_errors(tiled.errors());
  if (const int code = write_result(output_, tiled->bytes); code != kExitOk) return code;
  return output_ == "-" ? kExitOk
                        : print_wrapped(tiling_summary(*tiled, model_.model_path(), output_));
}

}  // namespace accsim::sim
