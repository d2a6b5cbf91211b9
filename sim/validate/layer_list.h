#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/graph/model_def.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {

/// One line of a list of layers, or a group of them.
struct ListedLayer {
  enum class Kind : uint8_t { product, conv, scale, group };
  Kind kind = Kind::product;
  int64_t outputs = 0;  ///< columns of a product, filters of a convolution
  int64_t kernel = 1, stride = 1, pad = 0;
  std::string function;             ///< pointwise operator behind it, "Relu"; "": none
  int64_t repeat = 1;               ///< so many one behind the other
  bool residual = false;            ///< of a group: what goes in is added to what comes out
  std::vector<ListedLayer> layers;  ///< of a group
};

/// A network as a list of layers, each of which reads what the one before it gives.
struct LayerList {
  Dims input;  ///< rows and reduction of a product; batch, channels, height, width
  std::vector<ListedLayer> layers;
};

/// Reads a section with `input` (e.g. 1x64x56x56) and `layers`, a list of
///   {product: N}            a fully connected layer with N outputs
///   {conv: N, kernel: 3}    N filters; stride 1, padded by half of the kernel unless said
///   {scale: true}           a factor and a shift a channel: a BatchNorm that no convolution takes
///   {layers: [...]}         a group
/// each with `function` (what is applied to each result) and `repeat`; groups with `residual`:
/// their input is added to their output, through a 1x1 convolution where the shapes differ.
LayerList read_layer_list(const hw::YamlNode& node, SpecErrors& errors);

/// The network as a model without weights: they are external data that nobody reads.
/// Errors: layers that don't fit one another, with `where`.
Result<ModelDef> layer_model(const LayerList& list, const std::string& where);

/// A model without nodes, of the opset that these lists use.
ModelDef empty_model();

/// One product of two operands that are both the model's inputs, [m,k] and [k,n].
ModelDef product_model(const Dims& size);

/// "64x2000x2000" as sizes of 1 or more; nothing when it isn't that.
std::optional<Dims> sizes_from(std::string_view text);

}  // namespace accsim::sim
