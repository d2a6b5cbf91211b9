#include "sim/app/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/config/find_machine.h"
#include "sim/app/paths.h"

namespace accsim::sim {
namespace {

/// What can follow an option, or stand as a positional.
enum class Follows : uint8_t { nothing, words, list, file, folder };

struct Value {
  Follows what = Follows::nothing;
  std::vector<std::string> words;  ///< that are offered; with files, too
  std::string ending;              ///< of files that are offered before all others; "" for none
};

/// Of the files that an argument takes; those of an option say by their kind what they are.
std::string ending_of(const OptionRow& row) {
  if (row.name == "model") return "onnx";
  if (row.name == "spec") return "yaml";
  const bool store = row.kind == ValueKind::awaited_store || row.kind == ValueKind::written_store;
  return store || row.name == "store" || row.name == "shards" ? "sqlite" : "";
}

Value value_of(const OptionRow& row) {
  if (!row.choices.empty()) return {Follows::words, row.choices, ""};
  if (!row.offers.empty()) return {row.is_list ? Follows::list : Follows::words, row.offers, ""};
  switch (row.kind) {
    case ValueKind::machine:
      return {Follows::file, hw::machine_names(machine_folder()), "yaml"};
    case ValueKind::read_file:
    case ValueKind::read_path:
    case ValueKind::written_file:
    case ValueKind::awaited_store:
    case ValueKind::written_store:
      return {Follows::file, {}, ending_of(row)};
    case ValueKind::read_folder:
    case ValueKind::written_folder:
      return {Follows::folder, {}, ""};
    case ValueKind::plain:
    case ValueKind::read_source:
    case ValueKind::command:
      break;
  }
  return {};
}

/// A command with what completion knows of it.
struct Completed {
  std::string path;  ///< without the program's name: "", "sweep show"
  std::vector<std::string> commands;
  std::vector<OptionRow> rows;
  Value positional;
};

void collect_commands(const Command& command, const std::string& path,
                      std::vector<Completed>& out) {
  Completed completed{path, {}, command.rows(), {}};
  for (const Command* sub : command.commands()) completed.commands.push_back(sub->name());
  for (const OptionRow& row : completed.rows)
    if (row.is_positional()) {
      completed.positional = value_of(row);
      break;
    }
  out.push_back(std::move(completed));
  for (const Command* sub : command.commands())
    collect_commands(*sub, path.empty() ? sub->name() : path + " " + sub->name(), out);
}

/// Where a command's words are asked for, those of all.
void offer_commands(std::vector<Completed>& commands) {
  std::vector<std::string> names;
  for (const Completed& command : commands)
    for (const std::string& name : command.commands)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (Completed& command : commands)
    for (const OptionRow& row : command.rows)
      if (row.kind == ValueKind::command) command.positional = {Follows::words, names, ""};
}

std::string join_words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

/// The pattern of a shell's case for "the command so far, then a word that goes on with it".
std::string subcommand_patterns(const std::vector<Completed>& commands) {
  std::string out;
  for (const Completed& command : commands)
    if (!command.path.empty()) {
      const std::string before = command.path.find(' ') == std::string::npos ? " " : "";
      out += fmt::format("{}\"{}{}\"", out.empty() ? "" : " | ", before, command.path);
    }
  return out;
}

// ---- bash ---------------------------------------------------------------------------------------

std::string bash_value(const Value& value) {
  const std::string list = join_words(value.words);
  switch (value.what) {
    case Follows::words:
      return fmt::format("_accsim_words \"{}\"", list);
    case Follows::list:
      return fmt::format("_accsim_list \"{}\"", list);
    case Follows::file:
      return fmt::format("_accsim_files \"{}\" \"{}\"", value.ending, list);
    case Follows::folder:
      return "_accsim_folders";
    case Follows::nothing:
      break;
  }
  return "COMPREPLY=()";
}

constexpr const char* kBashHead = R"(# bash completion of accsim. Made by: accsim completion bash

_accsim_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# Words of $1 with commas between them, each once.
_accsim_list() {
  local taken="" word
  if [[ $current == *,* ]]; then taken=${current%,*},; fi
  compopt -o nospace
  COMPREPLY=()
  for word in $1; do
    if [[ ,$taken != *",$word,"* && $taken$word == "$current"* ]]; then
      COMPREPLY+=("$taken$word")
    fi
  done
}

_accsim_folders() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen -d -- "$current")
}

