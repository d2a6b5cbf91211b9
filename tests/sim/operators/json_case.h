#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {

/// One node with known inputs and the outputs that an independent implementation computed, as
/// tests/sim/operators/make_numpy_cases.py writes them. Tensors are {dtype, dims, data}, dtype as
/// ONNX numbers it, with NaN as null and infinities as "inf" and "-inf"; attributes are {"i": 3}
/// and so on; an absent input is null.
class JsonCase {
 public:
  explicit JsonCase(const nlohmann::json& json)
      : json_(json), node_(json.at("op").get<std::string>(), json.at("opset").get<int64_t>()) {
    for (const auto& input : json.at("inputs")) add_input(input);
    for (const auto& [name, a] : json.at("attrs").items()) add_attribute(name, a);
    node_.outs(json.at("outputs").size());
  }

  /// What is wrong with our shapes, types and values; "" when nothing. Values that aren't folded at
  /// all are reported only when `must_fold`.
  std::string complaint(bool must_fold) {
    if (const Status s = node_.infer(); !s) return s.errors().front().text();
    if (const Status s = node_.fold(); !s) return s.errors().front().text();
    std::string text;
    for (size_t i = 0; i < json_.at("outputs").size(); ++i) {
      const auto& want = json_.at("outputs")[i];
      if (want.is_null()) continue;
      if (node_.type(i) != type_of(want)) text += fmt::format("type {} ", name(node_.type(i)));
      if (node_.out(i) != want.at("dims").get<Dims>())
        text += fmt::format("shape {} ", to_string(node_.out(i)));
      const ConstData* have = node_.value(i);
      if (have == nullptr)
        text += must_fold ? "not folded " : "";
      else
        text += value_complaint(*have, want);
    }
    return text;
  }
  bool folds() const { return node_.value() != nullptr; }
  SingleNode& node() { return node_; }

 private:
  static DType type_of(const nlohmann::json& tensor) {
    return *dtype_from_onnx(tensor.at("dtype").get<int64_t>());
  }

  static double real(const nlohmann::json& v) {
    if (v.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!v.is_string()) return v.get<double>();
    const double inf = std::numeric_limits<double>::infinity();
    return v.get<std::string>() == "inf" ? inf : -inf;
  }

  static ConstPtr data_of(const nlohmann::json& tensor) {
    if (!is_float(type_of(tensor)))
      return std::make_shared<ConstData>(tensor.at("data").get<std::vector<int64_t>>());
    std::vector<double> reals;
    for (const auto& v : tensor.at("data")) reals.push_back(real(v));
    return std::make_shared<ConstData>(std::move(reals));
  }

  void add_input(const nlohmann::json& tensor) {
    if (tensor.is_null())
      node_.absent();
    else
      node_.constant(tensor.at("dims").get<Dims>(), type_of(tensor), data_of(tensor));
  }

  void add_attribute(const std::string& name, const nlohmann::json& a) {
    if (a.contains("i")) node_.attr(name, a.at("i").get<int64_t>());
    if (a.contains("f")) node_.attr(name, a.at("f").get<double>());
    if (a.contains("s")) node_.attr(name, a.at("s").get<std::string>());
    if (a.contains("is")) node_.attr(name, a.at("is").get<std::vector<int64_t>>());
    if (a.contains("fs")) node_.attr(name, a.at("fs").get<std::vector<double>>());
    if (a.contains("t")) {
      auto stored = std::make_shared<StoredTensor>();
      stored->dtype = type_of(a.at("t"));
      stored->dims = a.at("t").at("dims").get<Dims>();
      stored->value = data_of(a.at("t"));
      node_.attr(name, std::shared_ptr<const StoredTensor>(std::move(stored)));
    }
  }

  /// Integers must be equal; floats may differ by what the last bits of a function do.
  static std::string value_complaint(const ConstData& have, const nlohmann::json& want) {
    if (have.size() != want.at("data").size())
      return fmt::format("{} values instead of {} ", have.size(), want.at("data").size());
    const DType type = type_of(want);
    const double step = type == DType::float16    ? 0x1p-10
                        : type == DType::bfloat16 ? 0x1p-7
                                                  : 0x1p-22;
    for (size_t n = 0; n < have.size(); ++n) {
      const auto& w = want.at("data")[n];
      const bool same = have.is_integer() ? have.integers()[n] == w.get<int64_t>()
                                          : close(have.reals()[n], real(w), step);
      if (!same) return fmt::format("value {} is {}, not {} ", n, have.as_double(n), w.dump());
    }
    return "";
  }
  static bool close(double a, double b, double step) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= step * std::max({1e-3, std::abs(a), std::abs(b)});
  }

  nlohmann::json json_;
  SingleNode node_;
};

}  // namespace accsim::sim
