// Runs ONNX's own node test cases through the reference executor. Each must pass at the suite's
// tolerance or be refused; a wrong answer fails the run, and so do fewer than kLeastPassed passes.
//
//   conformance [--cases FOLDER] [--check FILE | --write FILE] [--list]
//
// --write puts the table of what passes and what is refused into FILE, --check compares it with
// FILE. Exit code 77 when the cases aren't installed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/onnx/reader.h"
#include "sim/operators/op_table.h"
#include "sim/ref/executor.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;
using ref::Array;

constexpr size_t kLeastPassed = 780;
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;
constexpr double kBfloat16 =
    0x1p-6;  ///< relative, since the suite has compared bfloat16 as numbers

struct Outcome {
  enum class Kind { passed, refused, wrong } kind = Kind::passed;
  std::string why;
};

Outcome refused(std::string why) { return {Outcome::Kind::refused, std::move(why)}; }
Outcome wrong(std::string why) { return {Outcome::Kind::wrong, std::move(why)}; }

/// bfloat16 tensors of the suite are stored as their bits in uint16.
std::optional<Array> as_declared(const TensorFile& file, DType declared) {
  const DType stored = file.tensor.dtype;
  const bool bits = declared == DType::bfloat16 && stored == DType::uint16;
  if (stored != declared && !bits) return std::nullopt;
  return ref::array_of(declared, file.tensor.dims, file.elements);
}

/// The first operator of a case that isn't a constant.
std::string op_of(const ModelDef& model) {
  for (const NodeDef& node : model.graph.nodes)
    if (node.op_type != "Constant") return node.op_type;
  return "?";
}

/// The case's graph; where shapes depend on inputs, with small inputs as constants.
Result<Graph> graph_of(const ModelDef& model, const fs::path& data, const ElaborateOptions& given) {
  Result<Graph> graph = elaborate(model, given);
  if (graph && std::ranges::all_of(graph->assumed, &Assumption::input)) return graph;
  ElaborateOptions options = given;
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    const ValueDef& input = model.graph.inputs[i];
    if (!input.is_tensor || input.is_optional) continue;
    Result<StoredTensor> value = read_tensor((data / fmt::format("input_{}.pb", i)).string());
    if (value && value->dtype == input.dtype && value->value)
      options.constants[input.name] = std::move(*value);
  }
  return elaborate(model, options);
}

Outcome check_output(const Graph& graph, size_t i, const TensorFile& expected,
                     const ref::Arrays& got) {
  const Tensor& tensor = graph.tensor(graph.outputs[i]);
  const auto want = as_declared(expected, tensor.dtype);
  if (!want)
    return wrong(fmt::format("output {} is {}, expected {}", i, name(tensor.dtype),
                             name(expected.tensor.dtype)));
  const auto found = got.find(tensor.name);
  if (found == got.end()) return wrong(fmt::format("output {} is missing", i));
  const bool exact = !is_float(tensor.dtype);
  const double relative = tensor.dtype == DType::bfloat16 ? kBfloat16 : kRelative;
  const ref::Comparison c =
      ref::compare_elements(*want, found->second, exact ? 0 : kAbsolute, exact ? 0 : relative);
  if (!c.same_shape)
    return wrong(fmt::format("output {} is {}, expected {}", i, to_string(found->second.dims()),
                             to_string(want->dims())));
  if (c.wrong > 0)
    return wrong(fmt::format("output {}: {} of {} elements differ, by up to {:.3g}", i, c.wrong,
                             want->size(), c.max_abs));
  return {};
}

/// Whether the graph has this input with other dims.
bool other_dims(const Graph& graph, const std::string& name, const Dims& dims) {
  for (TensorId id : graph.inputs)
    if (graph.tensor(id).name == name) return graph.tensor(id).dims != dims;
  return false;
}

