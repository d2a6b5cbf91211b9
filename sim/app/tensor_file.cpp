#include "sim/app/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/app/options.h"
#include "sim/app/torch_program.h"
#include "sim/base/read_file.h"
#include "sim/cost/cost.h"
#include "sim/ref/npy.h"
#include "sim/ref/raw.h"

namespace accsim::sim {

/// What is known of the elements of raw files.
struct TensorFiles::RawType {
  std::optional<DType> dtype;
  std::optional<Dims> dims;
};

namespace {

constexpr TorchProgram kReader = {"_tensors.py", "a file of torch.save()", "it was read"};
constexpr const char* kRawFile = "a file of raw elements";

std::optional<DType> dtype_named(std::string_view word) {
  for (int i = 1; i <= static_cast<int>(DType::float6e3m2); ++i)
    if (const auto type = dtype_from_onnx(i);
        type && name(*type) == word && ref::has_raw_elements(*type))
      return type;
  return std::nullopt;
}

std::vector<std::string_view> type_names() {
  std::vector<std::string_view> out;
  for (int i = 1; i <= static_cast<int>(DType::float6e3m2); ++i)
    if (const auto type = dtype_from_onnx(i); type && ref::has_raw_elements(*type))
      out.push_back(name(*type));
  return out;
}

bool is_raw(const std::string& file) { return !file.ends_with(".npy") && !is_torch_file(file); }

/// A row of as many elements as there are bytes for.
Dims row_of(size_t bytes, DType dtype) {
  return {static_cast<int64_t>(bytes) * 8 / std::max(bits(dtype), 1)};
}

/// A tensor of the list that _tensors.py writes: "TYPE DIM,DIM... NAME".
struct ListedTensor {
  std::string name;
  std::optional<DType> dtype;
  Dims dims;
};

/// Nothing where it isn't such a list.
std::optional<std::vector<ListedTensor>> parse_list(std::string_view text) {
  std::vector<ListedTensor> out;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t type_end = entry.find(' '), dims_end = entry.find(' ', type_end + 1);
    if (dims_end == std::string_view::npos) return std::nullopt;
    ListedTensor tensor{
        std::string(entry.substr(dims_end + 1)), dtype_named(entry.substr(0, type_end)), {}};
    const char *at = entry.data() + type_end + 1, *const end = entry.data() + dims_end;
    while (at < end) {
      at = std::from_chars(at, end, tensor.dims.emplace_back()).ptr;
      if (at < end) ++at;  // the comma
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

/// Puts the tensors that _tensors.py wrote into a folder to `out`.
Status take_tensors(const std::string& folder, TensorsOfFile& out) {
  const Result<std::string> list = read_bytes(folder + "/list", "a list");
  if (!list) return list.errors();
  std::optional<std::vector<ListedTensor>> tensors = parse_list(*list);
  if (!tensors) return Error{Errc::parse, "the list of its tensors can't be read", out.file};
  size_t number = 0;
  for (ListedTensor& tensor : *tensors) {
    const std::string where = fmt::format("{}: tensor '{}'", out.file, tensor.name);
    if (!tensor.dtype) return Error{Errc::unsupported, "its elements aren't computed with", where};
    const auto bytes = read_bytes(fmt::format("{}/{}", folder, number++), kRawFile);
    if (!bytes) return bytes.errors();
    Result<ref::Array> array = ref::from_raw(*bytes, *tensor.dtype, tensor.dims, where);
    if (!array) return array.errors();
    out.tensors.emplace_back(std::move(tensor.name), std::move(*array));
  }
  return ok();
}

Error unknown_type(const std::string& file) {
  return {Errc::usage,
          "raw elements don't say what they are: --dtype float32, with --shape 1x64x56x56 for the "
          "shape; or --model layer.onnx, with --tensor for one of its tensors",
          file};
}

}  // namespace

void TensorFiles::add_to(Command& command) {
  command.add(
      "Raw files",
      {{.name = "--dtype",
        .to = &dtype_,
        .about =
            "Element type of raw files, e.g. float32, float16, int8; default: as in the model or "
            "in the other file",
        .metavar = "TYPE"},
       {.name = "--shape",
        .to = &shape_,
        .about = "Shape of raw files; default: as in the model or in the other file, else one row",
        .metavar = "DIMS"},
       {.name = "--model",
        .to = &model_,
        .about = "ONNX model that has the tensor of a raw file, with its type and shape",
        .kind = ValueKind::read_file},
       {.name = "--tensor",
        .to = &tensor_,
        .about =
            "Tensor of --model; default: its only output. Also the tensor to compare if a .pt file "
            "holds several",
        .metavar = "NAME"},
       {.name = "--python",
        .to = &python_,
        .about = "Python with torch, to read .pt and .pth files; default: python3",
        .metavar = "PROGRAM"}});
}

std::string TensorFiles::first_given() const {
  for (const auto& [option, value] :
       {std::pair("--dtype", &dtype_), std::pair("--shape", &shape_), std::pair("--model", &model_),
        std::pair("--tensor", &tensor_), std::pair("--python", &python_)})
    if (!value->empty()) return option;
  return "";
}

/// Type and shape of the model's tensor, where the options don't say them.
Status TensorFiles::take_model(RawType& type) const {
  ElaborateOptions options;
  options.as_written = true;
  const Result<Graph> graph = load_graph(model_, options);
  if (!graph) return graph.errors();
  const Tensor* found = nullptr;
  if (tensor_.empty() && graph->outputs.size() == 1) found = &graph->tensor(graph->outputs[0]);
  std::vector<std::string> outputs;
  for (const TensorId id : graph->outputs) outputs.push_back(graph->tensor(id).name);
  for (const Tensor& tensor : graph->tensors)
    if (!tensor_.empty() && tensor.name == tensor_) found = &tensor;
  if (found == nullptr)
    return Error{Errc::usage,
                 fmt::format("{}; its outputs are {}",
                             tensor_.empty() ? "names none of the model's outputs"
                                             : fmt::format("the model has no '{}'", tensor_),
                             fmt::join(outputs, ", ")),
                 "--tensor"};
  if (!type.dtype) type.dtype = found->dtype;
  if (!type.dims) type.dims = found->dims;
  return ok();
}

Result<TensorFiles::RawType> TensorFiles::raw_type() const {
  RawType out;
  Errors errors;
  if (!dtype_.empty()) out.dtype = dtype_named(dtype_);
  if (!shape_.empty()) out.dims = parse_dims(shape_);
  if (!dtype_.empty() && !out.dtype)
    errors.push_back({Errc::usage,
                      fmt::format("'{}' is no element type; there are {}", dtype_,
                                  fmt::join(type_names(), ", ")),
                      "--dtype"});
  if (!shape_.empty() && !out.dims)
    errors.push_back(
        {Errc::usage, fmt::format("'{}' is no shape, e.g. 1x64x56x56", shape_), "--shape"});
  if (!errors.empty()) return errors;
  if (!model_.empty())
    if (const Status taken = take_model(out); !taken) return taken.errors();
  return out;
}

/// Of several tensors those that --tensor names.
Status TensorFiles::pick_tensor(TensorsOfFile& file) const {
  if (tensor_.empty() || file.tensors.size() <= 1) return ok();
  std::vector<std::string> names;
  for (const auto& [name, array] : file.tensors) names.push_back(name);
  std::erase_if(file.tensors, [this](const auto& tensor) { return tensor.first != tensor_; });
  if (!file.tensors.empty()) return ok();
  return Error{
      Errc::usage,
      fmt::format("'{}' has no tensor '{}'; it has {}", file.file, tensor_, fmt::join(names, ", ")),
      "--tensor"};
}

Result<TensorsOfFile> TensorFiles::read_torch(const std::string& file) const {
  TensorsOfFile out{file, {}};
  const Status done = in_torch_folder(file, [&](const std::string& folder) -> Status {
    if (const Status ran = run_torch_program(kReader, python_, file, folder, {folder}); !ran)
      return ran;
    if (const Status taken = take_tensors(folder, out); !taken)
      return renamed_errors(taken.errors(), folder, file);
    return ok();
  });
  if (!done) return done.errors();
  if (const Status picked = pick_tensor(out); !picked) return picked.errors();
  return out;
}

/// Of a file that says what it holds.
Result<TensorsOfFile> TensorFiles::read_stated(const std::string& file) const {
  if (is_torch_file(file)) return read_torch(file);
  Result<ref::Array> array = ref::read_npy(file);
  if (!array) return array.errors();
  return TensorsOfFile{file, {{"", std::move(*array)}}};
}

Result<std::vector<TensorsOfFile>> TensorFiles::read_files(const std::string& a,
                                                           const std::string& b) const {
  Result<RawType> type = raw_type();
  if (!type) return type.errors();
  const std::string files[] = {a, b};
  std::vector<TensorsOfFile> out(2);
  for (size_t i = 0; i < 2; ++i) {
    if (is_raw(files[i])) continue;
    Result<TensorsOfFile> read = read_stated(files[i]);
    if (!read) return read.errors();
    out[i] = std::move(*read);
    if (out[i].tensors.size() != 1) continue;
    const ref::Array& array = out[i].tensors.front().second;
    if (!type->dtype) type->dtype = array.dtype();
    if (!type->dims) type->dims = array.dims();
  }
  for (size_t i = 0; i < 2; ++i) {
    if (!is_raw(files[i])) continue;
    const Result<std::string> bytes = read_bytes(files[i], kRawFile);
    if (!bytes) return bytes.errors();
    if (!type->dtype) return unknown_type(files[i]);
    const Dims dims = type->dims.value_or(row_of(bytes->size(), *type->dtype));
    Result<ref::Array> array = ref::from_raw(*bytes, *type->dtype, dims, files[i]);
    if (!array) return array.errors();
    out[i] = {files[i], {{"", std::move(*array)}}};
  }
  return out;
}

}  // namespace accsim::sim
