#include "sim/app/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/app/progress.h"
#include "sim/quantise/run_int8.h"
#include "sim/ref/texts.h"
#include "sim/report/characters.h"

namespace accsim::sim {
namespace {

/// "output 'y': string 2x3, 'cat', 'dog' ...".
std::string describe_texts(const std::string& label, const ref::Array& array) {
  constexpr int64_t kShown = 3;
  std::string text = fmt::format("{}: string {}", label, accsim::to_string(array.dims()));
  for (int64_t i = 0; i < std::min(array.size(), kShown); ++i)
    text += fmt::format(", '{}'", printable(ref::text_at(array, i)));
  return text + (array.size() > kShown ? " ...\n" : "\n");
}

/// "output 'y': float32 1x1000, from -3.2 to 4.1, mean 0.01".
std::string describe_array(const std::string& label, const ref::Array& array) {
  if (array.dtype() == DType::string) return describe_texts(label, array);
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  int64_t numbers = 0;
  ref::with_element_kind(array.kind(), [&]<class T>(T) {  // in place: outputs may be large
    for (const T& element : std::span(array.data<T>(), static_cast<size_t>(array.size()))) {
      const auto v = static_cast<double>(element);
      if (std::isnan(v)) continue;
      ++numbers;
      low = std::min(low, v);
      high = std::max(high, v);
      sum += v;
    }
  });
  std::string text =
      fmt::format("{}: {} {}", label, name(array.dtype()), accsim::to_string(array.dims()));
  if (numbers > 0)
    text += fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}", low, high,
                        sum / static_cast<double>(numbers));
  if (numbers < array.size())
    text += fmt::format(", {} of {} NaN", array.size() - numbers, array.size());
  return text + "\n";
}

}  // namespace

void RunCommand::add_to(Command& program) {
  sub_ = &program.add_command("run", "Run the network with the reference executor");
  sub_->footer = "Exit codes: 0 done, 2 input that can't be used.";
  model_.add_to(*sub_, true, "ONNX model file");
  model_.add_cut_to(*sub_);
  model_.add_torch_to(*sub_);
  sub_->add(
      {{.name = "--input",
        .to = &inputs_,
        .about =
            "Values of an input of the graph, or of the part that is run: NAME=FILE.npy, "
            "NAME=FILE.bin or NAME=random:SEED. A .bin has raw elements of the input's type and "
            "shape, row-major and little-endian. Other inputs are random:0",
        .kind = ValueKind::read_source},
       {.name = "--weights",
        .to = &weights_,
        .about = "random:SEED draws weights that the file lacks",
        .metavar = "random:SEED"},
       {.name = "--output",
        .to = &output_,
        .about = "Folder for the outputs, one .npy per output",
        .kind = ValueKind::written_folder},
       {.name = "--dump",
        .to = &dump_,
        .about = "Also write inputs and outputs of layers to the folder, with a manifest.json. The "
                 "layers are all, those of an operator type, or those whose name matches a glob",
        .metavar = "all|OP|GLOB",
        .offers = {"all"}},
       {.name = "--raw",
        .to = &raw_,
        .about =
            "With --dump: write one folder per layer for other runtimes. It has layer.onnx, inputs "
            "(.bin) and outputs (.out) as raw elements, row-major and little-endian. manifest.json "
            "has names, types and shapes",
        .needs = "--dump"}});
  add_int8_to(*sub_);
  model_.add_attention_to(*sub_);
  model_.add_run_limits_to(*sub_);
  sub_->add({{.name = "--threads",
              .to = &threads_,
              .about = "Threads to compute with",
              .range = OptionRange{1, 256},
              .shows_default = true}});
}

