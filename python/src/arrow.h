#pragma once
#include <cstdint>

#include "python/src/table.h"

namespace accsim::python {

// The three structures of the Arrow C data interface, which every implementation declares for
// itself: names and members are the interface's.

/// Type, name and metadata of a column; of a table: of its columns.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

/// The values of a column; of a table: those of its columns.
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

/// Arrays of one schema, one after the other.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// The table's schema, with unit and description as metadata of each column. The receiver releases
/// it.
void export_schema(const TableData& table, ArrowSchema& out);
/// The table as one struct array. The buffers are the table's own, kept until it is released.
void export_array(const TablePtr& table, ArrowArray& out);
/// A stream of the one array.
void export_stream(const TablePtr& table, ArrowArrayStream& out);

}  // namespace accsim::python
