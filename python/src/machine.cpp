#include "python/src/machine.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>

#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/find_machine.h"
#include "hw/config/load.h"
#include "hw/config/machine_edits.h"
#include "hw/config/mode_list.h"
#include "python/src/errors.h"
#include "python/src/values.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

/// A machine that was read and checked. Never changes.
struct Machine {
  hw::HwConfig hw;
};

/// The fields of a machine below "array", "buffers.weight", ...
struct Section {
  hw::HwConfig hw;
  std::string path;
};

std::string machine_folder() { return data_folder() + "/configs"; }

bool exists(const hw::Field& field, const hw::HwConfig& hw) {
  return (!field.only || field.only->holds(hw)) && !is_absent(field, hw);
}

nb::object value_of(const hw::Field& field, const hw::HwConfig& hw);

nb::dict mode_dict(const hw::TypeMode& mode) {
  hw::HwConfig scratch;
  scratch.types.modes = {mode};
  nb::dict out;
  for (const hw::Field& key : hw::mode_fields())
    if (exists(key, scratch) && !is_derived(key, scratch))
      out[key.path.c_str()] = value_of(key, scratch);
  return out;
}

nb::dict entry_dict(const hw::ListEntry& entry) {
  nb::dict out;
  for (const auto& one : entry) {
    const auto* word = std::get_if<std::string>(&one.second);
    out[one.first.c_str()] =
        word != nullptr ? python_text(*word) : nb::object(nb::int_(std::get<int64_t>(one.second)));
  }
  return out;
}

nb::object value_of(const hw::Field& field, const hw::HwConfig& hw) {
  return std::visit(
      hw::FieldCases{
          [&](const hw::Member<int64_t>& m) -> nb::object { return nb::int_(m.in(hw)); },
          [&](const hw::Member<double>& m) -> nb::object { return nb::float_(m.in(hw)); },
          [&](const hw::Member<hw::DerivableNumber>& m) -> nb::object {
            return nb::float_(m.in(hw).value);
          },
          [&](const hw::Member<hw::ByteRate>& m) -> nb::object {
            return nb::float_(m.in(hw).value());
          },
          [&](const hw::Member<std::string>& m) { return python_text(m.in(hw)); },
          [&](const hw::Member<std::vector<hw::Dataflow>>& m) -> nb::object {
            nb::list names;
            for (const hw::Dataflow d : m.in(hw)) names.append(python_text(name(d)));
            return names;
          },
          [&](const hw::Member<std::vector<hw::TypeMode>>& m) -> nb::object {
            nb::list modes;
            for (const hw::TypeMode& mode : m.in(hw)) modes.append(mode_dict(mode));
            return modes;
          },
          [&]<hw::EngineEntry T>(const hw::Member<std::vector<T>>&) -> nb::object {
            nb::list entries;
            for (const hw::ListEntry& entry : engine_entries(field, hw))
              entries.append(entry_dict(entry));
            return entries;
          },
          [&]<class Enum>(const hw::Member<Enum>& m) { return python_text(name(m.in(hw))); }},
      field.target);
}

/// The field or section of that dotted path; a null object for neither.
nb::object find(const hw::HwConfig& hw, const std::string& path) {
  for (const hw::Field& field : hw::fields()) {
    if (!exists(field, hw)) continue;
    if (field.path == path) return value_of(field, hw);
    if (field.path.starts_with(path + ".")) return nb::cast(Section{hw, path});
  }
  return {};
}

nb::object item(const hw::HwConfig& hw, const std::string& path) {
  nb::object found = find(hw, path);
  if (!found.is_valid()) throw nb::key_error(("no field '" + path + "'").c_str());
  return found;
}

nb::object attribute(const hw::HwConfig& hw, const std::string& path) {
  nb::object found = find(hw, path);
  if (!found.is_valid()) throw nb::attribute_error(("no field '" + path + "'").c_str());
  return found;
}

/// Names one level below a path ("" is the machine).
std::vector<std::string> names_below(const hw::HwConfig& hw, const std::string& path) {
  const std::string prefix = path.empty() ? "" : path + ".";
  std::vector<std::string> out;
  for (const hw::Field& field : hw::fields()) {
    if (!exists(field, hw) || !field.path.starts_with(prefix)) continue;
    const std::string rest = field.path.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  }
  return out;
}

/// Is it a number that follows from others?
bool follows(const hw::HwConfig& hw, const std::string& path) {
  const hw::Field* const field = hw::find_field(path);
  return field != nullptr && is_derived(*field, hw);
}

/// What a file says: read again, it is the same machine.
nb::dict to_dict(const hw::HwConfig& hw, const std::string& path) {
  nb::dict out;
  for (const std::string& name : names_below(hw, path)) {
    std::string below = path;
    if (!below.empty()) below += '.';
    below += name;
    if (follows(hw, below)) continue;
    nb::object found = find(hw, below);
    out[name.c_str()] = nb::isinstance<Section>(found) ? nb::object(to_dict(hw, below)) : found;
  }
  return out;
}

/// One value of an edit or of a dict.
hw::FieldText field_text(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return {};
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    std::vector<std::string> words;
    if (!nb::try_cast(value, words)) return {};
    return words;
  }
  if (PyNumber_Check(value.ptr()) == 0) return {};
  return nb::cast<double>(nb::float_(value));
}

hw::HwConfig replace(const hw::HwConfig& hw, const nb::dict& changes) {
  hw::MachineEdits edits;
  for (const auto [path, value] : changes)
    edits.emplace_back(nb::cast<std::string>(path), field_text(value));
  hw::EditedMachine edited = hw::edit_machine(hw, edits);
  if (edited.errors.empty()) return std::move(edited.hw);
  Errors errors;
  for (hw::FieldError& e : edited.errors)
    // Most messages name the field themselves.
    errors.push_back({Errc::invalid, e.message, e.message.starts_with("is ") ? e.path : ""});
  throw RaisedErrors(std::move(errors));
}

