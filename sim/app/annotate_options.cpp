#include "sim/app/annotate_options.h"

#include "sim/app/cli.h"
#include "sim/app/output.h"
#include "sim/cost/annotate.h"

namespace accsim::sim {

void AnnotateOptions::add_to(Command& command) {
  command.add(
      "Output",
      {{.name = "--annotate",
        .to = &file_,
        .about =
            "Write the model with the costs of each node as metadata, which Netron shows; - for "
            "stdout",
        .kind = ValueKind::written_file}});
}

int AnnotateOptions::write_annotated(const ModelOptions& model, const Report& report,
                                     const std::string& command) const {
  if (file_.empty()) return kExitOk;
  const Result<ElaborateOptions> elaborate = model.to_elaborate_options();
  if (!elaborate) return report_errors(elaborate.errors());
  const Result<PatchedFile> patched =
      annotate_with_report({model.model_path(), *elaborate, file_, command}, report);
  if (!patched) return report_errors(patched.errors());
  return write_pieces(file_, [&](const TextSink& sink) {
    for (const std::string_view piece : patched->pieces())
      if (const Status written = sink(piece); !written) return written;
    return ok();
  });
}

}  // namespace accsim::sim
