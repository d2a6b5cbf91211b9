// Mutations of models: any field of any message of onnx.proto, values that mean something there.
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "onnx/onnx_pb.h"
#include "sim/operators/op_table.h"
#include "tests/fuzz/target.h"

namespace accsim::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class ModelMutator {
 public:
  explicit ModelMutator(unsigned seed) : random_(seed) {}

  void change(Message& model) {
    collect(model);
    Spot spot = spots_[below(spots_.size())];
    // Most fields of most models are names: others get as many turns.
    if (spot.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && below(2) == 0)
      spot = spots_[below(spots_.size())];
    change(spot);
  }

  /// Puts a message of `from` where the model has one of its kind.
  void take(Message& model, const Message& from) {
    collect(model);
    const std::vector<Message*> there = messages_;
    messages_.clear();
    collect(const_cast<Message&>(from));
    for (int tries = 0; tries < 20; ++tries) {
      Message* to = there[below(there.size())];
      const Message* part = messages_[below(messages_.size())];
      if (to->GetDescriptor() != part->GetDescriptor() || to == &model) continue;
      to->CopyFrom(*part);
      return;
    }
  }

 private:
  struct Spot {
    Message* message;
    const FieldDescriptor* field;
  };

  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  void collect(Message& m) {
    messages_.push_back(&m);
    const Reflection& r = *m.GetReflection();
    const Descriptor& d = *m.GetDescriptor();
    for (int i = 0; i < d.field_count(); ++i) {
      const FieldDescriptor* f = d.field(i);
      if (f->name() == "doc_string") continue;
      spots_.push_back({&m, f});
      if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) note_text(m, r, f);
      if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (f->is_repeated())
        for (int k = 0; k < r.FieldSize(m, f); ++k) collect(*r.MutableRepeatedMessage(&m, f, k));
      else if (r.HasField(m, f))
        collect(*r.MutableMessage(&m, f));
    }
  }
  void note_text(const Message& m, const Reflection& r, const FieldDescriptor* f) {
    if (f->is_repeated())
      for (int k = 0; k < r.FieldSize(m, f); ++k) texts_.push_back(r.GetRepeatedString(m, f, k));
    else if (r.HasField(m, f))
      texts_.push_back(r.GetString(m, f));
  }

  void change(const Spot& s) {
    if (s.field->is_repeated()) return change_list(s);
    const Reflection& r = *s.message->GetReflection();
    if (below(8) == 0) return r.ClearField(s.message, s.field);
    switch (s.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetInt32(s.message, s.field,
                          static_cast<int32_t>(number(r.GetInt32(*s.message, s.field))));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetInt64(s.message, s.field, number(r.GetInt64(*s.message, s.field)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetFloat(s.message, s.field, real());
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.SetEnumValue(s.message, s.field, static_cast<int>(below(24)));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetString(s.message, s.field, text(*s.field, r.GetString(*s.message, s.field)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return replace(s);
      default:
        return;
    }
  }

  void replace(const Spot& s) {
    const std::string bytes = some_message(s.field->message_type());
    s.message->GetReflection()->MutableMessage(s.message, s.field)->ParseFromString(bytes);
  }

  void change_list(const Spot& s) {
    Message& m = *s.message;
    const Reflection& r = *m.GetReflection();
    const int size = r.FieldSize(m, s.field);
    const size_t what = size == 0 ? 3 : below(4);
    const auto some = [&] { return static_cast<int>(below(static_cast<size_t>(size))); };
    if (what == 0) {
      r.SwapElements(&m, s.field, some(), size - 1);
      if (below(2) == 0) r.RemoveLast(&m, s.field);
    } else if (what == 1) {
      r.SwapElements(&m, s.field, some(), some());
    } else if (what == 2) {
      change_element(s, some());
    } else {
      add(s, size == 0 ? -1 : some());
    }
  }
  void change_element(const Spot& s, int at) {
    Message& m = *s.message;
    const Reflection& r = *m.GetReflection();
    switch (s.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetRepeatedInt32(&m, s.field, at, static_cast<int32_t>(number(0)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetRepeatedInt64(&m, s.field, at, number(r.GetRepeatedInt64(m, s.field, at)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetRepeatedFloat(&m, s.field, at, real());
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetRepeatedString(&m, s.field, at,
                                   text(*s.field, r.GetRepeatedString(m, s.field, at)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        r.MutableRepeatedMessage(&m, s.field, at)
            ->ParseFromString(some_message(s.field->message_type()));
        return;
      default:
        return;
    }
  }
  /// One more, as the one at `like` where there is one.
  void add(const Spot& s, int like) {
    Message& m = *s.message;
    const Reflection& r = *m.GetReflection();
    switch (s.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.AddInt32(&m, s.field, static_cast<int32_t>(number(0)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.AddInt64(&m, s.field, number(1));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.AddFloat(&m, s.field, real());
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.AddDouble(&m, s.field, static_cast<double>(real()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.AddUInt64(&m, s.field, static_cast<uint64_t>(number(1)));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.AddString(&m, s.field, text(*s.field, ""));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const std::string bytes = like >= 0
                                      ? r.GetRepeatedMessage(m, s.field, like).SerializeAsString()
                                      : some_message(s.field->message_type());
        r.AddMessage(&m, s.field)->ParseFromString(bytes);
        return;
      }
      default:
        return;
    }
  }
  /// Another message of that kind, or an empty one. As bytes: one may be inside of the other, and
  /// making room for one of several alternatives ends the one before.
  std::string some_message(const Descriptor* kind) {
    for (int tries = 0; tries < 30; ++tries) {
      const Message* from = messages_[below(messages_.size())];
      if (from->GetDescriptor() == kind) return from->SerializeAsString();
    }
    return "";
  }

  int64_t number(int64_t v) {
    constexpr std::array<int64_t, 14> kEdges{-1, 0,  1,  2,    3,         4,         7,
                                             8,  16, 64, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
    const auto wrapped = [](int64_t a, uint64_t b) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) + b);
    };
    switch (below(4)) {
      case 0:
        return wrapped(v, 1);
      case 1:
        return wrapped(v, ~uint64_t{0});
      default:  // the last four are rare: most of what they make is refused at once
        return kEdges[below(below(6) == 0 ? kEdges.size() : kEdges.size() - 4)];
    }
  }
  float real() {
    constexpr std::array<float, 9> kEdges{
        0, 1, -1, 0.5F, 2, 1e-5F, 1e30F, -1e30F, std::numeric_limits<float>::infinity()};
    return kEdges[below(kEdges.size())];
  }
  std::string text(const FieldDescriptor& f, std::string old) {
    constexpr std::array<const char*, 46> kAttributes{"axis",
                                                      "axes",
                                                      "kernel_shape",
                                                      "pads",
                                                      "strides",
                                                      "dilations",
                                                      "group",
                                                      "perm",
                                                      "keepdims",
                                                      "to",
                                                      "value",
                                                      "mode",
                                                      "epsilon",
                                                      "num_outputs",
                                                      "auto_pad",
                                                      "ceil_mode",
                                                      "output_shape",
                                                      "alpha",
                                                      "beta",
                                                      "transA",
                                                      "transB",
                                                      "body",
                                                      "then_branch",
                                                      "else_branch",
                                                      "direction",
                                                      "hidden_size",
                                                      "num_heads",
                                                      "equation",
                                                      "largest",
                                                      "sorted",
                                                      "exclusive",
                                                      "reverse",
                                                      "blocksize",
                                                      "batch_dims",
                                                      "block_size",
                                                      "allowzero",
                                                      "start",
                                                      "end",
                                                      "noop_with_empty_axes",
                                                      "value_ints",
                                                      "is_causal",
                                                      "q_num_heads",
                                                      "kv_num_heads",
                                                      "scale",
                                                      "nearest_mode",
                                                      "coordinate_transformation_mode"};
    const auto ops = sim::all_ops();
    if (f.name() == "op_type" && below(3) > 0) return std::string(ops[below(ops.size())]->name);
    if (f.full_name().find("AttributeProto.name") != std::string::npos && below(3) > 0)
      return kAttributes[below(kAttributes.size())];
    if (f.name() == "domain") return std::array{"", "com.microsoft", "ai.onnx", "x"}[below(4)];
    if (f.type() == FieldDescriptor::TYPE_BYTES || below(6) == 0) {
      const size_t room = old.size() + 8;
      const size_t size = old.size();
      old.resize(room);
      old.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(old.data()), size, room));
      return old;
    }
    if (texts_.empty() || below(10) == 0) return below(2) == 0 ? "" : "new";
    return texts_[below(texts_.size())];
  }

  std::mt19937 random_;
  std::vector<Spot> spots_;
  std::vector<Message*> messages_;
  std::vector<std::string> texts_;
};

size_t write(const onnx::ModelProto& model, uint8_t* out, size_t most) {
  const std::string bytes = model.SerializeAsString();
  if (bytes.empty() || bytes.size() > most) return 0;
  std::copy(bytes.begin(), bytes.end(), out);
  return bytes.size();
}

}  // namespace
}  // namespace accsim::test

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  // Now and then as if nothing were known of it: what no model is must be refused, too.
  if (random() % 16 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  for (auto times = 1 + random() % 3; times > 0; --times)
    accsim::test::ModelMutator(static_cast<unsigned>(random())).change(model);
  const size_t written = accsim::test::write(model, data, most);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* two,
                                            size_t two_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  onnx::ModelProto model, other;
  if (!model.ParseFromArray(one, static_cast<int>(one_size)) ||
      !other.ParseFromArray(two, static_cast<int>(two_size)))
    return 0;
  accsim::test::ModelMutator(seed).take(model, other);
  return accsim::test::write(model, out, most);
}
