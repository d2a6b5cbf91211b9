#include "hw/vectors/json_lines.h"

namespace accsim::hw {

using Json = nlohmann::ordered_json;

void JsonLines::add_line(const Json& line) {
  out_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Status JsonLines::close() {
  out_.close();
  if (!out_.fail()) return ok();
  return Error{Errc::io, "can't be written (is the disk full?)", file_.string()};
}

Json line_head(const RetiredCommand& r, const StreamedCommand& c) {
  Json loops = Json::array();
  for (const auto& [name, index] : c.loops) loops.push_back({name, index});
  Json out{{"command", r.ordinal}, {"name", c.name}};
  if (!c.layer.empty()) out["layer"] = c.layer;
  out["loops"] = std::move(loops);
  return out;
}

}  // namespace accsim::hw
