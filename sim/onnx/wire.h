#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace accsim::sim::onnx {

/// The bytes of a message or string inside the mapped file.
struct ByteSpan {
  const uint8_t* data = nullptr;
  size_t size = 0;
  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

/// The first thing found wrong with the file, shared by every cursor over it.
struct Fault {
  const uint8_t* base = nullptr;  ///< first byte of the file
  std::optional<std::string> message;
  size_t offset = 0;

  /// Records the problem unless there already is one. Always false, to be returned by decoders.
  bool set_problem(const uint8_t* at, std::string what);
  bool ok() const { return !message.has_value(); }
};

/// One field of a message: its number and its undecoded value.
struct Field {
  enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  uint32_t number = 0;
  Type type = Type::varint;
  uint64_t scalar = 0;          ///< varint, fixed64, fixed32
  ByteSpan span;                ///< bytes
  const uint8_t* at = nullptr;  ///< where the field starts
};

/// Walks the fields of one protobuf message, never past its end and never into a skipped value.
class Cursor {
 public:
  Cursor(ByteSpan message, Fault& fault)
      : at_(message.data), end_(message.data + message.size), fault_(&fault) {}

  /// Reads the next field; false at the end of the message or when something is wrong (ok() tells).
  bool next_field(Field& field);
  bool ok() const { return fault_->ok(); }
  Fault& fault() { return *fault_; }

  // Each decodes `field`, which next_field() has just given; false (fault set) for a wrong wire
  // type.
  bool read_value(const Field& field, int64_t& out);
  bool read_value(const Field& field, std::string& out);
  bool read_value(const Field& field, float& out);
  bool read_value(const Field& field, ByteSpan& out);
  // Repeated scalars, packed or not, are appended; at most `most` elements in all.
  bool append_values(const Field& field, std::vector<int64_t>& out, size_t most = SIZE_MAX);
  bool append_values(const Field& field, std::vector<float>& out, size_t most = SIZE_MAX);
  bool append_values(const Field& field, std::vector<double>& out, size_t most = SIZE_MAX);

 private:
  bool read_varint(uint64_t& out);
  bool read_fixed(size_t bytes, uint64_t& out);
  bool wrong_type(const Field& field, std::string_view wanted);
  bool too_many(const Field& field, size_t most);
  template <class Real, class Bits>
  bool append_reals(const Field& field, Field::Type one, std::string_view kind,
                    std::vector<Real>& out, size_t most);

  const uint8_t* at_;
  const uint8_t* end_;
  Fault* fault_;
};

/// What is done with the fields of one number: read(cursor, field).
template <class Read>
struct FieldReader {
  uint32_t number;
  Read read;
};
template <class Read>
FieldReader(uint32_t, Read) -> FieldReader<Read>;

/// Reads the field into `out`: a value, or a list of texts, which gets one more, or of integers.
template <class T>
auto into(uint32_t number, T& out) {
  return FieldReader{number, [&out](Cursor& cursor, const Field& field) {
                       if constexpr (std::is_same_v<T, std::vector<std::string>>)
                         cursor.read_value(field, out.emplace_back());
                       else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
                         cursor.append_values(field, out);
                       else
                         cursor.read_value(field, out);
                     }};
}
/// decode(the message that the field holds).
template <class Decode>
auto held_by(uint32_t number, Decode decode) {
  return FieldReader{number, [=](Cursor& cursor, const Field& field) {
                       ByteSpan span;
                       if (cursor.read_value(field, span)) decode(span);
                     }};
}
/// Reads the fields of a message, each by the reader of its number, if there is one. False (fault
/// set) when something is wrong.
template <class... Reads>
bool read_fields(ByteSpan message, Fault& fault, const FieldReader<Reads>&... readers) {
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);)
    ((field.number == readers.number ? readers.read(cursor, field) : void()), ...);
  return fault.ok();
}

/// A field with the bytes that it takes, tag included.
struct Piece {
  Field field;
  std::string_view encoded;
};
/// All fields of a message, as far as it is well-formed.
std::vector<Piece> message_pieces(ByteSpan message, Fault& fault);

/// `bytes` little-endian bytes as a number.
uint64_t little_endian(const uint8_t* from, size_t bytes);

}  // namespace accsim::sim::onnx
