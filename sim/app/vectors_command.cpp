#include "sim/app/vectors_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "hw/program/core_runs.h"
#include "sim/app/cli.h"
#include "sim/app/costed_model.h"
#include "sim/app/interrupt.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/app/progress.h"
#include "sim/quantise/quantised_case.h"
#include "sim/report/format.h"
#include "sim/report/write_folder.h"

namespace accsim::sim {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr int64_t kMostTries = 100;  ///< of random cases, for each program that is wanted

/// Errors about files in a folder that has another name until it is done.
Errors renamed_places(Errors errors, const std::string& until, const std::string& name) {
  for (Error& e : errors)
    if (e.where.starts_with(until)) e.where = name + e.where.substr(until.size());
  return errors;
}

}  // namespace

void VectorsCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "vectors", "Write inputs and results of tile programs as files, for RTL of your own");
  sub_->footer =
      "The folder has manifest.json, lists of commands (JSON lines) and numbers (.npy, .hex for "
      "$readmemh). Each of several programs has a folder of its own in it. docs/vectors.md "
      "describes the files.\n"
      "Exit codes: 0 done, 1 interrupted, 2 input that can't be used.";
  sub_->add({{.name = "--hw",
              .to = &hw_,
              .about = "Machine: a description (YAML) or a name, e.g. 64x64",
              .kind = ValueKind::machine,
              .required = true},
             {.name = "-o,--output",
              .to = &output_,
              .about = "Folder to write. An earlier folder of vectors is replaced",
              .kind = ValueKind::written_folder,
              .required = true}});
  model_.add_to(*sub_, false);
  model_.add_torch_to(*sub_);
  model_.add_attention_to(*sub_);
  model_.add_programs_to(*sub_);
  add_case_options();
  mapping_.add_to(*sub_);
}

