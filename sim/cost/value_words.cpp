#include "sim/cost/value_words.h"

#include <fmt/format.h>

#include "sim/base/read_file.h"
#include "sim/elaborate/given_values.h"
#include "sim/onnx/decode.h"
#include "sim/onnx/npy.h"

namespace accsim::sim {
namespace {

/// An error that says its place in its message.
Error with_place(const Error& error) { return {Errc::usage, error.text(), ""}; }

Result<GivenValue> value_of_npy(std::string_view bytes, const std::string& file) {
  const Result<onnx::ArrayElements> read = onnx::read_npy_elements(bytes, file);
  if (!read) return with_place(read.errors().front());
  GivenValue out;
  out.dims = read->dims;
  out.dtype = read->dtype;
  const auto count = static_cast<size_t>(elements(read->dims));
  out.elements =
      onnx::decode_elements(read->dtype, count, {read->bytes.data(), read->bytes.size()});
  if (out.elements) return out;
  return Error{Errc::usage, fmt::format("{}: holds {}, not numbers", file, name(read->dtype)), ""};
}

}  // namespace

Result<GivenValue> value_of_words(const std::string& text) {
  const bool npy = text.ends_with(".npy");
  if (!npy && !text.ends_with(".json")) return parse_value(text);
  const Result<std::string> bytes = read_bytes(text, npy ? "a .npy file" : "a .json file");
  if (!bytes) return with_place(bytes.errors().front());
  Result<GivenValue> out = npy ? value_of_npy(*bytes, text) : parse_value(*bytes);
  if (!out) {
    if (npy) return out;
    return Error{Errc::usage, text + " holds no number and no list of numbers of one shape", ""};
  }
  out->text = text;
  return out;
}

}  // namespace accsim::sim
