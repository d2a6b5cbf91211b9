#include "sim/app/cut_command.h"

#include <fmt/format.h>

#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/moved_weights.h"
#include "sim/app/output.h"
#include "sim/report/assumptions.h"
#include "sim/rewrite/part.h"

namespace accsim::sim {
namespace {

std::string part_summary(const PartModel& part, const std::string& model,
                         const std::string& output) {
  std::string out;
  const auto list = [&](const char* what, const std::vector<ValueDef>& values) {
    for (const ValueDef& value : values) {
      Dims dims;
      for (const DimDef& dim : value.dims.value_or(std::vector<DimDef>()))
        dims.push_back(dim.value);
      out +=
          fmt::format("{} '{}': {}{}{}{}\n", what, value.name, value.is_optional ? "optional " : "",
                      value.is_sequence ? "sequence of " : "", name(value.dtype),
                      value.is_sequence ? "" : " " + accsim::to_string(dims));
    }
  };
  list("input", part.inputs);
  list("output", part.outputs);
  for (const auto& [symbol, size] : part.bindings)
    out += fmt::format("symbol '{}' is {} now\n", symbol, size);
  for (const std::string& text : assumption_texts(part.assumed))
    out += fmt::format("assumed {}\n", text);
  for (const std::string& line : moved_weights(part.external, model, output)) out += line + "\n";
  return out + fmt::format("{}: {} of {} nodes\n", output, part.nodes, part.of_nodes);
}

}  // namespace

void CutCommand::add_to(Command& program) {
  sub_ = &program.add_command("cut",
                              "Write a layer, or several successive layers, as a model of its own");
  sub_->footer =
      "In the written model each symbolic dimension has the size that --bind gives (default 1).\n"
      "Exit codes: 0 done, 2 input that can't be used.";
  model_.add_to(*sub_, true,
                "ONNX model file. The written model has the weights that the part reads");
  model_.add_cut_to(*sub_);
  sub_->add(
      {{.name = "-o,--output",
        .to = &output_,
        .about = "Model file to write",
        .kind = ValueKind::written_file,
        .required = true},
       {.name = "--embed",
        .to = &embed_,
        .about =
            "Put weights from files beside the model into the written model, which must be smaller "
            "than 2 GiB"}});
}

int CutCommand::run() const {
  const auto elaborate = model_.to_elaborate_options();
  if (!elaborate) return report_errors(elaborate.errors());
  const Result<PartModel> part = part_model(model_.model_path(), *elaborate, embed_);
  if (!part) return report_errors(part.errors());
  if (const int code = write_result(output_, part->bytes); code != kExitOk) return code;
  return output_ == "-" ? kExitOk
                        : print_wrapped(part_summary(*part, model_.model_path(), output_));
}

}  // namespace accsim::sim