# Files that end in $1 and folders, or any file where there are none; and the words $2.
_accsim_files() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(
    [[ -n $2 ]] && compgen -W "$2" -- "$current"
    [[ -n $1 ]] && compgen -f -X "!*.$1" -- "$current"
  )
  if ((${#COMPREPLY[@]} == 0)); then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
  fi
}

_accsim() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" i
  # "=" is a word of its own to bash.
  if [[ $current == = ]]; then current=""; fi
  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";

std::string bash_script(const std::vector<Completed>& commands) {
  std::string out = kBashHead;
  out += fmt::format("      {}) command=${{command:+$command }}${{COMP_WORDS[i]}} ;;\n",
                     subcommand_patterns(commands));
  out += "    esac\n  done\n  case \"$command:$previous\" in\n";
  for (const Completed& command : commands)
    for (const OptionRow& row : command.rows) {
      if (row.is_positional() || row.is_flag()) continue;
      std::string patterns;
      for (const std::string& spelling : row.spellings())
        patterns +=
            fmt::format("{}\"{}:{}\"", patterns.empty() ? "" : " | ", command.path, spelling);
      out += fmt::format("    {}) {}; return ;;\n", patterns, bash_value(value_of(row)));
    }
  out += "  esac\n  case \"$command\" in\n";
  for (const Completed& command : commands) {
    std::vector<std::string> options;
    for (const OptionRow& row : command.rows)
      if (!row.is_positional()) {
        const std::vector<std::string> spellings = row.spellings();
        options.insert(options.end(), spellings.begin(), spellings.end());
      }
    Value value = command.positional;
    if (!command.commands.empty()) {
      if (value.what == Follows::nothing) value.what = Follows::words;
      value.words.insert(value.words.end(), command.commands.begin(), command.commands.end());
    }
    out += fmt::format(
        "    \"{}\")\n      if [[ $current == -* ]]; then _accsim_words \"{}\"\n"
        "      else {}; fi ;;\n",
        command.path, join_words(options), bash_value(value));
  }
  return out + "  esac\n}\n\ncomplete -F _accsim accsim\n";
}

// ---- zsh ----------------------------------------------------------------------------------------

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Text of an _arguments specification, in which brackets and colons mean something.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const Value& value) {
  switch (value.what) {
    case Follows::words:
      return "(" + join_words(value.words) + ")";
    case Follows::list:
      return "{ _values -s , words " + join_words(value.words) + " }";
    case Follows::file: {
      std::string files =
          value.ending.empty() ? "_files" : fmt::format("_files -g \"*.{}(-.)\"", value.ending);
      if (value.words.empty()) return files;
      return fmt::format("{{ compadd -- {}; {} }}", join_words(value.words), files);
    }
    case Follows::folder:
      return "_files -/";
    case Follows::nothing:
      break;
  }
  return " ";
}

std::string zsh_script(const std::vector<Completed>& commands) {
  std::string out =
      "#compdef accsim\n# zsh completion of accsim. Made by: accsim completion zsh\n\n_accsim() {\n"
      "  local command=\"\" i taken=0\n  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$command ${words[i]}\" in\n";
  out += fmt::format(
      "      {}) command=${{command:+$command }}${{words[i]}}; taken=$((i - 1)) ;;\n", [&] {
        std::string patterns = subcommand_patterns(commands);
        for (size_t at = 0; (at = patterns.find("\" | \"", at)) != std::string::npos;)
          patterns.replace(at, 5, "\"|\"");
        return patterns;
      }());
  out +=
      "    esac\n  done\n  # What follows is about the command's own words.\n"
      "  if ((taken > 0)); then shift $taken words; ((CURRENT -= taken)); fi\n"
      "  case \"$command\" in\n";
  for (const Completed& command : commands) {
    out += fmt::format("    \"{}\")\n      _arguments -S", command.path);
    for (const OptionRow& row : command.rows) {
      if (row.is_positional()) continue;
      for (const std::string& spelling : row.spellings()) {
        const bool joined = !row.is_flag() && spelling.starts_with("--");  // --json=FILE, too
        std::string spec = (row.is_repeatable() ? "*" : "") + spelling + (joined ? "=" : "");
        spec += "[" + zsh_text(row.meaning_text()) + "]";
        if (!row.is_flag())
          spec += ":" + zsh_text(row.value_word()) + ":" + zsh_value(value_of(row));
        out += " \\\n        " + single_quoted(spec);
      }
    }
    Value value = command.positional;
    if (!command.commands.empty()) {
      if (value.what == Follows::nothing) value.what = Follows::words;
      value.words.insert(value.words.end(), command.commands.begin(), command.commands.end());
    }
    out += " \\\n        " + single_quoted("*:argument:" + zsh_value(value)) + " ;;\n";
  }
  return out +
         "  esac\n}\n\nif [[ $funcstack[1] == _accsim ]]; then _accsim \"$@\"; "
         "else compdef _accsim accsim; fi\n";
}

// ---- fish ---------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_value(const Value& value) {
  const std::string list = value.words.empty() ? "" : " -a " + fish_quoted(join_words(value.words));
  switch (value.what) {
    case Follows::words:
      return " -x" + list;
    case Follows::list:
      return " -x -a " + fish_quoted("(__fish_append , " + join_words(value.words) + ")");
    case Follows::file:
      return " -rF" + list;
    case Follows::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Follows::nothing:
      break;
  }
  return " -x";
}

