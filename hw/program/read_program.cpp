#include "hw/program/read_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "hw/program/form_reader.h"
#include "hw/program/text_form.h"
#include "hw/program/vector_text_form.h"
#include "sim/base/parse_number.h"

namespace accsim::hw {
namespace {

/// Reads one text.
class ProgramReader {
 public:
  ProgramReader(std::string_view text, const std::string& file)
      : scanner_(text, file), form_(scanner_, loops_) {}

  Result<std::vector<Program>> read() {
    std::vector<Program> out;
    while (scanner_.next_line() && scanner_.good()) {
      if (scanner_.indent() > 0) fail_here("a program begins at the line's first column");
      read_header();
      while (scanner_.good() && scanner_.next_line() && scanner_.indent() > 0) read_line();
      close_loops(0);
      out.push_back(std::exchange(program_, {}));
      if (!scanner_.good()) break;
    }
    if (out.empty()) scanner_.fail_expected("a program");
    if (!scanner_.good()) return scanner_.error();
    return out;
  }

 private:
  /// A loop whose body isn't complete.
  struct Body {
    Loop loop;
    size_t indent;                     ///< of its first line
    std::optional<size_t> inner = {};  ///< indent of what is in it
  };

  void fail_here(const std::string& message) {
    scanner_.fail_at(scanner_.position(), Errc::parse, message);
  }

  // "program 'a layer' (weight_stationary), 12 loops"
  void read_header() {
    scanner_.expect("program");
    if (!scanner_.good()) return;
    const std::string end = header_end();
    if (end.empty())
      return scanner_.fail_expected(
          "a program's name, and behind it, at the end of the line, its "
          "dataflow: (weight_stationary), (input_stationary) or (output_stationary)");
    program_.name = scanner_.name_before(end);
    form_.text("(");
    form_.choice(program_.dataflow);
    form_.text(")");
    const size_t at = scanner_.position();
    form_.counted(true, ", ", program_.loops, " loops");
    if (program_.loops < 0 || program_.loops > kMostLoopId)
      scanner_.fail_at(at, Errc::capacity, fmt::format("at most {} loops", kMostLoopId));
    scanner_.end_line();
    form_.set_tensors(0);
    items_ = 0;
    tensors_end_ = false;
    body_indent_ = {};
  }
  /// "(weight_stationary)": what ends the header.
  std::string header_end() {
    size_t first = std::string_view::npos;
    std::string out;
    find_value<Dataflow>([&](Dataflow d) {
      const std::string word = fmt::format("({})", word_of(d));
      const size_t at = scanner_.find_at_line_end(word);
      if (at < first) out = word;
      first = std::min(first, at);
      return false;
    });
    return out;
  }

  void read_line() {
    if (scanner_.accept("tensor %")) return read_tensor();
    tensors_end_ = true;
    close_loops(scanner_.indent());
    check_indent();
    if (++items_ > kMostProgramItems)
      scanner_.fail_at(scanner_.position(), Errc::capacity,
                       fmt::format("more than {} lines of a program", kMostProgramItems));
    if (!scanner_.good()) return;
    if (scanner_.peek("for")) return read_loop();
    if (scanner_.peek("layer")) {
      LayerHead head;
      write_form(form_, head);
      return add_item({std::move(head)});
    }
    read_queue_line();
  }

  // "tensor %2 dram 1000 bytes 'output'"
  void read_tensor() {
    const auto count = static_cast<int64_t>(program_.tensors.size());
    if (tensors_end_) return fail_here("tensors stand before all other lines of a program");
    if (count == static_cast<int64_t>(kMostProgramTensors))
      return fail_here(fmt::format("more than {} tensors", kMostProgramTensors));
    const size_t at = scanner_.position();
    int64_t number = 0;
    form_.number(number);
    if (number != count)
      scanner_.fail_at(at, Errc::parse, fmt::format("the next tensor is %{}", count));
    ProgramTensor tensor;
    form_.text(" ");
    write_form(form_, tensor);
    scanner_.end_line();
    program_.tensors.push_back(std::move(tensor));
    form_.set_tensors(program_.tensors.size());
  }

  void check_indent() {
    std::optional<size_t>& wanted = bodies_.empty() ? body_indent_ : bodies_.back().inner;
    if (!wanted) wanted = scanner_.indent();
    if (*wanted != scanner_.indent())
      fail_here(fmt::format("the lines before have {} spaces before them, this one has {}", *wanted,
                            scanner_.indent()));
  }
  /// Those that begin at this indent or behind it are complete.
  void close_loops(size_t indent) {
    while (!bodies_.empty() && bodies_.back().indent >= indent) {
      Loop loop = std::move(bodies_.back().loop);
      bodies_.pop_back();
      loops_.pop_back();
      current_body().push_back({std::move(loop)});
    }
  }
  std::vector<Item>& current_body() {
    return bodies_.empty() ? program_.body : bodies_.back().loop.body;
  }
  void add_item(Item item) {
    scanner_.end_line();
    if (scanner_.good()) current_body().push_back(std::move(item));
  }

