#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hw/config/type_modes.h"
#include "sim/graph/graph.h"
#include "sim/lower/lower.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// What a product's operands are in the file; DType::undefined says nothing: it is float32 (or
/// float64), whatever the machine computes in.
struct AskedTypes {
  /// int8 or int16 where the tensor is quantised, a float type of 16 or 8 bits where it has it.
  DType activation = DType::undefined;
  /// In which the file stores the weights (4 bits: int4, whatever they are packed in), however they
  /// are changed off line; `computed`: there are none, the network computes both operands.
  DType weight = DType::undefined;
  bool computed = false;
  bool packs = true;  ///< weights of 4 bits may lie packed: not those of grouped convolutions
  int64_t macs = 0;
};

/// A type of the file as machines have it: uint8 is int8, what is packed by 2 or 4 bits int4. What
/// says nothing (float32) is DType::undefined.
DType machine_type(DType stored);

/// What the products of a network ask for. Keeps references to both.
class OperandTypes {
 public:
  OperandTypes(const Graph& graph, const Lowered& lowered);

  /// By layer, those of its products in their order.
  std::vector<std::vector<AskedTypes>> of_layers() const;
  /// Of one product whose operands are these tensors; kNoTensor: internal to the layer.
  AskedTypes of_product(const GemmOp& op, TensorId a, TensorId b) const;

 private:
  DType activation_type(TensorId id) const;
  /// What the file stores a constant as: through what is done to it off line, a cut into parts too,
  /// as long as the first operand has all its elements.
  DType stored_type(TensorId id) const;

  const Graph& graph_;
  const Lowered& lowered_;
  /// What a node makes is stored as, by its first input where that is all of it.
  DType made_from(const Node& node, const Tensor& made) const;

  std::vector<DType> stored_;  ///< by tensor; of parameters the elements that are packed
};

/// The mode that a product runs in.
struct ProductMode {
  int mode = hw::kOwnTypes;  ///< of ModeChoice::machine
  std::string types;         ///< "int8 x int4"
  std::string note;          ///< why it isn't the one that is asked for; ""
};

/// In which of a machine's modes a network's products run.
///
/// All activations of the network lie in one type: the one that most of its MACs ask for. Who asks
/// for none takes the machine's own (types.activation), as on a machine of one mode. A type that no
/// mode has is replaced: by another of as many bits and of the same kind, by the next wider float
/// type (of floats), by the machine's own.
///
/// With that type given, a product's weights choose the mode: the stored type, if a mode has it;
/// else one of the same kind and bits, else the narrowest wider one (they are widened off line,
/// and take its bytes), else the widest there is (they are rounded to it). Weights that say nothing
/// take the machine's own type with its own activations, else the activations' type; so do
/// products of two computed tensors.
class ModeChoice {
 public:
  ModeChoice(const std::vector<std::vector<AskedTypes>>& asked, const hw::HwConfig& hw);

  /// As all that isn't a product sees it: the file's one where that has no modes.
  const hw::HwConfig& machine() const { return machine_; }
  /// Of one product.
  ProductMode mode_of(const AskedTypes& asked) const;
  /// Sets the modes of a layer's products, which are in the order of `asked`.
  void set_modes(const std::vector<AskedTypes>& asked, std::vector<OpRequest>& work) const;
  /// As reports say them, of a layer: each once. "" on a machine of one mode.
  std::string types_text(const std::vector<AskedTypes>& asked) const;
  std::string note_text(const std::vector<AskedTypes>& asked) const;

 private:
  struct Weights {
    int mode;
    std::string note;
  };
  Weights weights_of(const AskedTypes& asked) const;

  bool several_;  ///< modes
  hw::HwConfig machine_;
  DType own_;                 ///< the file's activations
  double share_ = 0;          ///< of the MACs that ask for the activations that were chosen
  std::vector<DType> known_;  ///< activations that the machine has, its own first
};

}  // namespace accsim::sim
