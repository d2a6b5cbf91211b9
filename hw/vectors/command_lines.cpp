#include "hw/vectors/command_lines.h"

#include <array>

#include "hw/program/engines.h"
#include "hw/vectors/descriptor_json.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

const std::string& tensor_name(const Program& program, int tensor) {
  return program.tensors[static_cast<size_t>(tensor)].name;
}

Json tokens_json(const std::vector<Sync>& syncs, const Program& program) {
  Json out = Json::array();
  for (const Sync& s : syncs) {
    const std::string kind(name(s.kind));  // wait_full, signal_free ...
    Json one{{"token", kind.substr(kind.find('_') + 1)}};
    if (s.region < 0)
      one["buffer"] = name(s.buffer);
    else
      one["region"] = tensor_name(program, s.region);
    out.push_back(std::move(one));
  }
  return out;
}

Json marks_json(const std::vector<Mark>& marks, const Program& program) {
  Json out = Json::array();
  for (const Mark& m : marks) out.push_back(tensor_name(program, m.tensor));
  return out;
}

/// The buffers that commands of a queue read, with the slots that this one does.
Json slots_read(const Command& command, const QueueUnroller::Entry& core) {
  Json out = Json::object();
  if (std::holds_alternative<DrainCommand>(command)) return out;
  const auto* load = std::get_if<LoadCommand>(&command);
  if (load && !load->gather) return out;
  for (const Buffer b : engine_of(queue_of(command)).reads)
    out[std::string(name(b))] = core.slots[static_cast<size_t>(b)];
  return out;
}

void values_of(const RetiredCommand& r, ValueFiles& values, Json& line) {
  if (const auto* g = std::get_if<GemmCommand>(r.command)) values.write_operands(r, *g, line);
  if (!r.sums.empty()) {
    line["sums"] = values.write_sums(r);
    line["sums_in_array"] = r.in_array;
    line["overwrites"] = r.overwrites;
  }
  if (!r.scales.empty()) line["parameters"] = values.write_parameters(r);
  if (!r.bytes.empty()) line["bytes"] = values.write_bytes(r);
}

}  // namespace

CommandLines::CommandLines(const Program& program, const std::filesystem::path& folder,
                           NumberFormats formats)
    : program_(program),
      descriptors_(folder / "descriptors", formats, NumberType::uint32, rtl::kWords),
      lines_(folder / "commands.jsonl") {}

void CommandLines::add_core_fields(const RetiredCommand& r, const QueueUnroller::Entry& core,
                                   Json& line) {
  descriptors_.write_row(words_of(core));
  line["waits"] = tokens_json(core.waits, program_);
  line["signals"] = tokens_json(core.signals, program_);
  line["waits_for_marks"] = marks_json(core.waited_marks, program_);
  line["sets_marks"] = marks_json(core.marks, program_);
  line["fields"] = fields_of(*r.command, core.descriptor);
}

void CommandLines::add_command(const RetiredCommand& r, const StreamedCommand& c,
                               const CommandTime& time, ValueFiles& values) {
  Json line = line_head(r, c);
  line["queue"] = name(c.queue);
  line["ordinal"] = c.ordinal;
  line["kind"] = kind_of(*r.command);
  line["start"] = time.start;
  line["end"] = time.end;
  line["finish"] = time.finish;
  line["slot"] = r.slot;
  line["address"] = r.address;
  line["reads"] = slots_read(*r.command, *c.core);
  if (!c.is_drain) add_core_fields(r, *c.core, line);
  line["descriptor"] = descriptors_.size() - 1;
  if (const auto* store = std::get_if<StoreCommand>(r.command)) line["tensor"] = store->tensor;
  if (const auto* load = std::get_if<LoadCommand>(r.command)) {
    line["tensor"] = load->tensor;
    line["buffer"] = name(load->buffer);
  }
  values_of(r, values, line);
  lines_.add_line(line);
}

std::vector<std::pair<std::string, NumberFile*>> CommandLines::number_files() {
  return {{"descriptors", &descriptors_}};
}

}  // namespace accsim::hw
