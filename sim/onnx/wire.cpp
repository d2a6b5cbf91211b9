#include "sim/onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace accsim::sim::onnx {

uint64_t little_endian(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{from[i]} << (8 * i);
  return value;
}

bool Fault::set_problem(const uint8_t* at, std::string what) {
  if (message) return false;
  message = std::move(what);
  offset = static_cast<size_t>(at - base);
  return false;
}

bool Cursor::read_varint(uint64_t& out) {
  const uint8_t* start = at_;
  out = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) return fault_->set_problem(start, "a number is cut off");
    const uint8_t byte = *at_++;
    if (shift < 64) out |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return fault_->set_problem(start, "a number has more than 10 bytes");
}

bool Cursor::read_fixed(size_t bytes, uint64_t& out) {
  if (static_cast<size_t>(end_ - at_) < bytes)
    return fault_->set_problem(at_, "a number is cut off");
  out = little_endian(at_, bytes);
  at_ += bytes;
  return true;
}

bool Cursor::next_field(Field& field) {
  if (at_ == end_ || !fault_->ok()) return false;
  field.at = at_;
  uint64_t tag = 0;
  if (!read_varint(tag)) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number >= (1u << 29))
    return fault_->set_problem(field.at, fmt::format("field number {} is impossible", number));
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<Field::Type>(tag & 7);
  switch (field.type) {
    case Field::Type::varint:
      return read_varint(field.scalar);
    case Field::Type::fixed64:
      return read_fixed(8, field.scalar);
    case Field::Type::fixed32:
      return read_fixed(4, field.scalar);
    case Field::Type::bytes:
      break;
    default:
      return fault_->set_problem(field.at, fmt::format("wire type {} is unknown", tag & 7));
  }
  uint64_t size = 0;
  if (!read_varint(size)) return false;
  const size_t left = static_cast<size_t>(end_ - at_);
  if (size > left)
    return fault_->set_problem(field.at, fmt::format("field {} states {} bytes where {} are left",
                                                     field.number, size, left));
  field.span = {at_, static_cast<size_t>(size)};
  at_ += size;
  return true;
}

bool Cursor::wrong_type(const Field& field, std::string_view wanted) {
  return fault_->set_problem(field.at,
                             fmt::format("field {} has wire type {} where {} belongs", field.number,
                                         static_cast<int>(field.type), wanted));
}

bool Cursor::too_many(const Field& field, size_t most) {
  return fault_->set_problem(
      field.at,
      fmt::format("field {} has more than the {} elements its shape allows", field.number, most));
}

bool Cursor::read_value(const Field& field, int64_t& out) {
  if (field.type != Field::Type::varint) return wrong_type(field, "an integer");
  out = static_cast<int64_t>(field.scalar);
  return true;
}

bool Cursor::read_value(const Field& field, std::string& out) {
  if (field.type != Field::Type::bytes) return wrong_type(field, "a string");
  out = field.span.text();
  return true;
}

bool Cursor::read_value(const Field& field, float& out) {
  if (field.type != Field::Type::fixed32) return wrong_type(field, "a float");
  out = std::bit_cast<float>(static_cast<uint32_t>(field.scalar));
  return true;
}

bool Cursor::read_value(const Field& field, ByteSpan& out) {
  if (field.type != Field::Type::bytes) return wrong_type(field, "a message");
  out = field.span;
  return true;
}

bool Cursor::append_values(const Field& field, std::vector<int64_t>& out, size_t most) {
  if (field.type == Field::Type::varint) {
    if (out.size() >= most) return too_many(field, most);
    out.push_back(static_cast<int64_t>(field.scalar));
    return true;
  }
  if (field.type != Field::Type::bytes) return wrong_type(field, "integers");
  Cursor packed(field.span, *fault_);
  for (uint64_t value = 0; packed.at_ != packed.end_;) {
    if (out.size() >= most) return too_many(field, most);
    if (!packed.read_varint(value)) return false;
    out.push_back(static_cast<int64_t>(value));
  }
  return true;
}

template <class Real, class Bits>
bool Cursor::append_reals(const Field& field, Field::Type one, std::string_view kind,
                          std::vector<Real>& out, size_t most) {
  constexpr size_t kBytes = sizeof(Real);
  if (field.type == one) {
    if (out.size() >= most) return too_many(field, most);
    out.push_back(std::bit_cast<Real>(static_cast<Bits>(field.scalar)));
    return true;
  }
  if (field.type != Field::Type::bytes || field.span.size % kBytes != 0)
    return wrong_type(field, kind);
  const size_t count = field.span.size / kBytes;
  if (count > most - out.size()) return too_many(field, most);
  for (size_t i = 0; i < count; ++i)
    out.push_back(std::bit_cast<Real>(
        static_cast<Bits>(little_endian(field.span.data + kBytes * i, kBytes))));
  return true;
}

bool Cursor::append_values(const Field& field, std::vector<float>& out, size_t most) {
  return append_reals<float, uint32_t>(field, Field::Type::fixed32, "floats", out, most);
}

bool Cursor::append_values(const Field& field, std::vector<double>& out, size_t most) {
  return append_reals<double, uint64_t>(field, Field::Type::fixed64, "doubles", out, most);
}

std::vector<Piece> message_pieces(ByteSpan message, Fault& fault) {
  std::vector<Piece> out;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) out.push_back({field, {}});
  const uint8_t* end = message.data + message.size;
  for (size_t i = out.size(); i-- > 0; end = out[i].field.at)
    out[i].encoded = {reinterpret_cast<const char*>(out[i].field.at),
                      static_cast<size_t>(end - out[i].field.at)};
  return out;
}

}  // namespace accsim::sim::onnx
