#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// Keys and values of metadata_props, in order.
using Properties = std::vector<std::pair<std::string, std::string>>;

/// Properties to put into a model's file.
struct ModelNotes {
  std::string prefix;  ///< that all keys have; properties with it that the file has are dropped
  std::map<size_t, Properties> nodes;  ///< by position in GraphDef::nodes
  Properties model;
};

/// The bytes of a changed file in pieces: long ones lie in the original, which stays mapped.
class PatchedFile {
 public:
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  friend class FilePatcher;
  std::vector<std::string_view> pieces_;
  std::deque<std::string> added_;  ///< what new pieces lie in
  std::shared_ptr<const void> original_;
};

/// The model in file `path`, with notes in metadata_props of the model and of its graph's nodes.
/// For nodes that is NodeProto's field 9, of IR version 10. Older readers skip it, and the IR
/// version stays as it is. All else is byte for byte as in the file, and weights aren't read.
/// Errors (parse, io) name file and byte.
Result<PatchedFile> annotate_model(const std::string& path, const ModelNotes& notes);

}  // namespace accsim::sim
