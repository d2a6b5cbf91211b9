#include "python/src/arrow.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace accsim::python {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// Who releases a structure releases its children; one that was moved away has no release.

/// What a schema points to.
struct OwnedSchema {
  std::string name, metadata;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
};

template <class T>
void release_children(T& parent) {
  for (int64_t i = 0; i < parent.n_children; ++i)
    if (parent.children[i]->release != nullptr) parent.children[i]->release(parent.children[i]);
}

void release_schema(ArrowSchema* schema) {
  release_children(*schema);
  delete static_cast<OwnedSchema*>(schema->private_data);
  schema->release = nullptr;
}

void finish(ArrowSchema& out, const char* format, std::unique_ptr<OwnedSchema> owned) {
  for (const auto& child : owned->children) owned->pointers.push_back(child.get());
  out = {.format = format,
         .name = owned->name.c_str(),
         .metadata = owned->metadata.empty() ? nullptr : owned->metadata.data(),
         .flags = kNullable,
         .n_children = std::ssize(owned->pointers),
         .children = owned->pointers.data(),
         .dictionary = nullptr,
         .release = release_schema,
         .private_data = owned.release()};
}

/// Pairs as the interface packs them: counts and lengths as 32 bits in the machine's order.
std::string pack_metadata(const std::vector<std::pair<std::string, std::string>>& pairs) {
  if (pairs.empty()) return "";
  std::string out;
  const auto number = [&](size_t value) {
    const auto narrow = static_cast<int32_t>(value);
    std::array<char, 4> bytes{};
    std::memcpy(bytes.data(), &narrow, bytes.size());
    out.append(bytes.data(), bytes.size());
  };
  number(pairs.size());
  for (const auto& [key, value] : pairs)
    for (const std::string* text : {&key, &value}) {
      number(text->size());
      out += *text;
    }
  return out;
}

/// A schema of integers, inside `depth` lists.
void integers_schema(std::unique_ptr<OwnedSchema> owned, int depth, ArrowSchema& out) {
  if (depth > 0) {
    auto inner = std::make_unique<OwnedSchema>();
    inner->name = "item";
    owned->children.push_back(std::make_unique<ArrowSchema>());
    integers_schema(std::move(inner), depth - 1, *owned->children.back());
  }
  finish(out, depth > 0 ? "+l" : "l", std::move(owned));
}

void column_schema(const Column& column, ArrowSchema& out) {
  auto owned = std::make_unique<OwnedSchema>();
  owned->name = column.name;
  std::vector<std::pair<std::string, std::string>> metadata;
  if (!column.unit.empty()) metadata.emplace_back("unit", column.unit);
  if (!column.description.empty()) metadata.emplace_back("description", column.description);
  owned->metadata = pack_metadata(metadata);
  switch (column.type) {
    case ColumnType::int64:
      return integers_schema(std::move(owned), 0, out);
    case ColumnType::float64:
      return finish(out, "g", std::move(owned));
    case ColumnType::text:
      return finish(out, "u", std::move(owned));
    case ColumnType::shape:
      return integers_schema(std::move(owned), 1, out);
    case ColumnType::shapes:
      return integers_schema(std::move(owned), 2, out);
  }
}

/// What an array points to, and the table that holds the values.
struct OwnedArray {
  TablePtr table;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
};

void release_array(ArrowArray* array) {
  release_children(*array);
  delete static_cast<OwnedArray*>(array->private_data);
  array->release = nullptr;
}

void finish(ArrowArray& out, int64_t length, int64_t nulls, std::unique_ptr<OwnedArray> owned) {
  for (const auto& child : owned->children) owned->pointers.push_back(child.get());
  out = {.length = length,
         .null_count = nulls,
         .offset = 0,
         .n_buffers = std::ssize(owned->buffers),
         .n_children = std::ssize(owned->pointers),
         .buffers = owned->buffers.data(),
         .children = owned->pointers.data(),
         .dictionary = nullptr,
         .release = release_array,
         .private_data = owned.release()};
}

std::unique_ptr<OwnedArray> owned_array(const TablePtr& table) {
  auto out = std::make_unique<OwnedArray>();
  out->table = table;
  return out;
}

/// The dims of a column's shapes: the innermost list's values.
ArrowArray& add_dims(const TablePtr& table, const Column& column, OwnedArray& parent) {
  auto owned = owned_array(table);
  owned->buffers = {nullptr, column.integers.data()};
  parent.children.push_back(std::make_unique<ArrowArray>());
  finish(*parent.children.back(), std::ssize(column.integers), 0, std::move(owned));
  return *parent.children.back();
}

void column_array(const TablePtr& table, const Column& column, ArrowArray& out) {
  auto owned = owned_array(table);
  const void* const valid = column.nulls > 0 ? column.valid.data() : nullptr;
  switch (column.type) {
    case ColumnType::int64:
      owned->buffers = {valid, column.integers.data()};
      break;
    case ColumnType::float64:
      owned->buffers = {valid, column.reals.data()};
      break;
    case ColumnType::text:
      owned->buffers = {valid, column.ends.data(), column.bytes.data()};
      break;
    case ColumnType::shape:
      owned->buffers = {valid, column.ends.data()};
      add_dims(table, column, *owned);
      break;
    case ColumnType::shapes: {
      owned->buffers = {valid, column.ends.data()};
      auto shapes = owned_array(table);
      shapes->buffers = {nullptr, column.inner.data()};
      add_dims(table, column, *shapes);
      owned->children.push_back(std::make_unique<ArrowArray>());
      finish(*owned->children.back(), std::ssize(column.inner) - 1, 0, std::move(shapes));
      break;
    }
  }
  finish(out, column.rows, column.nulls, std::move(owned));
}

/// A stream's state: the table until it has been given.
struct OwnedStream {
  TablePtr table;
  bool given = false;
};

OwnedStream& state(ArrowArrayStream* stream) {
  return *static_cast<OwnedStream*>(stream->private_data);
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  export_schema(*state(stream).table, *out);
  return 0;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  if (state(stream).given)
    out->release = nullptr;  // the end
  else
    export_array(state(stream).table, *out);
  state(stream).given = true;
  return 0;
}

const char* stream_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete &state(stream);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const TableData& table, ArrowSchema& out) {
  auto owned = std::make_unique<OwnedSchema>();
  for (const Column& column : table.columns) {
    owned->children.push_back(std::make_unique<ArrowSchema>());
    column_schema(column, *owned->children.back());
  }
  finish(out, "+s", std::move(owned));
  out.flags = 0;
}

void export_array(const TablePtr& table, ArrowArray& out) {
  auto owned = owned_array(table);
  owned->buffers = {nullptr};
  for (const Column& column : table->columns) {
    owned->children.push_back(std::make_unique<ArrowArray>());
    column_array(table, column, *owned->children.back());
  }
  finish(out, table->rows, 0, std::move(owned));
}

void export_stream(const TablePtr& table, ArrowArrayStream& out) {
  out = {.get_schema = stream_schema,
         .get_next = stream_next,
         .get_last_error = stream_error,
         .release = release_stream,
         .private_data = new OwnedStream{table}};
}

}  // namespace accsim::python
