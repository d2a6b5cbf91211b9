#include "sim/validate/layer_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/parse_number.h"
#include "sim/onnx/writer.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

constexpr int64_t kOpset = 13, kIr = 8;
constexpr int64_t kMostLayers = 10'000;
constexpr double kMostSize = 0x1p31;

int64_t read_size(const hw::YamlEntry& e, int64_t least, SpecErrors& errors) {
  const auto v = read_number(e.value, e.key, errors);
  if (!v) return least;
  if (*v == std::floor(*v) && *v >= static_cast<double>(least) && *v < kMostSize)
    return static_cast<int64_t>(*v);
  errors.fail(e.value.at, fmt::format("{} is {}; it must be a whole number from {}", e.key,
                                      e.value.text, least));
  return least;
}

std::vector<ListedLayer> read_layers(const hw::YamlEntry& list, SpecErrors& errors);

bool read_bool(const hw::YamlEntry& e, SpecErrors& errors) {
  if (e.value.text != "true" && e.value.text != "false")
    errors.fail(e.value.at, e.key + " is true or false");
  return e.value.text == "true";
}

ListedLayer read_layer(const hw::YamlNode& node, SpecErrors& errors) {
  ListedLayer out;
  int kinds = 0;
  bool padded = false;
  const auto of_kind = [&](ListedLayer::Kind kind) {
    out.kind = kind;
    ++kinds;
  };
  const std::vector<std::string> keys = {"product", "conv",     "scale",  "kernel",   "stride",
                                         "pad",     "function", "repeat", "residual", "layers"};
  read_section(node, node.at, "a layer", keys, errors, [&](const hw::YamlEntry& e) {
    if (e.key == "product" || e.key == "conv") {
      of_kind(e.key == "conv" ? ListedLayer::Kind::conv : ListedLayer::Kind::product);
      out.outputs = read_size(e, 1, errors);
    }
    if (e.key == "scale" && read_bool(e, errors)) of_kind(ListedLayer::Kind::scale);
    if (e.key == "layers") {
      of_kind(ListedLayer::Kind::group);
      out.layers = read_layers(e, errors);
    }
    if (e.key == "kernel") out.kernel = read_size(e, 1, errors);
    if (e.key == "stride") out.stride = read_size(e, 1, errors);
    if (e.key == "pad") out.pad = read_size(e, 0, errors);
    padded |= e.key == "pad";
    if (e.key == "function") out.function = e.value.text;
    if (e.key == "repeat") out.repeat = read_size(e, 1, errors);
    if (e.key == "residual") out.residual = read_bool(e, errors);
  });
  if (!padded) out.pad = out.kernel / 2;
  if (kinds != 1) errors.fail(node.at, "a layer has one of product, conv, scale and layers");
  if (out.residual && out.kind != ListedLayer::Kind::group)
    errors.fail(node.at, "residual is of a group of layers");
  return out;
}

std::vector<ListedLayer> read_layers(const hw::YamlEntry& list, SpecErrors& errors) {
  std::vector<ListedLayer> out;
  if (list.value.kind != hw::YamlNode::Kind::sequence || list.value.items.empty())
    errors.fail(list.at, "layers must be a list of at least one");
  for (const hw::YamlNode& node : list.value.items) out.push_back(read_layer(node, errors));
  return out;
}

/// Writes layers one behind the other.
class ListWriter {
 public:
  ListWriter(ModelDef& model, std::string where) : graph_(model.graph), where_(std::move(where)) {}

  Status write_list(const LayerList& list) {
    at_ = {"input", list.input};
    graph_.inputs.push_back(stated_value(at_.name, DType::float32, at_.dims));
    if (const Status good = write_layers(list.layers, ""); !good) return good;
    graph_.outputs.push_back(stated_value(at_.name, DType::float32, at_.dims));
    return ok();
  }

 private:
  struct Made {
    std::string name;
    Dims dims;
  };

  Status write_layers(const std::vector<ListedLayer>& list, const std::string& prefix) {
    for (size_t i = 0; i < list.size(); ++i)
      for (int64_t r = 0; r < list[i].repeat; ++r) {
        const std::string label = list[i].repeat > 1 ? fmt::format("{}/{}.{}", prefix, i, r)
                                                     : fmt::format("{}/{}", prefix, i);
        if (const Status good = write_layer(list[i], label); !good) return good;
        if (static_cast<int64_t>(graph_.nodes.size()) > kMostLayers)
          return layer_error(label, fmt::format("more than {} layers", kMostLayers));
      }
    return ok();
  }

  Status write_layer(const ListedLayer& l, const std::string& label) {
    Status good = ok();
    switch (l.kind) {
      case ListedLayer::Kind::product:
        good = write_product(l, label);
        break;
      case ListedLayer::Kind::conv:
        good = write_conv(l, label);
        break;
      case ListedLayer::Kind::scale:
        good = write_scale(label);
        break;
      case ListedLayer::Kind::group:
        good = write_group(l, label);
        break;
    }
    if (good && !l.function.empty()) add_node(l.function, label + "/" + l.function, {}, at_.dims);
    return good;
  }

  Status write_product(const ListedLayer& l, const std::string& label) {
    if (at_.dims.size() != 2)
      return layer_error(
          label, "a product reads rows x reduction, this is " + accsim::to_string(at_.dims));
    const std::string w = add_weight(label, {at_.dims[1], l.outputs});
    add_node(op::kMatMul, label, {w}, {at_.dims[0], l.outputs});
    return ok();
  }

