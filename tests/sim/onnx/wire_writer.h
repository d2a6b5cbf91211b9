#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace accsim::test {

using namespace sim;

/// Writes protobuf messages field by field, as a second opinion of what the reader decodes.
class Message {
 public:
  Message& number(int field, uint64_t value) { return key(field, 0).varint(value); }
  Message& text(int field, std::string_view value) {
    key(field, 2).varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& inner) { return text(field, inner.bytes_); }
  Message& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Message& key(int field, int wire_type) {
    return varint(static_cast<uint64_t>(field) * 8 + static_cast<uint64_t>(wire_type));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// A graph of one Relu from "x" to "y".
inline Message relu_graph() {
  Message node;
  node.text(1, "x").text(2, "y").text(3, "act").text(4, "Relu");
  Message dims;
  dims.message(1, Message().number(1, 2)).message(1, Message().text(2, "n"));
  const auto value = [&](std::string_view name) {
    Message tensor_type;
    tensor_type.number(1, 1).message(2, dims);
    return Message().text(1, name).message(2, Message().message(1, tensor_type));
  };
  return Message().message(1, node).message(11, value("x")).message(12, value("y"));
}

inline Message model_of(const Message& graph, uint64_t opset = 17) {
  return Message().number(1, 8).message(7, graph).message(8, Message().number(2, opset));
}

}  // namespace accsim::test
