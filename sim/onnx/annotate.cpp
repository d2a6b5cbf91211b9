#include "sim/onnx/annotate.h"

#include <fmt/format.h>

#include "sim/onnx/field_numbers.h"
#include "sim/onnx/mapped_file.h"
#include "sim/onnx/wire.h"
#include "sim/onnx/writer.h"

namespace accsim::sim {

using onnx::ByteSpan;
using onnx::Cursor;
using onnx::Fault;
using onnx::Field;
using onnx::Message;

/// Puts a changed file together, message by message from the inside, because sizes stand first.
class FilePatcher {
 public:
  FilePatcher(const onnx::MappedFile& file, const ModelNotes& notes)
      : file_(file), notes_(notes), fault_{file.bytes.data, {}, 0} {}

  Result<PatchedFile> patch_file(const std::string& path) {
    patch_model();
    if (!fault_.ok())
      return Error{Errc::parse, fmt::format("at byte {}: {}", fault_.offset, *fault_.message),
                   path};
    out_.original_ = file_.keep;
    return std::move(out_);
  }

 private:
  using Pieces = std::vector<std::string_view>;

  /// Calls `each` with every field of a message and the bytes that it takes, tag included.
  template <class Each>
  void for_each_field(ByteSpan message, const Each& each) {
    Cursor cursor(message, fault_);
    Field field, next;
    const uint8_t* const end = message.data + message.size;
    for (bool more = cursor.next_field(field); more && fault_.ok(); field = next) {
      more = cursor.next_field(next);
      const uint8_t* const stop = more ? next.at : end;
      if (!fault_.ok()) return;
      each(field, std::string_view(reinterpret_cast<const char*>(field.at),
                                   static_cast<size_t>(stop - field.at)));
    }
  }

  /// Pieces that follow each other in the file become one.
  static void append_piece(std::string_view bytes, Pieces& to) {
    if (!to.empty() && to.back().data() + to.back().size() == bytes.data())
      to.back() = {to.back().data(), to.back().size() + bytes.size()};
    else
      to.push_back(bytes);
  }
  void add_text(std::string text, Pieces& to) {
    if (text.empty()) return;
    out_.added_.push_back(std::move(text));
    to.push_back(out_.added_.back());
  }
  /// A field that holds the message of these pieces.
  void add_message(uint32_t number, const Pieces& message, Pieces& to) {
    size_t bytes = 0;
    for (const std::string_view piece : message) bytes += piece.size();
    Message header;
    header.add_header(number, bytes);
    add_text(header.take_bytes(), to);
    for (const std::string_view piece : message) append_piece(piece, to);
  }
  void add_properties(uint32_t number, const Properties& properties, Pieces& to) {
    Message out;
    for (const auto& [key, value] : properties)
      out.add_message(number, onnx::encode_property(key, value));
    add_text(out.take_bytes(), to);
  }

  /// Whether a field is a property that an earlier run has written.
  bool is_note(const Field& field, uint32_t properties) {
    if (field.number != properties || field.type != Field::Type::bytes) return false;
    std::string key;
    onnx::read_fields(field.span, fault_, onnx::into(onnx::proto::StringStringEntry::kKey, key));
    return key.starts_with(notes_.prefix);
  }

  /// A node as it becomes; false when it stays as it is.
  bool patch_node(ByteSpan message, size_t index, Pieces& to) {
    const auto found = notes_.nodes.find(index);
    bool changed = found != notes_.nodes.end();
    for_each_field(message, [&](const Field& field, std::string_view encoded) {
      if (is_note(field, onnx::proto::Node::kMetadataProps))
        changed = true;
      else
        append_piece(encoded, to);
    });
    if (found != notes_.nodes.end())
      add_properties(onnx::proto::Node::kMetadataProps, found->second, to);
    return changed;
  }

  void patch_graph(ByteSpan message, Pieces& to) {
    for_each_field(message, [&](const Field& field, std::string_view encoded) {
      Pieces changed;
      if (field.number == onnx::proto::Graph::kNode && field.type == Field::Type::bytes &&
          patch_node(field.span, node_++, changed))
        add_message(onnx::proto::Graph::kNode, changed, to);
      else
        append_piece(encoded, to);
    });
  }

  void patch_model() {
    for_each_field(file_.bytes, [&](const Field& field, std::string_view encoded) {
      if (field.number == onnx::proto::Model::kGraph && field.type == Field::Type::bytes) {
        Pieces changed;
        patch_graph(field.span, changed);
        add_message(onnx::proto::Model::kGraph, changed, out_.pieces_);
      } else if (!is_note(field, onnx::proto::Model::kMetadataProps)) {
        append_piece(encoded, out_.pieces_);
      }
    });
    add_properties(onnx::proto::Model::kMetadataProps, notes_.model, out_.pieces_);
  }

  const onnx::MappedFile& file_;
  const ModelNotes& notes_;
  Fault fault_;
  size_t node_ = 0;  ///< counts on over several messages of one graph
  PatchedFile out_;
};

Result<PatchedFile> annotate_model(const std::string& path, const ModelNotes& notes) {
  const Result<onnx::MappedFile> file = onnx::map_file(path);
  if (!file) return file.errors();
  return FilePatcher(*file, notes).patch_file(path);
}

}  // namespace accsim::sim
