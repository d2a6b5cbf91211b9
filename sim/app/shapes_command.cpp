#include "sim/app/shapes_command.h"

#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/report/shapes.h"

namespace accsim::sim {

void ShapesCommand::add_to(Command& program) {
  sub_ = &program.add_command("shapes", "Print element type and shape of every node output");
  model_.add_to(*sub_, true);
  model_.add_cut_to(*sub_);
  model_.add_torch_to(*sub_);
  sub_->add({{.name = "--json",
              .to = &json_,
              .about = "Write types and shapes as JSON {tensor: [dtype, dims]}; - for stdout",
              .kind = ValueKind::written_file}});
}

int ShapesCommand::run(const Console& console) const {
  Journal journal(console.is_verbose());
  auto options = model_.to_elaborate_options();
  if (!options) return report_errors(options.errors());
  options->as_written = true;
  journal.note_read("model", model_.model_path());
  const Result<Graph> graph = model_.load_model(*options);
  if (!graph) return report_errors(graph.errors());
  if (!json_.empty()) return write_result(json_, shapes_json(*graph));
  journal.note_step("model read, its shapes inferred");
  return print_out(shapes_text(*graph, Console::width()));
}

}  // namespace accsim::sim
