#include "sim/onnx/reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "sim/onnx/weights.h"
#include "tests/sim/onnx/wire_writer.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

using test::Message;
using test::model_of;
using test::relu_graph;
using test::write_temp;

Error error_of(std::string_view bytes) {
  const Result<ModelDef> model = read_model(write_temp("bad.onnx", bytes));
  return model.ok() ? Error{} : model.errors().front();
}

Result<ModelDef> read_with_initializer(const Message& tensor) {
  return read_model(write_temp("init.onnx", model_of(relu_graph().message(5, tensor)).bytes()));
}

std::string packed(const std::vector<int64_t>& values) {
  Message out;
  for (int64_t value : values) out.varint(static_cast<uint64_t>(value));
  return out.bytes();
}

TEST(Reader, WhatDoesItSeeInAOneNodeModel) {
  const Result<ModelDef> model =
      read_model(write_temp("relu.onnx", model_of(relu_graph()).bytes()));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  EXPECT_EQ(8, model->ir_version);
  EXPECT_EQ(17, model->opsets.at(""));
  ASSERT_EQ(1u, model->graph.nodes.size());
  EXPECT_EQ("act", model->graph.nodes[0].name);
  EXPECT_EQ("Relu", model->graph.nodes[0].op_type);
  EXPECT_EQ(std::vector<std::string>{"x"}, model->graph.nodes[0].inputs);
  ASSERT_TRUE(model->graph.inputs[0].dims);
  EXPECT_EQ(2, (*model->graph.inputs[0].dims)[0].value);
  EXPECT_EQ("n", (*model->graph.inputs[0].dims)[1].symbol);
  EXPECT_EQ(-1, (*model->graph.inputs[0].dims)[1].value);
}

/// A TypeProto that holds another one in field `kind`.
Message holding(int kind, const Message& type) {
  return Message().message(kind, Message().message(1, type));
}

/// The graph of one Relu, whose input x is of another type.
ValueDef input_of_type(const Message& type) {
  Message graph;
  graph.message(11, Message().text(1, "x").message(2, type));
  const Result<ModelDef> model = read_model(write_temp("typed.onnx", model_of(graph).bytes()));
  EXPECT_TRUE(model.ok());
  return model ? model->graph.inputs.at(0) : ValueDef();
}

TEST(Reader, AreTypesOfOptionalsAndSequencesThoseOfTheTensorsInThem) {
  constexpr int kTensor = 1, kSequence = 4, kMap = 5, kOptional = 9;
  Message dims;
  dims.message(1, Message().number(1, 7));
  const Message tensor =
      Message().message(kTensor, Message().number(1, 6).message(2, dims));  // int32
  struct Kind {
    Message type;
    bool tensor, sequence, optional;
  };
  const Message sequence = holding(kSequence, tensor);
  for (const Kind& kind : {Kind{tensor, true, false, false}, Kind{sequence, false, true, false},
                           Kind{holding(kOptional, tensor), true, false, true},
                           Kind{holding(kOptional, sequence), false, true, true}}) {
    const ValueDef x = input_of_type(kind.type);
    EXPECT_EQ(x.is_tensor, kind.tensor);
    EXPECT_EQ(x.is_sequence, kind.sequence);
    EXPECT_EQ(x.is_optional, kind.optional);
    EXPECT_EQ(x.dtype, DType::int32);
    ASSERT_TRUE(x.dims);
    EXPECT_EQ(x.dims->at(0).value, 7);
  }
  const Message map = Message().message(kMap, Message());
  for (const Message& other :
       {map, holding(kSequence, map), holding(kOptional, map), holding(kSequence, sequence),
        holding(kOptional, holding(kOptional, tensor)),
        holding(kSequence, holding(kOptional, tensor))}) {
    const ValueDef x = input_of_type(other);
    EXPECT_FALSE(x.is_tensor || x.is_sequence || x.is_optional);
  }
}

