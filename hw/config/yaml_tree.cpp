#include "hw/config/yaml_tree.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <optional>
#include <streambuf>
#include <utility>

#include "sim/base/file_kind.h"

namespace accsim::hw {
namespace {

TextPosition text_position(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

/// Builds the tree from parser events. What we refuse is thrown as the parser's own exception, so
/// that parse_yaml has one place to turn either into an Error.
class TreeBuilder : public YAML::EventHandler {
 public:
  std::optional<YamlNode> root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "one file holds one machine; remove this second document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (wants_key()) refuse(mark, "a key must be a word");
    add_node({YamlNode::Kind::null, text_position(mark), {}, false, {}, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark, 1); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (wants_key()) {
      open_.back().entries.push_back({value, text_position(mark), {}});
      has_key_.back() = true;
      return;
    }
    add_node({YamlNode::Kind::scalar, text_position(mark), value, tag == "!", {}, {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_node(YamlNode::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close_node(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_node(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close_node(); }

 private:
  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& why) {
    throw YAML::ParserException(mark, why);
  }
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      refuse(mark, "anchors and aliases (& and *) are not accepted; write the value out");
  }
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark, "tags (!) are not accepted; each key has its one type");
  }

  bool wants_key() const {
    return !open_.empty() && open_.back().kind == YamlNode::Kind::map && !has_key_.back();
  }

  void open_node(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                 YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (wants_key()) refuse(mark, "a key must be a word");
    if (open_.size() == kYamlDepthMax)
      refuse(mark, fmt::format("nested more than {} levels deep", kYamlDepthMax));
    open_.push_back({kind, text_position(mark), {}, false, {}, {}});
    has_key_.push_back(false);
  }

  void close_node() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    has_key_.pop_back();
    add_node(std::move(node));
  }

  void add_node(YamlNode node) {
    if (open_.empty()) {
      root = std::move(node);
    } else if (open_.back().kind == YamlNode::Kind::sequence) {
      open_.back().items.push_back(std::move(node));
    } else {
      open_.back().entries.back().value = std::move(node);
      has_key_.back() = false;
    }
  }

  std::vector<YamlNode> open_;
  std::vector<bool> has_key_;  ///< beside open_: a key was read whose value hasn't come yet
  int documents_ = 0;
};

/// Length of the UTF-8 sequence at the head of `text`; 0 when it isn't one.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points beyond U+10FFFF.
  const bool outside = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                       (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return outside ? 0 : length;
}

bool is_control(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u < 0x20 && c != '\n' && c != '\r' && c != '\t') || u == 0x7F;
}

/// Position of the first byte that isn't text. The parser takes some control characters for its own
/// end marks, so they must not reach it.
std::optional<TextPosition> find_non_text(std::string_view text) {
  TextPosition at;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    if (length == 0 || is_control(text[i])) return at;
    at.column += 1;
    if (text[i] == '\n') at = {at.line + 1, 1};
    i += length;
  }
  return std::nullopt;
}

/// Lets the parser read `text` in place.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string& text) {
    setg(text.data(), text.data(), text.data() + text.size());
  }
};

}  // namespace

std::string where_text(const std::string& file, TextPosition at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

Result<YamlNode> parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kYamlBytesMax) {
    return Error{Errc::parse,
                 fmt::format("larger than {} bytes; this is no machine description", kYamlBytesMax),
                 file};
  }
  if (const FileKind* const kind = file_kind(text))
    return Error{Errc::parse,
                 fmt::format("not YAML, but {}; give a file of plain UTF-8 text", kind->name),
                 file};
  if (const auto bad = find_non_text(text)) {
    return Error{Errc::parse, "a control character or not UTF-8; save the file as plain UTF-8 text",
                 where_text(file, *bad)};
  }
  std::string copy(text);
  ViewBuffer buffer(copy);
  std::istream stream(&buffer);
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    return Error{Errc::parse, "not accepted as YAML: " + e.msg,
                 where_text(file, text_position(e.mark))};
  }
  if (!builder.root) return Error{Errc::parse, "the file is empty", file};
  return std::move(*builder.root);
}

std::string quoted_text(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    if (i >= kShown) {
      out += "...";
      break;
    }
    const size_t length = utf8_length(text.substr(i));
    const bool shown = length > 0 && !is_control(text[i]) && text[i] != '\n' && text[i] != '\r';
    out += shown ? text.substr(i, length) : "?";
    i += length > 0 ? length : 1;
  }
  return out + '"';
}

}  // namespace accsim::hw