hw::HwConfig load(nb::handle given) {
  if (nb::isinstance<nb::dict>(given)) {
    // JSON is YAML, one key a line; parse_hw() says what is wrong with it.
    const auto text = nb::module_::import_("json").attr("dumps")(given, nb::arg("indent") = 1);
    return unwrap(hw::parse_hw(nb::cast<std::string>(text), "machine"));
  }
  if (!is_path(given))
    throw nb::type_error(
        "a machine is a Machine, a shipped or known machine's name, a path or a dict");
  const std::string path = path_of(given);
  const std::string file = hw::machine_file(path, machine_folder());
  if (hw::is_missing(file))
    if (std::string text = hw::missing_machine(path, machine_folder()); !text.empty())
      throw RaisedErrors({{Errc::io, std::move(text), path}});
  hw::HwConfig out = unwrap(hw::load_hw(file));
  if (file != path) out.file = path;  // a name, wherever it lies on this computer
  return out;
}

std::string summary(const Machine& m) {
  return "<accsim.Machine '" + m.hw.name + "', " + std::to_string(m.hw.array.rows) + "x" +
         std::to_string(m.hw.array.cols) + ">";
}

constexpr const char* kLoad =
    "A machine by its name (Machine.shipped() and Machine.known() list them), by the path of a\n"
    "YAML file, or as a dict with the file's keys. It is checked like a file: everything that is\n"
    "wrong is in the accsim.Error's causes.";
constexpr const char* kReplace =
    "The machine with some fields changed, by dotted names as in the file:\n"
    "hw.replace({\"array.rows\": 128, \"dram.read_bytes_per_cycle\": 200}). Types, ranges and\n"
    "rules are checked as those of a file, and unknown names get the nearest known one.";

void add_section(nb::module_& module) {
  nb::class_<Section>(module, "MachineSection", "Fields of a machine with one beginning.")
      .def(
          "__getattr__",
          [](const Section& s, const std::string& name) {
            return attribute(s.hw, s.path + "." + name);
          },
          nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def("__dir__", [](const Section& s) { return names_below(s.hw, s.path); })
      .def(
          "to_dict", [](const Section& s) { return to_dict(s.hw, s.path); },
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("__repr__", [](const Section& s) {
        return nb::str("{}: {}").format(s.path, to_dict(s.hw, s.path));
      });
}

void add_state(nb::class_<Machine>& type) {
  type.def(
          "__eq__",
          [](const Machine& m, nb::handle other) {
            return nb::isinstance<Machine>(other) &&
                   hw::print_hw(m.hw) == hw::print_hw(nb::cast<const Machine&>(other).hw);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Machine& m) { return nb::hash(nb::str(hw::print_hw(m.hw).c_str())); })
      .def("__repr__", summary)
      .def("__getstate__",
           [](const Machine& m) { return std::pair(hw::print_hw(m.hw), m.hw.file); })
      .def("__setstate__", [](Machine& m, const std::pair<std::string, std::string>& state) {
        new (&m) Machine{unwrap(hw::parse_hw(state.first, state.second))};
      });
}

}  // namespace

hw::HwConfig machine_of(nb::handle given) {
  return nb::isinstance<Machine>(given) ? nb::cast<const Machine&>(given).hw : load(given);
}

void add_machine(nb::module_& module) {
  add_section(module);
  nb::class_<Machine> type(
      module, "Machine",
      "A machine: every field of its YAML file, checked. It never changes; replace()\n"
      "makes another. Fields are attributes and items: hw.array.rows,\n"
      "hw[\"array.rows\"]; units and meanings: configs/README.md.");
  type.def_static(
          "load", [](nb::handle given) { return Machine{machine_of(given)}; }, nb::arg("machine"),
          kLoad,
          nb::sig("def load(machine: Machine | str | bytes | os.PathLike[str] | "
                  "dict[str, typing.Any]) -> Machine"))
      .def_static(
          "shipped", [] { return hw::shipped_machines(machine_folder()); },
          "Names of the machines that come with accsim.")
      .def_static(
          "known", [] { return hw::known_machines(machine_folder()); },
          "Names of the machines that exist, as published of them, which come with accsim, too.")
      .def(
          "replace",
          [](const Machine& m, const nb::dict& changes) { return Machine{replace(m.hw, changes)}; },
          nb::arg("changes"), kReplace,
          nb::sig("def replace(self, changes: dict[str, typing.Any]) -> Machine"))
      .def_prop_ro(
          "file", [](const Machine& m) { return python_text(m.hw.file); },
          "The file that the machine was read from.", nb::sig("def file(self) -> str"))
      .def(
          "to_yaml", [](const Machine& m) { return hw::print_hw(m.hw); },
          "The machine as commented YAML, which load() reads back to the same machine.")
      .def(
          "to_dict", [](const Machine& m) { return to_dict(m.hw, ""); },
          "All fields, nested as in the file, but for energies that follow from the technology.",
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def(
          "__getattr__",
          [](const Machine& m, const std::string& name) { return attribute(m.hw, name); },
          nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def(
          "__getitem__", [](const Machine& m, const std::string& path) { return item(m.hw, path); },
          nb::sig("def __getitem__(self, path: str, /) -> typing.Any"))
      .def("__dir__", [](const Machine& m) {
        std::vector<std::string> out = names_below(m.hw, "");
        for (const char* method :
             {"file", "known", "load", "replace", "shipped", "to_dict", "to_yaml"})
          out.emplace_back(method);
        return out;
      });
  add_state(type);
}

}  // namespace accsim::python