TEST(Reader, IsTheModuleThatANodesNotesSay) {
  Message node;
  node.text(1, "x").text(2, "y").text(3, "relu_1").text(4, "Relu");
  const auto note = [&](std::string_view key, std::string_view value) {
    node.message(9, Message().text(1, key).text(2, value));
  };
  note("pkg.torch.onnx.fx_node", "%relu_1 : ...");
  note("pkg.torch.onnx.name_scopes", "['', 'features', 'features.1', 'relu_1']");
  const Result<ModelDef> model =
      read_model(write_temp("scopes.onnx", model_of(Message().message(1, node)).bytes()));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  EXPECT_EQ("relu_1", model->graph.nodes[0].name);
  EXPECT_EQ("features.1", model->graph.nodes[0].module);
}

TEST(Reader, AreElementsTheSameRawTypedPackedAndUnpacked) {
  const std::vector<int64_t> expected{-1, 64, 300};
  std::string raw;
  for (int64_t value : expected)
    for (int i = 0; i < 8; ++i) raw += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  const auto start = [] { return Message().text(8, "shape").number(1, 3).number(2, 7); };
  const std::vector<Message> forms = {
      start().text(9, raw), start().text(7, packed({-1, 64, 300})),
      start().number(7, static_cast<uint64_t>(int64_t{-1})).number(7, 64).number(7, 300)};
  for (const Message& form : forms) {
    const Result<ModelDef> model = read_with_initializer(form);
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    ASSERT_TRUE(model->graph.initializers[0].value);
    EXPECT_EQ(expected, model->graph.initializers[0].value->integers());
  }
}

/// A SparseTensorProto "s" of `dims` from a TensorProto of values and one of indices.
Message sparse(const Message& values, const Message& indices, const std::vector<int64_t>& dims) {
  Message out = Message().message(1, values).message(2, indices);
  for (const int64_t dim : dims) out.number(3, static_cast<uint64_t>(dim));
  return out;
}

Result<ModelDef> read_with_sparse(const Message& sparse) {
  return read_model(write_temp("sparse.onnx", model_of(relu_graph().message(15, sparse)).bytes()));
}

/// Two values of float32, 1 and 2.
Message one_and_two() {
  return Message().text(8, "s").number(1, 2).number(2, 1).text(
      9, std::string("\0\0\x80\x3F\0\0\0\x40", 8));
}

/// A list of int64, or rows of two.
Message index_list(const std::vector<int64_t>& values, bool in_rows) {
  Message out = Message().number(2, 7).text(7, packed(values));
  out.number(1, values.size() / (in_rows ? 2 : 1));
  if (in_rows) out.number(1, 2);
  return out;
}

std::vector<double> elements_of(const StoredTensor& stored) {
  std::vector<double> out;
  for (size_t i = 0; stored.value && i < stored.value->size(); ++i)
    out.push_back(stored.value->as_double(i));
  return out;
}

TEST(Reader, AreSparseInitializersZerosAndTheirValues) {
  const std::vector<double> expected{0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0};
  for (const Message& indices : {index_list({2, 7}, false), index_list({0, 2, 1, 3}, true)}) {
    const Result<ModelDef> model = read_with_sparse(sparse(one_and_two(), indices, {3, 4}));
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    ASSERT_EQ(model->graph.initializers.size(), 1U);
    const StoredTensor& stored = model->graph.initializers[0];
    EXPECT_EQ(stored.name, "s");
    EXPECT_EQ(stored.dtype, DType::float32);
    EXPECT_EQ(stored.dims, (Dims{3, 4}));
    EXPECT_TRUE(stored.sparse);
    EXPECT_EQ(elements_of(stored), expected);
  }
}

