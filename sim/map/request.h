#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hw/config/type_modes.h"
#include "hw/program/program.h"
#include "sim/map/units/unit_work.h"
#include "sim/work/pitch.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Which tensor of a network's layer an operand of an op is.
struct OperandPort {
  enum class Side : uint8_t {
    own,       ///< of nobody else: parameters, tables
    input,     ///< of the layer
    output,    ///< of the layer
    internal,  ///< from one op of the layer's work to the next
    region,    ///< a region of the shared buffer that programs of all layers stage in
  };
  Side side = Side::own;
  int index = 0;  ///< among the inputs, outputs, or internal values of the layer, or regions
  friend bool operator==(const OperandPort&, const OperandPort&) = default;
};
/// Of a port that is internal to a layer.
constexpr OperandPort internal_port(ValuePort port) {
  return {OperandPort::Side::internal, port.internal_index()};
}

/// Where an operand of an op lies when the op runs.
struct Place {
  std::string name;
  hw::MemoryId memory = hw::MemoryId::dram;
  bool constant = false;  ///< laid out off line, in the order the program reads it
  OperandPort port{};
  Pitch pitch{};  ///< in bytes, of one that is a part of another tensor
};

/// An input or output of a layer as its ops see it.
struct Operand {
  Place place;
  int64_t element_bytes = 1;  ///< of the tensor as it lies in memory
};

/// Which of its layer's operands those of an op are: by the op's port, the port of the layer and
/// the byte of its tensor that the op's begins at. None: the same ports, from their beginnings.
struct LayerPorts {
  struct Port {
    int index = 0;
    int64_t offset = 0;
  };
  std::vector<Port> inputs, outputs;

  /// The layer's port that the op's is, and where the op's begins in it.
  OperandPort layer_port(const OperandPort& port) const;
  int64_t offset(const OperandPort& port) const;

 private:
  const Port* find_port(const OperandPort& port) const;
};

/// A WorkItem with the places of its ports.
struct OpRequest {
  WorkItem item;
  std::vector<Operand> inputs, outputs;    ///< by port
  bool relu = false;                       ///< a clip folded into the post unit
  ValuePort residual = ValuePort::none();  ///< input that the post unit adds
  bool clips_sum = false;                  ///< and a clip behind that
  bool table = false;                      ///< the post unit looks its results up in a table
  int64_t room = 0;                        ///< of a product: GemmProblem::room
  int mode = hw::kOwnTypes;  ///< of a product: which of the machine's modes it runs in
  std::optional<UnitWork> unit = std::nullopt;  ///< of a vector op on a machine that has units
  LayerPorts ports{};                           ///< of no consequence for how the op is mapped
};

/// All that the mapping of a request depends on, as bytes to compare: equal for equal requests.
std::string key_of(const OpRequest& request);

/// The operand at a port; what is internal to a layer goes through DRAM in the activation type.
Operand operand_of_port(const std::vector<Operand>& side, ValuePort port, const hw::HwConfig& hw);

}  // namespace accsim::sim