/// What a case gives its model.
struct CaseInputs {
  std::vector<std::pair<std::string, Array>> arrays{};
  ElaborateOptions options{};  ///< how many tensors optionals and sequences have, and their shapes
};

std::optional<CaseInputs> read_inputs(const ModelDef& model, const fs::path& data) {
  CaseInputs out;
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    const ValueDef& input = model.graph.inputs[i];
    const fs::path file = data / fmt::format("input_{}.pb", i);
    if (!fs::exists(file)) continue;
    const Result<std::vector<TensorFile>> tensors = read_value_file(file.string(), input);
    if (!tensors) return std::nullopt;
    if (input.is_sequence || input.is_optional)
      out.options.sizes[input.name] = std::ssize(*tensors);
    for (size_t k = 0; k < tensors->size(); ++k) {
      auto array = as_declared((*tensors)[k], input.dtype);
      if (!array) return std::nullopt;
      const std::string name = input.is_sequence ? fmt::format("{}/{}", input.name, k) : input.name;
      if (input.is_sequence || (input.is_optional && !input.dims))
        out.options.input_shapes[name] = array->dims();
      out.arrays.emplace_back(name, std::move(*array));
    }
  }
  return out;
}

Outcome check_outputs(const ModelDef& model, const Graph& graph, const fs::path& data,
                      const ref::Arrays& got) {
  size_t at = 0;
  for (size_t i = 0; i < model.graph.outputs.size(); ++i) {
    const std::string file = (data / fmt::format("output_{}.pb", i)).string();
    const Result<std::vector<TensorFile>> wanted = read_value_file(file, model.graph.outputs[i]);
    if (!wanted) return wrong(wanted.errors().front().text());
    for (const TensorFile& tensor : *wanted) {
      if (at == graph.outputs.size()) return wrong(fmt::format("output {} lacks tensors", i));
      const Outcome o = check_output(graph, at++, tensor, got);
      if (o.kind != Outcome::Kind::passed) return o;
    }
  }
  return at == graph.outputs.size() ? Outcome() : wrong("gives more tensors than it should");
}

Outcome run_case(const fs::path& folder, std::string& op) {
  const Result<ModelDef> model = read_model((folder / "model.onnx").string());
  if (!model) return refused(model.errors().front().message);
  op = op_of(*model);
  for (int set = 0; fs::is_directory(folder / fmt::format("test_data_set_{}", set)); ++set) {
    const fs::path data = folder / fmt::format("test_data_set_{}", set);
    auto given = read_inputs(*model, data);
    if (!given) {
      const Result<Graph> graph = elaborate(*model, {});
      return refused(graph ? "the case's input isn't a tensor of numbers of the declared type"
                           : graph.errors().front().message);
    }
    const Result<Graph> graph = graph_of(*model, data, given->options);
    if (!graph) return refused(graph.errors().front().message);
    ref::Arrays inputs;
    for (auto& [name, array] : given->arrays) {
      if (other_dims(*graph, name, array.dims()))
        return refused("the case's data don't have the shape that its model declares");
      inputs[name] = std::move(array);
    }
    ref::RunOptions options;
    options.threads = 2;
    const auto result = ref::run_graph(*graph, inputs, options);
    if (!result) return refused(result.errors().front().message);
    const Outcome o = check_outputs(*model, *graph, data, result->outputs);
    if (o.kind != Outcome::Kind::passed) return o;
  }
  return {};
}

struct Tally {
  size_t passed = 0, wrong = 0;
  std::map<std::pair<std::string, std::string>, size_t> refused;  ///< by operator and reason
};

