#include "hw/vectors/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/cosim/bench_memory.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "accsim.vectors/1";

Status write_json(const std::filesystem::path& folder, const Json& manifest) {
  const std::filesystem::path to = folder / "manifest.json";
  std::ofstream out(to);
  out << manifest.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
  out.close();
  if (!out.fail()) return ok();
  return Error{Errc::io, "can't be written (is the disk full?)", to.string()};
}

Json file_json(const std::string& name, const NumberFile& f) {
  Json out{{"name", name}, {"type", accsim::hw::name(f.type())}};
  if (f.columns() > 0) {
    out["rows"] = f.size();
    out["columns"] = f.columns();
  } else {
    out["count"] = f.size();
  }
  return out;
}

Json tensors_json(const Program& program, bool with_bytes) {
  Json out = Json::array();
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const ProgramTensor& t = program.tensors[i];
    const int64_t number = memory_number(program, static_cast<int>(i));
    Json one{{"tensor", i},
             {"name", t.name},
             {"memory", name(t.memory)},
             {"bytes", t.bytes},
             {"base", (number << rtl::kTensorShift) + memory_offset(t)}};
    if (t.slots > 0) one["slots"] = t.slots;
    if (with_bytes) {
      one["before"] = memory_file("before", i);
      one["after"] = memory_file("after", i);
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json machine_json(const HwConfig& hw, const Program& program, const VectorOrigin& origin) {
  Json buffers = Json::object();
  for (size_t b = 0; b < kBuffers; ++b)
    buffers[std::string(name(static_cast<Buffer>(b)))] = {
        {"slots", hw.buffers[b].slots},
        {"slot_bytes", hw.buffers[b].slot_bytes()},
        {"port_bytes", hw.buffers[b].width}};
  return {{"file", origin.machine},
          {"rows", hw.array.rows},
          {"columns", hw.array.cols},
          {"accumulator_rows", hw.accumulator_rows()},
          {"dataflow", name(program.dataflow)},
          {"buffers", std::move(buffers)}};
}

}  // namespace

std::string memory_file(std::string_view when, size_t tensor) {
  return fmt::format("memory_{}/{:03}", when, tensor);
}

Status write_manifest(const Described& of,
                      const std::vector<std::pair<std::string, NumberFile*>>& files,
                      const std::filesystem::path& folder, VectorSummary& summary) {
  const auto& [program, hw, origin, options] = of;
  const bool whole = options.level == VectorLevel::command;
  Json out{{"schema", kSchema},
           {"accsim", origin.accsim},
           {"level", name(options.level)},
           {"program", origin.what},
           {"seed", origin.seed},
           {"machine", machine_json(hw, program, origin)},
           {"commands", summary.commands},
           {"cycles", summary.cycles}};
  if (!whole) {
    out["tiles"] = summary.tiles;
    out["posts"] = summary.posts;
  }
  out["formats"] = Json::array();
  if (options.formats.npy) out["formats"].push_back("npy");
  if (options.formats.hex) out["formats"].push_back("hex");
  out["tensors"] = tensors_json(program, whole);
  out["files"] = Json::array();
  for (const auto& [name, f] : files) {
    out["files"].push_back(file_json(name, *f));
    summary.bytes += f->size() * std::max<int64_t>(f->columns(), 1) * bytes_of(f->type());
  }
  return write_json(folder, out);
}

std::string folder_of(size_t i) { return fmt::format("{:04}", i); }

Status write_index(const std::filesystem::path& folder, size_t programs) {
  Json folders = Json::array();
  for (size_t i = 0; i < programs; ++i) folders.push_back(folder_of(i));
  return write_json(folder, {{"schema", kSchema}, {"programs", std::move(folders)}});
}

}  // namespace accsim::hw
