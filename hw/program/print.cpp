#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>

#include "hw/program/program.h"
#include "hw/program/reach.h"
#include "hw/program/text_form.h"
#include "hw/program/text_scanner.h"
#include "hw/program/text_words.h"
#include "hw/program/vector_text_form.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

/// The steps of hw/program/text_form.h for who writes.
class FormWriter {
 public:
  explicit FormWriter(std::string& out) : out_(out) {}

  /// Loops around what follows have these words from now on.
  void name_loop(int id, std::string word) {
    const auto at = static_cast<size_t>(id);
    if (names_.size() <= at) names_.resize(at + 1);
    names_[at] = std::move(word);
  }

  void text(std::string_view literal) { out_ += literal; }
  bool option(bool there, std::string_view literal) {
    if (there) out_ += literal;
    return there;
  }
  bool peeks(bool there, std::string_view) { return there; }
  void quoted(const std::string& name) { out_ += "'" + escape_name(name, true) + "'"; }
  void tensor(int index) { out_ += fmt::format("%{}", index); }
  template <std::integral N>
  void number(N n) {
    out_ += fmt::format("{}", n);
  }
  template <class E>
  void choice(E value) {
    out_ += word_of(value);
  }
  template <class N, size_t kSize>
  void list(const std::array<N, kSize>& numbers, std::string_view separator) {
    out_ += fmt::format("{}", fmt::join(numbers, separator));
  }
  template <std::integral N>
  bool counted(bool there, std::string_view before, N n, std::string_view behind) {
    if (there) out_ += fmt::format("{}{}{}", before, n, behind);
    return there;
  }

  void sum(const Affine& a) {
    bool first = true;
    for (const Affine::Term& t : a.terms) {
      if (t.coeff == 0) continue;
      if (!std::exchange(first, false)) out_ += " + ";
      if (t.coeff != 1) out_ += fmt::format("{}*", t.coeff);
      out_ += names_[static_cast<size_t>(t.loop)];
    }
    if (first)
      out_ += fmt::format("{}", a.base);
    else if (a.base != 0)
      out_ +=
          fmt::format(" {} {}", a.base > 0 ? '+' : '-', multiply_far(a.base, a.base < 0 ? -1 : 1));
  }
  void walk(const Walk& w) {
    for (const Walk::Level& l : w.levels)
      out_ += fmt::format("{} (stride {}) x ", l.count, l.stride);
    out_ += fmt::format("{} bytes", w.run);
  }
  void overwrites(const std::vector<int>& first_of, bool accumulate) {
    if (accumulate || first_of.empty()) return text(accumulate ? "+=" : "=");
    std::vector<std::string> loops;
    for (int id : first_of) loops.push_back(names_[static_cast<size_t>(id)] + "=0");
    out_ += fmt::format("+= (= at {})", fmt::join(loops, ","));
  }
  void part(const OperandWindow& w, int64_t m) {
    if (m == product_of(w.count) && w.first == Affine()) return;
    sum(w.first);
    out_ += fmt::format("+{} of ", m);
  }

 private:
  std::string& out_;
  std::vector<std::string> names_;  ///< of loops, by id
};

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program), form_(out_) {}

  std::string print_program() {
    print_header();
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      out_ += fmt::format("  tensor %{} ", i);
      write_form(form_, program_.tensors[i]);
      out_ += '\n';
    }
    print_body();
    return std::move(out_);
  }

 private:
  void print_header() {
    std::string shown = escape_name(program_.name, false);
    if (shown.starts_with(' ')) shown.replace(0, 1, "\\x20");
    if (shown.ends_with(' ')) shown.replace(shown.size() - 1, 1, "\\x20");
    find_value<Dataflow>([&](Dataflow d) {  // what ends a header may not end it sooner
      const std::string word = fmt::format("({})", word_of(d));
      for (size_t at = 0; (at = shown.find(word, at)) != std::string::npos;)
        shown.replace(at, 1, "\\x28");
      return false;
    });
    out_ = fmt::format("program {} ({})", shown, name(program_.dataflow));
    int used = 0;
    visit_nest(program_.body, [&](const Loop& l, const auto& inner) {
      used = std::max(used, l.id + 1);
      inner();
    });
    form_.counted(program_.loops != used, ", ", program_.loops, " loops");
    out_ += '\n';
  }
  void print_body() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      form_.name_loop(l.id, loop_word(l));
      begin_line();
      out_ += fmt::format("for {} < {}:\n", loop_word(l), l.count);
      ++depth_;
      inner();
      --depth_;
    };
    const auto sync = [this](const Sync& s) {
      begin_line(s.queue);
      out_ += fmt::format("{} ", name(s.kind));
      if (s.region >= 0)
        form_.tensor(s.region);
      else
        form_.choice(s.buffer);
      out_ += '\n';
    };
    const auto mark = [this](const Mark& m) {
      begin_line(m.queue);
      out_ += fmt::format("{} %{}\n", m.waits ? "wait_marks" : "mark", m.tensor);
    };
    const auto head = [this](const LayerHead& h) {
      begin_line();
      write_form(form_, h);
      out_ += '\n';
    };
    const auto command = [this](const Command& c) {
      begin_line(queue_of(c));
      std::visit([this](const auto& kind) { write_form(form_, kind); }, c);
      out_ += '\n';
    };
    visit_nest(program_.body, Overloaded{loop, sync, mark, head, command});
  }
  void begin_line() { out_.append(2 * depth_, ' '); }
  void begin_line(Queue queue) {
    begin_line();
    out_ += fmt::format("{:<8}", name(queue));
  }

  const Program& program_;
  std::string out_;
  FormWriter form_;
  size_t depth_ = 1;
};

}  // namespace

std::string program_text(const Program& program) { return Printer(program).print_program(); }

}  // namespace accsim::hw