TEST(Reader, AreSparseTensorsOfAnyTypeAndIndexRead) {
  const auto elements = [](int type, const std::string& raw, const Message& indices) {
    const Message values = Message().text(8, "s").number(1, 2).number(2, type).text(9, raw);
    const Result<ModelDef> model = read_with_sparse(sparse(values, indices, {5}));
    return model.ok() ? elements_of(model->graph.initializers.at(0)) : std::vector<double>{};
  };
  const std::vector<double> expected{0, 1, 0, 0, -2};
  const Message at = index_list({1, 4}, false);
  EXPECT_EQ(elements(3, std::string("\x01\xFE", 2), at), expected) << "int8";
  EXPECT_EQ(elements(10, std::string("\x00\x3C\x00\xC0", 4), at), expected) << "float16";
  EXPECT_EQ(elements(22, std::string("\xE1", 1), at), expected) << "int4";
  EXPECT_EQ(elements(25, std::string("\x09", 1), at), (std::vector<double>{0, 1, 0, 0, 2}))
      << "uint2";
  // -2 is 0x30 and 1 is 0x08: twelve bits from the low end.
  EXPECT_EQ(elements(27, std::string("\x08\x0C", 2), at), expected) << "float6e2m3";
  const Message int32 = Message().number(1, 2).number(2, 6).text(5, packed({1, 4}));
  const Message int16 =
      Message().number(1, 2).number(2, 5).text(9, std::string("\x01\x00\x04\x00", 4));
  EXPECT_EQ(elements(3, std::string("\x01\xFE", 2), int32), expected);
  EXPECT_EQ(elements(3, std::string("\x01\xFE", 2), int16), expected);

  const Message none = Message().text(8, "s").number(1, 0).number(2, 1);
  for (const Message& empty :
       {Message().message(1, none).number(3, 2), sparse(none, index_list({}, false), {2})}) {
    const Result<ModelDef> model = read_with_sparse(empty);
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    EXPECT_EQ(elements_of(model->graph.initializers[0]), (std::vector<double>{0, 0}));
  }
}

/// 100 x 100 is more than import keeps: its elements are made when they are asked for.
TEST(Reader, AreLargeSparseTensorsReadOnDemand) {
  const Result<ModelDef> model =
      read_with_sparse(sparse(one_and_two(), index_list({0, 2, 99, 98}, true), {100, 100}));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  const StoredTensor& stored = model->graph.initializers[0];
  EXPECT_FALSE(stored.value);
  const auto raw = raw_elements(model->file, stored.dtype, stored.dims, stored.payload);
  ASSERT_TRUE(raw.has_value());
  std::vector<float> got(10'000), expected(10'000, 0);
  ASSERT_EQ(raw->size, got.size() * sizeof(float));
  std::memcpy(got.data(), raw->data, raw->size);
  expected[2] = 1;
  expected[9998] = 2;
  EXPECT_EQ(got, expected);

  const Result<ModelDef> huge =
      read_with_sparse(sparse(one_and_two(), index_list({0, 2, 1, 3}, true), {1 << 30, 1 << 20}));
  ASSERT_TRUE(huge.ok()) << huge.errors().front().text();
  const StoredTensor& all = huge->graph.initializers[0];
  EXPECT_FALSE(raw_elements(huge->file, all.dtype, all.dims, all.payload)) << "4 PiB";
}