std::string table(const Tally& t) {
  size_t refused = 0;
  for (const auto& [key, cases] : t.refused) refused += cases;
  std::string out = fmt::format(
      "# What the reference executor computes\n\n"
      "Made by `conformance --write` from ONNX's own node cases (Debian's libonnx-testdata); a "
      "test\n"
      "compares. A case passes when every output is equal (integers) or within rtol {} and atol "
      "{}\n"
      "(floats; bfloat16: 2^-6), the suite's own tolerance.\n\n"
      "The 1,884 cases of ONNX 1.23.2 (`conformance --cases FOLDER`) gave 1,788 passed, 94 "
      "refused and 2\n"
      "beyond the tolerance on 2026-11-29: test_dft_inverse and test_dft_inverse_opset19, where "
      "the suite has\n"
      "single-precision noise of 2e-6 for zeros.\n\n"
      "| cases | passed | refused | wrong |\n|---:|---:|---:|---:|\n| {} | {} | {} | {} |\n\n"
      "## Refused cases\n\n| operator | cases | why |\n|---|---:|---|\n",
      kRelative, kAbsolute, t.passed + refused + t.wrong, t.passed, refused, t.wrong);
  for (const auto& [key, cases] : t.refused)
    out += fmt::format("| {} | {} | {} |\n", key.first, cases, key.second);
  out +=
      "\n## Operators of the table that are refused\n\n| operator | domain | why "
      "|\n|---|---|---|\n";
  for (const OpRow* row : all_ops())
    if (!row->no_kernel.empty())
      out += fmt::format("| {} | {} | {} |\n", row->name,
                         row->domain.empty() ? "ai.onnx" : row->domain, row->no_kernel);
  size_t kernels = 0, spelled = 0;
  std::vector<std::string_view> expanded;
  for (const OpRow* row : all_ops()) {
    kernels += ref::find_kernel(row->domain, row->name) != nullptr;
    spelled += row->control_flow == ControlFlow::spelled;
    if (row->control_flow != ControlFlow::none && row->control_flow != ControlFlow::spelled)
      expanded.push_back(row->name);
  }
  out += fmt::format(
      "\nThe other {} operators of the table ([operators.md](operators.md)) have a kernel, or, "
      "{} of them, are computed as\n"
      "the operators that they stand for. In the place of these their subgraphs or sequences are "
      "computed: {}.\n",
      kernels + spelled, spelled, fmt::join(expanded, ", "));
  return out;
}

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

int run_all(const fs::path& root, const std::string& check, const std::string& write, bool list) {
  Tally tally;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root))
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    std::string op = "?";
    const Outcome o = run_case(folder, op);
    const std::string name = folder.filename().string();
    if (o.kind == Outcome::Kind::passed) ++tally.passed;
    if (o.kind == Outcome::Kind::refused) ++tally.refused[{op, o.why}];
    if (o.kind == Outcome::Kind::wrong) {
      ++tally.wrong;
      fmt::print(stderr, "WRONG {}: {}\n", name, o.why);
    } else if (list) {
      fmt::print("{} {} {}\n", o.kind == Outcome::Kind::passed ? "pass" : "refused", name, o.why);
    }
  }
  const std::string text = table(tally);
  fmt::print("{} cases, {} passed, {} wrong\n", folders.size(), tally.passed, tally.wrong);
  bool good = tally.wrong == 0 && tally.passed >= kLeastPassed;
  if (!write.empty()) std::ofstream(write) << text;
  if (!check.empty() && slurp(check) != text) {
    fmt::print(stderr, "{} isn't current; write it again: conformance --write {}\n", check, check);
    good = false;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  std::string root = "/usr/share/libonnx-testdata/data/node", check, write;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--list")
      list = true;
    else if (i + 1 < argc && arg == "--cases")
      root = argv[++i];
    else if (i + 1 < argc && arg == "--check")
      check = argv[++i];
    else if (i + 1 < argc && arg == "--write")
      write = argv[++i];
    else
      return fmt::print(stderr, "conformance: unknown argument '{}'\n", arg), 2;
  }
  if (!std::filesystem::is_directory(root)) {
    fmt::print(stderr, "SKIPPED: {} isn't there; install libonnx-testdata\n", root);
    return 77;
  }
  return accsim::sim::run_all(root, check, write, list);
}