std::string fish_script(const std::vector<Completed>& commands) {
  std::string patterns;
  for (const Completed& command : commands)
    if (!command.path.empty())
      patterns +=
          fish_quoted((command.path.find(' ') == std::string::npos ? " " : "") + command.path) +
          " ";
  std::string out = fmt::format(
      "# fish completion of accsim. Made by: accsim completion fish\n\n"
      "function __accsim_is --description 'Is this the command that is being typed?'\n"
      "    set -l command ''\n    set -l words (commandline -opc)\n"
      "    for word in $words[2..]\n        switch \"$command $word\"\n"
      "            case {}\n                set command (string trim -- \"$command $word\")\n"
      "        end\n    end\n    test \"$command\" = \"$argv[1]\"\nend\n\ncomplete -c accsim -f\n",
      patterns);
  for (const Completed& command : commands) {
    const std::string when =
        fmt::format("complete -c accsim -n {}", fish_quoted("__accsim_is '" + command.path + "'"));
    for (const OptionRow& row : command.rows) {
      if (row.is_positional()) continue;
      out += when;
      for (const std::string& spelling : row.spellings())
        out +=
            spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
      out += (row.is_flag() ? "" : fish_value(value_of(row))) + " -d " +
             fish_quoted(row.meaning_text()) + "\n";
    }
    if (!command.commands.empty())
      out += when + " -a " + fish_quoted(join_words(command.commands)) + "\n";
    if (command.positional.what == Follows::file)
      out += when + " -F" +
             (command.positional.words.empty()
                  ? ""
                  : " -a " + fish_quoted(join_words(command.positional.words))) +
             "\n";
    if (command.positional.what == Follows::folder)
      out += when + " -a '(__fish_complete_directories)'\n";
    if (command.positional.what == Follows::words)
      out += when + " -a " + fish_quoted(join_words(command.positional.words)) + "\n";
  }
  return out;
}

}  // namespace

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const Command& program, const std::string& shell) {
  std::vector<Completed> commands;
  collect_commands(program, "", commands);
  offer_commands(commands);
  return shell == "bash"  ? bash_script(commands)
         : shell == "zsh" ? zsh_script(commands)
                          : fish_script(commands);
}

}  // namespace accsim::sim
