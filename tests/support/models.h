#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/graph/model_def.h"

namespace accsim::test {

using namespace sim;

/// Builds a ModelDef node by node.
class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13) {
    model_.file = "test.onnx";
    model_.ir_version = 8;
    model_.opsets[""] = opset;
    model_.graph.name = "test";
  }

  ModelBuilder& input(const std::string& name, const Dims& dims, DType dtype = DType::float32) {
    model_.graph.inputs.push_back(value(name, dims, dtype));
    return *this;
  }
  ModelBuilder& output(const std::string& name) {
    model_.graph.outputs.push_back({name, DType::undefined, std::nullopt, true});
    return *this;
  }
  ModelBuilder& weight(const std::string& name, const Dims& dims, DType dtype = DType::float32) {
    StoredTensor t;
    t.name = name;
    t.dtype = dtype;
    t.dims = dims;
    t.payload.kind = Payload::Kind::external;
    t.payload.external_file = "absent.bin";
    model_.graph.initializers.push_back(std::move(t));
    return *this;
  }
  /// A stored tensor of integers that shapes may depend on.
  ModelBuilder& constant(const std::string& name, const Dims& dims, std::vector<int64_t> values) {
    weight(name, dims, DType::int64);
    model_.graph.initializers.back().value = std::make_shared<ConstData>(std::move(values));
    return *this;
  }
  ModelBuilder& node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     std::vector<Attribute> attributes = {}) {
    NodeDef n;
    n.op_type = op;
    n.name = outputs.front();
    n.inputs = inputs;
    n.outputs = outputs;
    n.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(n));
    return *this;
  }

  static Attribute ints(const std::string& name, std::vector<int64_t> values) {
    return {name, "", std::move(values)};
  }

  const ModelDef& model() const { return model_; }

 private:
  static ValueDef value(const std::string& name, const Dims& dims, DType dtype) {
    ValueDef v{name, dtype, std::vector<DimDef>{}, true};
    for (int64_t d : dims) v.dims->push_back({d, ""});
    return v;
  }

  ModelDef model_;
};

}  // namespace accsim::test
