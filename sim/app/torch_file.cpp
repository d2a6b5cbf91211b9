#include "sim/app/torch_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "sim/app/options.h"
#include "sim/app/torch_program.h"
#include "sim/cost/load_graph.h"
#include "sim/onnx/reader.h"

namespace accsim::sim {
namespace {

constexpr TorchProgram kExporter = {"_export.py", "a TorchScript file", "it was exported"};

/// Element types by torch's names.
constexpr std::array<std::string_view, 10> kTypes = {"float32", "float64", "float16", "bfloat16",
                                                     "int8",    "int16",   "int32",   "int64",
                                                     "uint8",   "bool"};

/// What torch.export writes. It states the shapes, but not in a form that torch.jit reads.
bool is_program(std::string_view file) { return file.ends_with(".pt2"); }

Error program_error(const std::string& model) {
  const std::string onnx = model.substr(0, model.size() - 3) + "onnx";
  return Error{
      Errc::usage,
      fmt::format("a program of torch.export is read by accsim.cost_torch() in Python; for "
                  "this command make an ONNX file of it: python3 -c 'import torch; "
                  "torch.onnx.export(torch.export.load(\"{}\"), f=\"{}\", dynamo=True)'",
                  model, onnx),
      model};
}

bool is_example(std::string_view text) {
  const size_t colon = text.find(':');
  if (!parse_dims(text.substr(0, colon))) return false;
  return colon == std::string_view::npos ||
         std::ranges::find(kTypes, text.substr(colon + 1)) != kTypes.end();
}

}  // namespace

void TorchFile::add_to(Command& command) {
  command.add(
      "Model",
      {{.name = "--example",
        .to = &examples_,
        .about =
            "Shape of an input, if the model is a TorchScript file (.pt, .pth), e.g. 1x3x224x224 "
            "or 1x128:int64. Give one per input",
        .metavar = "DIMS[:TYPE]"},
       {.name = "--python",
        .to = &python_,
        .about = "Python with torch, to export TorchScript files; default: python3",
        .metavar = "PROGRAM"}});
}

Status TorchFile::check_examples(const std::string& model, bool torch) const {
  Errors errors;
  for (const std::string& text : examples_)
    if (!is_example(text))
      errors.push_back({Errc::usage,
                        fmt::format("'{}' is no shape, e.g. 1x3x224x224 or 1x128:int64 (types: {})",
                                    text, fmt::join(kTypes, ", ")),
                        "--example"});
  if (torch && examples_.empty())
    errors.push_back({Errc::usage,
                      "a TorchScript file has no shapes: give one for each input, e.g. --example "
                      "1x3x224x224",
                      model});
  for (const auto& [given, option] :
       {std::pair(!examples_.empty(), "--example"), std::pair(!python_.empty(), "--python")})
    if (given && !torch)
      errors.push_back({Errc::usage,
                        fmt::format("is for TorchScript files (.pt, .pth), which '{}' isn't; "
                                    "--input-shape changes shapes of an ONNX file",
                                    model),
                        option});
  if (!errors.empty()) return errors;
  return ok();
}

Status TorchFile::with_onnx(const std::string& model,
                            const std::function<Status(const std::string&)>& use) const {
  if (is_program(model)) return program_error(model);
  const bool torch = is_torch_file(model);
  if (const Status good = check_examples(model, torch); !good) return good;
  if (!torch) return use(model);
  if (::access(model.c_str(), R_OK) != 0)
    return Error{Errc::io, fmt::format("can't be read: {}", std::strerror(errno)), model};
  return in_torch_folder(model, [&](const std::string& folder) -> Status {
    const std::string onnx = folder + "/model.onnx";
    std::vector<std::string> words = {onnx};
    words.insert(words.end(), examples_.begin(), examples_.end());
    if (const Status done = run_torch_program(kExporter, python_, model, folder, words); !done)
      return done;
    if (const Status used = use(onnx); !used) return renamed_errors(used.errors(), onnx, model);
    return ok();
  });
}

Result<Graph> TorchFile::load_exported(const std::string& model,
                                       const ElaborateOptions& options) const {
  std::optional<Graph> out;
  const Status done = with_onnx(model, [&](const std::string& onnx) -> Status {
    Result<ModelDef> read = read_model(onnx);
    if (!read) return read.errors();
    read->file = model;
    Result<Graph> graph = load_graph(*read, options);
    if (!graph) return graph.errors();
    out = std::move(*graph);
    return ok();
  });
  if (!done) return done.errors();
  return std::move(*out);
}

}  // namespace accsim::sim