  // "for k2 < 8:"
  void read_loop() {
    if (bodies_.size() == kMostLoopDepth)
      return fail_here(fmt::format("more than {} loops in one another", kMostLoopDepth));
    form_.text("for ");
    Loop loop;
    const std::string word = read_loop_word(loop);
    form_.text(" < ");
    form_.number(loop.count);
    form_.text(":");
    scanner_.end_line();
    if (!scanner_.good()) return;
    loops_.push_back({word, loop.id});
    program_.loops = std::max(program_.loops, loop.id + 1);
    bodies_.push_back({std::move(loop), scanner_.indent()});
  }
  std::string read_loop_word(Loop& loop) {
    std::string_view name = scanner_.accept_word();
    const size_t at = scanner_.position() - name.size();
    const std::string word(name);
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto id = parse_number<int>(name.substr(digits));
    if (!id || *id >= kMostLoopId || digits == 0) {
      scanner_.fail_at(
          at, Errc::parse,
          fmt::format("expected a loop's name with its number, 0 to {}: k2", kMostLoopId - 1));
      return word;
    }
    if (std::ranges::find(loops_, *id, &FormReader::OpenLoop::id) != loops_.end())
      scanner_.fail_at(at, Errc::parse, fmt::format("a loop around it has number {}, too", *id));
    name = name.substr(0, digits);
    if (name.ends_with('_')) name.remove_suffix(1);
    loop.id = *id;
    loop.name = name;
    return word;
  }

  void read_queue_line() {
    Queue queue = Queue::load;
    form_.choice(queue);
    if (!scanner_.good()) return;
    const size_t at = scanner_.next_position();
    const std::string word(scanner_.accept_word());
    if (word == "mark" || word == "wait_marks") return read_mark(queue, word == "wait_marks");
    scanner_.go_back(at);
    SyncKind kind{};
    const bool is_sync = find_value<SyncKind>([&](SyncKind k) {
      kind = k;
      return word_of(k) == word;
    });
    if (is_sync) {
      scanner_.accept_word();
      return read_sync(queue, kind);
    }
    const std::optional<Command> command = read_command(queue, word);
    if (!command) return scanner_.fail_expected("a command, a token or a mark");
    if (scanner_.good() && queue_of(*command) != queue)
      scanner_.fail_at(at, Errc::parse,
                       fmt::format("the {} queue runs this command", word_of(queue_of(*command))));
    add_item({*command});
  }
  void read_mark(Queue queue, bool waits) {
    Mark mark{waits, queue, 0};
    form_.tensor(mark.tensor);
    add_item({mark});
  }
  void read_sync(Queue queue, SyncKind kind) {
    Sync sync{kind, queue, Buffer{}};
    if (form_.peeks(true, "%"))
      form_.tensor(sync.region);
    else
      form_.choice(sync.buffer);
    add_item({sync});
  }

  template <class C>
  Command read_as(C command = {}) {
    write_form(form_, command);
    return command;
  }
  /// By the word that it begins with; nothing if it is none's.
  std::optional<Command> read_command(Queue queue, const std::string& word) {
    if (word == "load") return read_as<LoadCommand>();
    if (word == "gemm") return read_as<GemmCommand>();
    if (word == "drain") return read_as<DrainCommand>();
    if (word == "post") return read_as<PostCommand>();
    if (word == "store") return read_as<StoreCommand>();
    if (word == "stage") return read_as<StageCommand>();
    if (word == "vector") return read_as<VectorCommand>();
    if (word == "table") return read_as<SetTableCommand>({queue, {}});
    if (find_value<LaneOp>([&](LaneOp op) { return word_of(op) == word; }))
      return read_as<LaneCommand>();
    if (find_value<RowOp>([&](RowOp op) { return word_of(op) == word; }))
      return read_as<RowCommand>();
    return std::nullopt;
  }

  TextScanner scanner_;
  std::vector<FormReader::OpenLoop> loops_;
  FormReader form_;
  Program program_;
  std::vector<Body> bodies_;
  std::optional<size_t> body_indent_;
  size_t items_ = 0;
  bool tensors_end_ = false;
};

}  // namespace

Result<std::vector<Program>> parse_programs(std::string_view text, const std::string& file) {
  return ProgramReader(text, file).read();
}

Result<std::vector<Program>> read_programs(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec))
    return Error{Errc::io, "is a directory; give the path of a program file", path};
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{Errc::io, "can't be opened: " + std::generic_category().message(errno), path};
  std::string text;
  std::string piece(size_t{1} << 16, '\0');
  while (text.size() <= kMostProgramBytes && !in.eof()) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (in.bad()) return Error{Errc::io, "can't be read", path};
    text.append(piece, 0, static_cast<size_t>(in.gcount()));
  }
  if (text.size() > kMostProgramBytes)
    return Error{Errc::capacity,
                 fmt::format("larger than {} bytes; this is no program file", kMostProgramBytes),
                 path};
  return parse_programs(text, path);
}

}  // namespace accsim::hw