void RunCommand::add_int8_to(Command& command) {
  command.add(
      {{.name = "--int8",
        .to = &int8_,
        .about = "Run the products in int8 on the bit-exact machine, and all else in float"},
       {.name = "--hw",
        .to = &hw_,
        .about = "Machine for --int8: a description (YAML) or a name, e.g. tpu-v4; default: 64x64",
        .kind = ValueKind::machine},
       {.name = "--layerwise",
        .to = &layerwise_,
        .about = "Let every layer read the values of the float run, so that errors don't add up"},
       {.name = "--network",
        .to = &network_,
        .about =
            "With --int8: run the whole network in int8, as one program of the machine. Results "
            "are compared with the integer reference, bit for bit, and with the float run"},
       {.name = "--inputs",
        .to = &count_,
        .about =
            "With --network: number of inputs. Random inputs count their seeds up. Files of inputs "
            "and outputs have one more axis in front",
        .range = OptionRange{1, 100'000},
        .shows_default = true},
       {.name = "--calibrate",
        .to = &calibrate_,
        .about =
            "With --network: take scales from float runs of the first N inputs; 0: of all inputs",
        .range = OptionRange{0, 100'000},
        .shows_default = true},
       {.name = "--percentile",
        .to = &percentile_,
        .about =
            "With --network: clip activations beyond this percentile of a float run; 100: clip "
            "none",
        .metavar = "P",
        .range = OptionRange{90, 100},
        .shows_default = true},
       {.name = "--json",
        .to = &json_,
        .about =
            "With --network: write the errors of int8 against float as JSON (accsim.quality/1); - "
            "for stdout",
        .kind = ValueKind::written_file}});
}

void RunCommand::check_options(Errors& errors) const {
  const auto useless = [&](bool given, const char* without, const char* option) {
    if (given)
      errors.push_back({Errc::usage, fmt::format("has no use without {}", without), option});
  };
  useless(!hw_.empty() && !int8_, "--int8", "--hw");
  useless(network_ && !int8_, "--int8", "--network");
  useless(count_ != 1 && !network_, "--network", "--inputs");
  useless(calibrate_ != 0 && !network_, "--network", "--calibrate");
  useless(percentile_ != 100 && !network_, "--network", "--percentile");
  useless(!json_.empty() && !network_, "--network", "--json");
  if (!dump_.empty() && output_.empty())
    errors.push_back({Errc::usage, "needs a folder to write to: --output DIR", "--dump"});
  if (raw_ && int8_)
    errors.push_back({Errc::usage, "is for the network in float, not for --int8", "--raw"});
  if (network_ && (!dump_.empty() || layerwise_))
    errors.push_back({Errc::usage, "is for layers one by one, not for --network",
                      dump_.empty() ? "--layerwise" : "--dump"});
}

Status RunCommand::parse_inputs(RunRequest& out) const {
  Errors errors;
  for (const std::string& text : inputs_) {
    // Names may hold a '=' and a ':', so the last '=' splits.
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      errors.push_back(
          {Errc::usage,
           fmt::format("'{}' is not NAME=FILE.npy, NAME=FILE.bin or NAME=random:SEED", text),
           "--input"});
      continue;
    }
    InputSource source{text.substr(0, at), text.substr(at + 1), 0};
    if (source.file.starts_with("random:")) {
      const auto seed = random_seed(source.file);
      if (!seed) errors.push_back({Errc::usage, "'" + text + "' has no number as seed", "--input"});
      source.seed = seed.value_or(0);
      source.file.clear();
    }
    for (const InputSource& other : out.inputs)
      if (other.name == source.name)
        errors.push_back({Errc::usage, "'" + source.name + "' is given twice", "--input"});
    out.inputs.push_back(std::move(source));
  }
  if (!errors.empty()) return errors;
  return ok();
}

Result<RunRequest> RunCommand::make_request() const {
  Errors errors;
  RunRequest out;
  out.model = model_.model_path();
  const Result<ElaborateOptions> elaborate = model_.to_elaborate_options();
  if (elaborate)
    out.elaborate = *elaborate;
  else
    errors = elaborate.errors();
  if (const Status inputs = parse_inputs(out); !inputs)
    errors.insert(errors.end(), inputs.errors().begin(), inputs.errors().end());
  if (!weights_.empty()) {
    out.weight_seed = random_seed(weights_);
    if (!out.weight_seed)
      errors.push_back({Errc::usage, "'" + weights_ + "' is not random:SEED", "--weights"});
  }
  check_options(errors);
  out.count = count_;
  out.calibrate = calibrate_;
  out.percentile = percentile_;
  out.output = output_;
  out.dump = dump_;
  out.raw = raw_;
  out.threads = threads_;
  out.reals = int8_;
  if (!errors.empty()) return errors;
  return out;
}

Result<PreparedRun> RunCommand::prepare_model(const RunRequest& wanted) const {
  std::optional<PreparedRun> out;
  const Status done = model_.with_onnx([&](const std::string& onnx) -> Status {
    RunRequest of_file = wanted;
    of_file.model = onnx;
    Result<PreparedRun> prepared = prepare_run(of_file);
    if (!prepared) return prepared.errors();
    prepared->graph.file = wanted.model;
    out = std::move(*prepared);
    return ok();
  });
  if (!done) return done.errors();
  return std::move(*out);
}

int RunCommand::run(const Console& console) const {
  Journal journal(console.is_verbose());
  Result<RunRequest> wanted = make_request();
  if (!wanted) return report_errors(wanted.errors());
  std::string machine_file = hw_;
  std::optional<hw::HwConfig> machine;
  if (int8_) {
    if (hw_.empty()) {
      const Result<std::filesystem::path> data = data_folder();
      if (!data) return report_errors(data.errors());
      machine_file = find_machine("64x64");
    }
    Result<hw::HwConfig> loaded = load_machine(machine_file);
    if (!loaded) return report_errors(loaded.errors());
    machine = std::move(*loaded);
  }
  if (machine) journal.note_read("machine", machine_file);
  journal.note_read("model", wanted->model);
  for (const InputSource& input : wanted->inputs)
    if (!input.file.empty()) journal.note_read("input " + input.name, input.file);
  Result<PreparedRun> prepared = prepare_model(*wanted);
  if (!prepared) return report_errors(prepared.errors());
  journal.note_step("machine, model and inputs read");
  std::string text;
  for (const std::string& symbol : prepared->graph.defaulted)
    text += fmt::format("symbol '{}': 1 (no --bind)\n", symbol);
  for (const std::string& name : prepared->defaulted)
    text += fmt::format("input '{}': random:0 (no --input)\n", name);
  Progress progress;
  wanted->progress = [&](size_t done, size_t of) {
    progress(static_cast<int64_t>(done), static_cast<int64_t>(of), network_ ? "runs" : "nodes");
    return true;
  };
  const Result<RunSummary> summary =
      network_  ? run_int8_network(*prepared, *wanted, *machine)
      : machine ? run_quantised_network(*prepared, *wanted, *machine, layerwise_)
                : run_network(*prepared, *wanted);
  if (!summary) return report_errors(summary.errors());
  journal.note_step("computed, results written");
  if (machine)
    text += fmt::format("machine: {} ({}); {} products in int8{}{}\n", machine->name, machine_file,
                        summary->quantised,
                        machine->has_dot_products()
                            ? ", by tile programs of a systolic array of the same size"
                            : "",
                        layerwise_ ? ", each on the float run's values, of which the outputs are; "
                                     "their own results are in the dump (--dump)"
                                   : "");
  return print_results(*prepared, *summary, std::move(text));
}

int RunCommand::print_results(const PreparedRun& prepared, const RunSummary& summary,
                              std::string text) const {
  if (!json_.empty()) {
    if (const int code = write_result(json_, to_json(*summary.quality)); code != kExitOk)
      return code;
    if (json_ == "-") return kExitOk;
  }
  if (summary.result.random_weights > 0)
    text += fmt::format("weights: {} tensors drawn, {}\n", summary.result.random_weights, weights_);
  for (TensorId id : prepared.graph.outputs) {
    const std::string& name = prepared.graph.tensor(id).name;
    text += describe_array(fmt::format("output '{}'", name), summary.result.outputs.at(name));
  }
  if (summary.quality) text += to_text(*summary.quality);
  text += fmt::format("peak memory: {} bytes\n", summary.result.peak_bytes);
  for (const std::string& file : summary.written)
    text += fmt::format("written: {}/{}\n", output_, file);
  return print_wrapped(text);
}

}  // namespace accsim::sim