TEST(Reader, AreSparseTensorsThatContradictThemselvesRefused) {
  const auto refusal = [](const Message& tensor) {
    const Result<ModelDef> model = read_with_sparse(tensor);
    return model.ok() ? std::string() : model.errors().front().text();
  };
  const auto says = [&](const Message& tensor, const char* part) {
    const std::string text = refusal(tensor);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const Message values = one_and_two(), good = index_list({2, 7}, false);
  says(sparse(values, good, {3, -4}), "has the dim -4");
  says(sparse(values, good, {1}), "has 2 values where its shape 1 has 1 elements");
  says(sparse(values, index_list({2, 12}, false), {3, 4}), "an index outside of its shape 3x4");
  says(sparse(values, index_list({0, 4, 1, 3}, true), {3, 4}), "an index outside of its shape 3x4");
  says(sparse(values, index_list({-1, 3}, false), {3, 4}), "an index outside of its shape 3x4");
  says(sparse(values, index_list({1, 2, 3}, false), {3, 4}), "indices of shape 3; 2 or 2x2 goes");
  says(sparse(values, values, {3, 4}), "indices of type float32; they must be int64");
  says(Message().message(1, values).number(3, 4), "indices of type undefined");
  says(Message().message(2, good).number(3, 4), "no values");
  const Message square = Message().text(8, "s").number(1, 1).number(1, 2).number(2, 1).text(
      9, std::string("\0\0\x80\x3F\0\0\0\x40", 8));
  says(sparse(square, good, {3, 4}), "values of shape 1x2; they must be a list");
}

TEST(Reader, AreNarrowTypesDecoded) {
  struct Case {
    int dtype;
    std::string raw;
    std::vector<double> expected;
  };
  const std::vector<Case> cases = {
      {10, std::string("\x00\x3C\x00\xC0", 4), {1.0, -2.0}},  // float16
      {16, std::string("\x80\x3F\x00\xC0", 4), {1.0, -2.0}},  // bfloat16
      {17, std::string("\x38\xC0", 2), {1.0, -2.0}},          // float8e4m3fn
      {19, std::string("\x3C\xC0", 2), {1.0, -2.0}},          // float8e5m2
      {18, std::string("\x40\xC8", 2), {1.0, -2.0}},          // float8e4m3fnuz
      {20, std::string("\x40\xC4", 2), {1.0, -2.0}},          // float8e5m2fnuz
      {24, std::string("\x7F\x7D", 2), {1.0, 0.25}},          // float8e8m0
      {23, std::string("\xC2", 1), {1.0, -2.0}},              // float4e2m1, low nibble first
      {27, std::string("\x08\x0C", 2), {1.0, -2.0}},          // float6e2m3, across bytes
      {28, std::string("\x0C\x0C", 2), {1.0, -2.0}},          // float6e3m2, across bytes
      {3, std::string("\xFF\x7F", 2), {-1.0, 127.0}},         // int8
      {22, std::string("\x7F", 1), {-1.0, 7.0}},              // int4, low nibble first
      {21, std::string("\xF1", 1), {1.0, 15.0}},              // uint4
      {9, std::string("\x00\x01", 2), {0.0, 1.0}},            // bool
  };
  for (const Case& c : cases) {
    const Result<ModelDef> model =
        read_with_initializer(Message()
                                  .text(8, "t")
                                  .number(1, 2)
                                  .number(2, static_cast<uint64_t>(c.dtype))
                                  .text(9, c.raw));
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    const ConstPtr value = model->graph.initializers[0].value;
    ASSERT_TRUE(value) << "element type " << c.dtype;
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(c.expected[i], value->as_double(i)) << "element type " << c.dtype;
  }
}

TEST(Reader, AreWeightsLeftWhereTheyAre) {
  const std::string raw(4 * 1000, '\1');
  const Result<ModelDef> model =
      read_with_initializer(Message().text(8, "w").number(1, 1000).number(2, 1).text(9, raw));
  ASSERT_TRUE(model.ok());
  const StoredTensor& weights = model->graph.initializers[0];
  EXPECT_FALSE(weights.value);
  EXPECT_EQ(Payload::Kind::raw, weights.payload.kind);
  EXPECT_EQ(raw.size(), weights.payload.size);
  EXPECT_EQ(1, weights.payload.data[999]);
}

TEST(Reader, AreThePagesOfLargeWeightsNeverTouched) {
  // A sparse file: 3 GiB of weights that take no disk space, beyond what protobuf can parse.
  const uint64_t payload = uint64_t{3} << 30;
  Message tensor;
  tensor.text(8, "w").number(1, payload).number(2, 3).key(9, 2).varint(payload);
  const std::string head_of_tensor = tensor.bytes();
  const Message small = relu_graph();
  Message head;
  Message graph_tail;
  graph_tail.key(5, 2).varint(head_of_tensor.size() + payload);
  const uint64_t graph_size =
      small.bytes().size() + graph_tail.bytes().size() + head_of_tensor.size() + payload;
  head.number(1, 8).message(8, Message().number(2, 17)).key(7, 2).varint(graph_size);
  const std::string start = head.bytes() + small.bytes() + graph_tail.bytes() + head_of_tensor;
  const std::string path = write_temp("huge.onnx", start);
  const auto total = static_cast<off_t>(start.size() + payload);
  if (truncate(path.c_str(), total) != 0) GTEST_SKIP() << "no sparse files here";
  const Result<ModelDef> model = read_model(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  const Payload& stored = model->graph.initializers[0].payload;
  ASSERT_EQ(payload, stored.size);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t middle = (std::bit_cast<uintptr_t>(stored.data) + payload / 2) & ~(page - 1);
  unsigned char resident = 1;
  ASSERT_EQ(0, mincore(std::bit_cast<void*>(middle), page, &resident));
  EXPECT_EQ(0, resident & 1);
}

TEST(Reader, IsExternalDataOnlyNotedAndSmallIntegersRead) {
  const auto entry = [](std::string_view key, std::string_view value) {
    return Message().text(1, key).text(2, value);
  };
  const std::string bytes = "xxxx" + std::string("\x05\0\0\0\0\0\0\0", 8);
  write_temp("outside.bin", bytes);  // beside the model
  const auto tensor = [&](std::string_view file) {
    return Message()
        .text(8, "shape")
        .number(1, 1)
        .number(2, 7)
        .number(14, 1)
        .message(13, entry("location", file))
        .message(13, entry("offset", "4"))
        .message(13, entry("length", "8"));
  };
  Result<ModelDef> model = read_with_initializer(tensor("outside.bin"));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  const StoredTensor& stored = model->graph.initializers[0];
  EXPECT_EQ("outside.bin", stored.payload.external_file);
  EXPECT_EQ(4, stored.payload.external_offset);
  EXPECT_EQ(8u, stored.payload.size);
  ASSERT_TRUE(stored.value);
  EXPECT_EQ(std::vector<int64_t>{5}, stored.value->integers());
  for (const char* gone : {"missing.bin", "../outside.bin", "/etc/hostname"}) {
    model = read_with_initializer(tensor(gone));
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    EXPECT_FALSE(model->graph.initializers[0].value) << gone;
  }
}

TEST(Reader, AreSmallFloatsOfAnExternalFileKept) {
  const auto entry = [](std::string_view key, std::string_view value) {
    return Message().text(1, key).text(2, value);
  };
  // 1, 1, 2, 0.5: scales of a Resize.
  const std::string scales("\0\0\x80\x3f\0\0\x80\x3f\0\0\0\x40\0\0\0\x3f", 16);
  write_temp("outside.bin", scales + std::string(size_t{4} * 65, '\0'));
  const auto tensor = [&](uint64_t count, std::string_view offset) {
    return Message()
        .text(8, "scales")
        .number(1, count)
        .number(2, 1)
        .number(14, 1)
        .message(13, entry("location", "outside.bin"))
        .message(13, entry("offset", offset));
  };
  Result<ModelDef> model = read_with_initializer(tensor(4, "0"));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  ASSERT_TRUE(model->graph.initializers[0].value);
  EXPECT_EQ(model->graph.initializers[0].value->reals(), (std::vector<double>{1, 1, 2, 0.5}));
  model = read_with_initializer(tensor(65, "16"));
  ASSERT_TRUE(model.ok()) << model.errors().front().text();
  EXPECT_FALSE(model->graph.initializers[0].value) << "more than kMostOthers: weights";
}

TEST(Reader, IsAnExternalLengthThatIsNotTheShapesRefused) {
  const auto tensor = [](std::string_view length) {
    return Message()
        .text(8, "w")
        .number(1, 3)
        .number(2, 1)
        .number(14, 1)
        .message(13, Message().text(1, "location").text(2, "outside.bin"))
        .message(13, Message().text(1, "length").text(2, length));
  };
  EXPECT_TRUE(read_with_initializer(tensor("12")).ok());
  for (const char* length : {"11", "13", "4611686018427387904"}) {
    const Result<ModelDef> model = read_with_initializer(tensor(length));
    ASSERT_FALSE(model.ok()) << length;
    EXPECT_NE(std::string::npos, model.errors().front().message.find(
                                     "tensor 'w' (float32 3) has an external length "
                                     "of " +
                                     std::string(length) + " bytes where its shape needs 12"))
        << model.errors().front().message;
  }
}

Result<ModelDef> read_bytes(std::string_view bytes, const std::string& name) {
  return read_model_bytes(std::make_shared<const std::string>(bytes), name);
}

/// What is wrong with bytes is what is wrong with a file of them.
TEST(Reader, AreBytesReadAsAFileOfThemIs) {
  const std::string good = model_of(relu_graph()).bytes();
  for (const std::string& bytes :
       {std::string(), std::string("array:\n  rows: 64\n"), std::string("\x89PNG\r\n\x1A\n...."),
        Message().number(1, 8).bytes(), good.substr(0, good.size() / 2),
        Message().number(1, 8).number(7, 1).bytes()}) {
    const Result<ModelDef> read = read_bytes(bytes, "an upload");
    ASSERT_FALSE(read.ok());
    const Error expected = error_of(bytes);
    EXPECT_EQ(read.errors().front().code, expected.code);
    EXPECT_EQ(read.errors().front().message, expected.message);
    EXPECT_EQ(read.errors().front().where, "an upload");
  }
}

/// The ModelDef alone holds them when the caller's are gone.
TEST(Reader, AreBytesKeptAsLongAsTheModel) {
  const std::string elements(size_t{4} * 100, 'e');
  const Message weights = Message().text(8, "w").number(1, 100).number(2, 1).text(9, elements);
  const std::string bytes = model_of(relu_graph().message(5, weights)).bytes();
  auto given = std::make_shared<const std::string>(bytes);
  const std::weak_ptr<const std::string> watched = given;
  {
    const Result<ModelDef> model = read_model_bytes(std::move(given), "m");
    ASSERT_TRUE(model.ok()) << model.errors().front().text();
    EXPECT_EQ(model->file, "m");
    EXPECT_FALSE(watched.expired());
    const StoredTensor& w = model->graph.initializers[0];
    const auto raw = raw_elements(model->file, w.dtype, w.dims, w.payload);
    ASSERT_TRUE(raw);
    EXPECT_EQ(std::string(raw->data, raw->data + raw->size), elements);
  }
  EXPECT_TRUE(watched.expired());
}

/// A process in a folder, and out of it again.
class InFolder {
 public:
  explicit InFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
};

/// "planted.bin" lies where the process runs, and where the name that the bytes go by would lie. A
/// file of the same bytes there has its elements from it.
TEST(Reader, IsAFileBesideBytesNeverOpened) {
  const test::TempFolder folder;
  std::ofstream(folder.path("planted.bin")) << std::string(4096, '\0');
  const InFolder there(folder.path());
  const auto outside = [](const char* name, uint64_t count, uint64_t type) {
    return Message().text(8, name).number(1, count).number(2, type).number(14, 1).message(
        13, Message().text(1, "location").text(2, "planted.bin"));
  };
  const Message inside = Message().text(8, "").number(1, 1).number(2, 7).text(7, packed({1}));
  for (const auto& [what, graph] : {
           std::pair("integers", relu_graph().message(5, outside("w", 2, 7))),
           std::pair("floats", relu_graph().message(5, outside("w", 8, 1))),
           std::pair("weights", relu_graph().message(5, outside("w", 1000, 1))),
           std::pair("sparse values",
                     relu_graph().message(15, sparse(outside("w", 1, 1), inside, {4}))),
           std::pair(
               "sparse indices",
               relu_graph().message(
                   15, sparse(Message().text(8, "w").number(1, 1).number(2, 1).text(9, "abcd"),
                              outside("", 1, 7), {4}))),
       }) {
    const std::string bytes = model_of(graph).bytes();
    std::ofstream(folder.path("model.onnx"), std::ios::binary) << bytes;
    const auto has_elements = [what = what](const Result<ModelDef>& model) {
      EXPECT_TRUE(model.ok()) << what << ": " << model.errors().front().text();
      const StoredTensor& w = model->graph.initializers.at(0);
      EXPECT_EQ(w.payload.external_file, "planted.bin") << what;
      return w.value != nullptr || raw_elements(model->file, w.dtype, w.dims, w.payload);
    };
    EXPECT_TRUE(has_elements(read_model(folder.path("model.onnx")))) << what;
    for (const std::string& name :
         {std::string("model.onnx"), folder.path("model.onnx"), std::string()})
      EXPECT_FALSE(has_elements(read_bytes(bytes, name))) << what << " of '" << name << "'";
  }
}

TEST(Reader, IsWhatIsNotAFileRefused) {
  for (const char* path : {"/nonexistent/model.onnx", "/", "/dev/null"}) {
    const Result<ModelDef> model = read_model(path);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(Errc::io, model.errors().front().code);
    EXPECT_EQ(path, model.errors().front().where);
  }
}

TEST(Reader, IsWhatIsNotAModelRefused) {
  EXPECT_NE(std::string::npos, error_of("").message.find("empty"));
  EXPECT_NE(std::string::npos, error_of("array:\n  rows: 64\n").message.find("text file"));
  EXPECT_NE(std::string::npos, error_of("\x89PNG\r\n\x1A\n....").message.find("PNG"));
  EXPECT_NE(std::string::npos, error_of("PK\x03\x04....").message.find("ZIP"));
  EXPECT_NE(std::string::npos,
            error_of(Message().number(1, 8).bytes()).message.find("not an ONNX model"));
}

TEST(Reader, IsADamagedModelRefusedWithTheByteOffset) {
  const std::string good = model_of(relu_graph()).bytes();
  const Error cut = error_of(good.substr(0, good.size() / 2));
  EXPECT_EQ(Errc::parse, cut.code);
  EXPECT_NE(std::string::npos, cut.message.find("at byte ")) << cut.message;
  // Field 7 (the graph) as a number, field 1 of a node as a number, an element type of 99.
  EXPECT_EQ(Errc::parse, error_of(Message().number(1, 8).number(7, 1).bytes()).code);
  const Message bad_node = Message().message(1, Message().number(1, 3));
  EXPECT_EQ(Errc::parse, error_of(model_of(bad_node).bytes()).code);
  const Message strange = Message().text(8, "t").number(2, 99);
  EXPECT_EQ(Errc::parse, error_of(model_of(relu_graph().message(5, strange)).bytes()).code);
}

TEST(Reader, IsATensorOfTheWrongSizeRefused) {
  const auto refused = [](const Message& tensor) { return !read_with_initializer(tensor).ok(); };
  const auto start = [] { return Message().text(8, "t").number(1, 4).number(2, 7); };
  EXPECT_TRUE(refused(start().text(9, "12345678")));
  EXPECT_TRUE(refused(start().text(7, packed({1, 2, 3}))));
  EXPECT_TRUE(refused(start().text(7, packed({1, 2, 3, 4, 5}))));
  const auto minus_four = static_cast<uint64_t>(int64_t{-4});
  EXPECT_TRUE(refused(Message().text(8, "t").number(1, minus_four).number(2, 7)));
  EXPECT_FALSE(refused(start())) << "weights may be stripped";
}

TEST(Reader, IsDeepNestingRefusedInsteadOfOverflowingTheStack) {
  std::string graph = relu_graph().bytes();
  for (int depth = 0; depth < 200; ++depth) {
    Message attribute;
    attribute.text(1, "body").text(6, graph);
    graph = Message().message(1, Message().text(4, "Loop").message(5, attribute)).bytes();
  }
  const Error error = error_of(Message().number(1, 8).text(7, graph).bytes());
  EXPECT_NE(std::string::npos, error.message.find("nested")) << error.message;
}

}  // namespace
}  // namespace accsim::sim