void VectorsCommand::add_case_options() {
  sub_->add(
      {{.name = "--gemm",
        .to = &gemms_,
        .about = "Write vectors of one product, e.g. 100x200x300",
        .metavar = "MxKxN"},
       {.name = "--conv",
        .to = &convs_,
        .about = "Write vectors of one convolution: N,C,H,W,K,R,S,stride,pad,dilation,groups",
        .metavar = "LIST"},
       {.name = "--random",
        .to = &random_,
        .about = "Write vectors of that many random programs of all commands",
        .metavar = "COUNT",
        .range = OptionRange{1, 10'000}},
       {.name = "--layer",
        .to = &layer_,
        .about =
            "Write vectors of one layer of a model, by name or by place in the report, from 0. "
            "Golden runs the layers before it, and cycles begin with it",
        .metavar = "LAYER"},
       {.name = "--from",
        .to = &layers_.from,
        .about = "Begin with this layer of a model",
        .metavar = "LAYER"},
       {.name = "--until",
        .to = &layers_.until,
        .about = "End with this layer of a model",
        .metavar = "LAYER"},
       {.name = "--level",
        .to = &level_,
        .about =
            "command: all commands with descriptors, tokens, cycles and memory. tile: operands and "
            "results of the array alone",
        .choices = {"command", "tile"},
        .shows_default = true},
       {.name = "--format",
        .to = &format_,
        .about = "Files of numbers: .npy, .hex or both",
        .choices = {"npy", "hex", "both"},
        .shows_default = true},
       {.name = "--seed",
        .to = &seed_,
        .about = "Seed of the random operands and programs",
        .shows_default = true},
       {.name = "--random-numbers",
        .to = &random_numbers_,
        .about =
            "Draw weights and scales at random. Default: weights of the file if it has them, and "
            "scales from a float run of random inputs"},
       {.name = "--jobs",
        .to = &jobs_,
        .about = "Threads of the float run that gives the scales",
        .range = OptionRange{1, 256},
        .shows_default = true}});
}

Status VectorsCommand::check_arguments() const {
  if (output_ == "-") return Error{Errc::usage, "is a folder: it has many files", "--output"};
  const bool given = !gemms_.empty() || !convs_.empty() || random_ > 0;
  if (given == !model_.model_path().empty())
    return Error{Errc::usage, "name a model, or --gemm, --conv or --random (and not both)",
                 "vectors"};
  for (const auto& [word, option] :
       {std::pair(&layer_, "--layer"), std::pair(&layers_.from, "--from"),
        std::pair(&layers_.until, "--until")})
    if (!word->empty() && given) return Error{Errc::usage, "is of a model", option};
  if (!layer_.empty() && !(layers_.from.empty() && layers_.until.empty()))
    return Error{Errc::usage, "is --from and --until in one: leave these out", "--layer"};
  if (random_numbers_ && given) return Error{Errc::usage, "is of a model", "--random-numbers"};
  return ok();
}

Result<std::vector<VerifyCase>> VectorsCommand::given_cases(const hw::HwConfig& hw) const {
  const auto options = mapping_.to_map_options();
  if (!options) return options.errors();
  auto out = named_products(gemms_, convs_, hw, *options);
  if (!out) return out.errors();
  const int64_t products = std::ssize(*out), all = products + random_;
  RandomSeries series{seed_};
  for (int64_t tries = 0; std::ssize(*out) < all; ++tries) {
    if (tries > kMostTries * random_)
      return Error{Errc::capacity, "its slots are too small for a random program of all commands",
                   hw_};
    for (VerifyCase& c : random_cases(1, series, hw, *options))
      if (c.mixed) out->push_back(std::move(c));
  }
  return out;
}

Result<VectorCase> VectorsCommand::make_network_case(const hw::HwConfig& hw,
                                                     Journal& journal) const {
  const Result<CostedModel> costed = cost_model(model_, mapping_, hw);
  if (!costed) return costed.errors();
  const Result<NetworkCase> made =
      random_numbers_ ? network_case(costed->graph, costed->network, hw, seed_)
                      : quantised_network_case(costed->graph, costed->network, hw, seed_, jobs_);
  if (!made) return made.errors();
  for (const std::string& layer : made->report.left_out)
    print_err(fmt::format("accsim: note: left out, as golden has no commands for it: {}\n", layer));
  LayerWords words = layers_;
  words.from_option = layer_.empty() ? "--from" : "--layer";
  if (!layer_.empty()) {
    words.from = words.until = layer_;
    words.until_option = words.from_option;
  }
  const Result<VerifiedLayers> layers = find_layers(words, costed->network, made->network);
  if (!layers) return layers.errors();
  journal.note_step(fmt::format("one program of {} made", made->network.parts.size()));
  Result<VectorCase> out = vector_case(*made, *layers);
  if (!out) return out.errors();
  out->what = model_.model_path();
  if (!words.from.empty()) out->what += ", from layer " + words.from;
  if (!words.until.empty()) out->what += ", until layer " + words.until;
  return out;
}

Result<std::vector<VectorCase>> VectorsCommand::make_cases(const hw::HwConfig& hw,
                                                           Journal& journal) const {
  std::vector<VectorCase> out;
  if (!model_.model_path().empty()) {
    Result<VectorCase> one = make_network_case(hw, journal);
    if (!one) return one.errors();
    out.push_back(std::move(*one));
    return out;
  }
  const auto given = given_cases(hw);
  if (!given) return given.errors();
  for (size_t i = 0; i < given->size(); ++i) out.push_back(vector_case((*given)[i], seed_, i));
  journal.note_step(fmt::format("{} programs made", out.size()));
  return out;
}

hw::VectorOptions VectorsCommand::vector_options() const {
  hw::VectorOptions out;
  out.level = level_ == "tile" ? hw::VectorLevel::tile : hw::VectorLevel::command;
  out.formats = {.npy = format_ != "hex", .hex = format_ != "npy"};
  return out;
}

Result<hw::VectorSummary> VectorsCommand::write_case(const VectorCase& c,
                                                     const std::string& version,
                                                     const std::string& folder) const {
  if (Status s = hw::verify(c.program, c.hw); !s) return s.errors();
  hw::VectorOptions options = vector_options();
  Progress progress;
  options.progress = [&](int64_t done, int64_t of) {
    progress(done, of, "commands, " + format_left(progress.elapsed_seconds(), done, of));
    return !InterruptGuard::requested();
  };
  return hw::write_vectors(c.program, c.hw, c.image, {version, hw_, c.what, seed_}, options,
                           folder);
}

int VectorsCommand::run(const Console& console, const std::string& version) const {
  Journal journal(console.is_verbose());
  journal.note_read("machine", hw_);
  if (!model_.model_path().empty()) journal.note_read("model", model_.model_path());
  const Result<hw::HwConfig> hw = load_machine(hw_);
  if (!hw) return report_errors(hw.errors());
  if (const Status good = check_arguments(); !good) return report_errors(good.errors());
  if (hw::core_lacks(*hw) == hw::CoreLack::dot_products)
    return report_errors(hw::rtl_describes(*hw).errors());
  if (hw::core_lacks(*hw) == hw::CoreLack::types)
    return report_errors({{Errc::unsupported,
                           "golden has int8 by int8 or int4 into int32, and no other types", hw_}});
  const InterruptGuard guard;
  const auto all = make_cases(*hw, journal);
  if (!all) return report_errors(all.errors());
  Result<FolderWriter> to = FolderWriter::create(output_, kManifest);
  if (!to) return report_errors(to.errors());
  std::string text;
  for (size_t i = 0; i < all->size(); ++i) {
    std::filesystem::path folder = to->temporary_folder();
    if (all->size() > 1) {
      folder /= hw::folder_of(i);
      std::filesystem::create_directory(folder);
    }
    const Result<hw::VectorSummary> done = write_case((*all)[i], version, folder.string());
    if (InterruptGuard::requested()) return kExitFailed;
    if (!done)
      return report_errors(renamed_places(done.errors(), to->temporary_folder().string(), output_));
    text += fmt::format("{}: {} commands, {} cycles, {} of numbers\n", (*all)[i].what,
                        format_count(done->commands), format_count(done->cycles),
                        format_si(static_cast<double>(done->bytes), "B"));
  }
  if (all->size() > 1)
    if (const Status good = hw::write_index(to->temporary_folder(), all->size()); !good)
      return report_errors(good.errors());
  if (const Status good = to->commit(); !good) return report_errors(good.errors());
  journal.note_step("written to " + output_);
  return print_out(text);
}

}  // namespace accsim::sim