  Status write_conv(const ListedLayer& l, const std::string& label) {
    if (at_.dims.size() != 4)
      return layer_error(label, "a convolution reads batch x channels x height x width, this is " +
                                    accsim::to_string(at_.dims));
    const auto size = [&](int64_t length) {
      return (length + 2 * l.pad - l.kernel) / l.stride + 1;
    };
    const Dims out = {at_.dims[0], l.outputs, size(at_.dims[2]), size(at_.dims[3])};
    if (at_.dims[2] + 2 * l.pad < l.kernel || at_.dims[3] + 2 * l.pad < l.kernel)
      return layer_error(label, "the kernel is larger than the padded image");
    const std::string w = add_weight(label, {l.outputs, at_.dims[1], l.kernel, l.kernel});
    NodeDef& n = add_node(op::kConv, label, {w}, out);
    const auto attribute = [&](const char* name, std::vector<int64_t> values) {
      n.attributes.push_back({name, "", std::move(values)});
    };
    attribute("kernel_shape", {l.kernel, l.kernel});
    attribute("strides", {l.stride, l.stride});
    attribute("pads", {l.pad, l.pad, l.pad, l.pad});
    return ok();
  }

  Status write_scale(const std::string& label) {
    if (at_.dims.size() < 2)
      return layer_error(label, "a scale reads channels, this is " + accsim::to_string(at_.dims));
    std::vector<std::string> more;  // scale, shift, mean, variance
    for (const char* what : {"/scale", "/shift", "/mean", "/variance"})
      more.push_back(add_weight(label + what, {at_.dims[1]}));
    add_node(op::kBatchNormalization, label, more, at_.dims);
    return ok();
  }

  Status write_group(const ListedLayer& l, const std::string& label) {
    const Made before = at_;
    if (const Status good = write_layers(l.layers, label); !good) return good;
    if (!l.residual) return ok();
    Made shortcut = before;
    if (shortcut.dims != at_.dims) {
      const Made end = at_;
      if (end.dims.size() != 4 || before.dims.size() != 4 || end.dims[2] < 1)
        return layer_error(label, "only images have a shortcut to another shape");
      ListedLayer projection;
      projection.kind = ListedLayer::Kind::conv;
      projection.outputs = end.dims[1];
      projection.stride = (before.dims[2] + end.dims[2] - 1) / end.dims[2];
      at_ = before;
      if (const Status good = write_conv(projection, label + "/shortcut"); !good) return good;
      shortcut = at_;
      at_ = end;
      if (shortcut.dims != at_.dims)
        return layer_error(
            label, fmt::format("no stride of a shortcut makes {} of {}",
                               accsim::to_string(at_.dims), accsim::to_string(before.dims)));
    }
    add_node(op::kAdd, label + "/add", {shortcut.name}, at_.dims);
    return ok();
  }

  /// A node that reads the last result and `more`.
  NodeDef& add_node(std::string_view type, const std::string& label,
                    const std::vector<std::string>& more, const Dims& dims) {
    NodeDef out;
    out.name = label;
    out.op_type = type;
    out.inputs = {at_.name};
    out.inputs.insert(out.inputs.end(), more.begin(), more.end());
    out.outputs = {label + ":0"};
    at_ = {out.outputs.front(), dims};
    return graph_.nodes.emplace_back(std::move(out));
  }

  std::string add_weight(const std::string& label, Dims dims) {
    StoredTensor out;
    out.name = label + ":weight";
    out.dtype = DType::float32;
    out.dims = std::move(dims);
    out.payload.kind = Payload::Kind::external;
    out.payload.external_file = "weights.bin";
    graph_.initializers.push_back(std::move(out));
    return graph_.initializers.back().name;
  }

  Error layer_error(const std::string& label, const std::string& why) const {
    return {Errc::invalid, fmt::format("layer {}: {}", label, why), where_};
  }

  GraphDef& graph_;
  std::string where_;
  Made at_;  ///< the last result
};

}  // namespace

LayerList read_layer_list(const hw::YamlNode& node, SpecErrors& errors) {
  LayerList out;
  read_section(node, node.at, "a network", {"input", "layers"}, errors,
               [&](const hw::YamlEntry& e) {
                 if (e.key == "layers") out.layers = read_layers(e, errors);
                 if (e.key != "input") return;
                 if (auto sizes = sizes_from(e.value.text))
                   out.input = std::move(*sizes);
                 else
                   errors.fail(e.value.at, "input is sizes like 1x64x56x56");
               });
  if (out.input.empty() || out.layers.empty())
    errors.fail(node.at, "a network needs input and layers");
  return out;
}

Result<ModelDef> layer_model(const LayerList& list, const std::string& where) {
  ModelDef model = empty_model();
  model.file = where;
  if (const Status good = ListWriter(model, where).write_list(list); !good) return good.errors();
  return model;
}

ModelDef empty_model() {
  ModelDef model;
  model.ir_version = kIr;
  model.producer = "accsim";
  model.opsets[""] = kOpset;
  return model;
}

ModelDef product_model(const Dims& size) {
  ModelDef model = empty_model();
  const auto value = [](const char* name, int64_t rows, int64_t cols) {
    return stated_value(name, DType::float32, {rows, cols});
  };
  model.graph.inputs = {value("A", size[0], size[1]), value("B", size[1], size[2])};
  model.graph.outputs = {value("Y", size[0], size[2])};
  NodeDef node;
  node.name = "product";
  node.op_type = op::kMatMul;
  node.inputs = {"A", "B"};
  node.outputs = {"Y"};
  model.graph.nodes.push_back(std::move(node));
  return model;
}

std::optional<Dims> sizes_from(std::string_view text) {
  auto out = parse_numbers(text, 'x', 1);
  if (out && static_cast<double>(std::ranges::max(*out)) >= kMostSize) return std::nullopt;
  return out;
}

}  // namespace accsim::sim
