#include "hw/config/fields.h"

namespace accsim::hw {
namespace {

std::string_view section_description(std::string_view path) {
  struct Section {
    std::string_view path, description;
  };
  static constexpr std::array<Section, 14> kSections = {{
      {"array", "the array of multipliers"},
      {"types", "number formats: integers with int32 sums, or floating point with float32 sums"},
      {"buffers", "on-chip memories"},
      {"buffers.activation", "holds the inputs that stream through the array"},
      {"buffers.weight", "holds the weight tiles"},
      {"buffers.parameter", "holds bias and requantisation, per output channel"},
      {"buffers.accumulator",
       "holds partial sums; reads and writes one row of the array per cycle"},
      {"buffers.output", "holds finished outputs on their way to memory"},
      {"buffers.shared", "keeps whole tensors on chip between layers"},
      {"dram", "main memory"},
      {"vector", "the unit for everything that is not a matrix product"},
      {"vector.lanes", "operations per cycle, by class"},
      {"engines",
       "engines that hand each other tokens, for programs of tiled layers; costs of networks don't "
       "depend on them"},
      {"energy", "energy of each counted event"},
  }};
  for (const Section& s : kSections) {
    if (s.path == path) return s.description;
  }
  check(false, "a section of the field table has no description");
  return {};
}

void insert_field(KeyNode& node, const Field& field, size_t begin) {
  const size_t dot = field.path.find('.', begin);
  const std::string key = field.path.substr(begin, dot - begin);
  if (dot == std::string::npos) {
    node.children.push_back({key, field.path, field.description, &field, {}, nullptr});
    return;
  }
  if (node.children.empty() || node.children.back().key != key) {
    const std::string path = field.path.substr(0, dot);
    node.children.push_back(
        {key, path, std::string(section_description(path)), nullptr, {}, field.section_there});
  }
  insert_field(node.children.back(), field, dot + 1);
}

KeyNode make_tree() {
  KeyNode root;
  for (const Field& field : fields()) insert_field(root, field, 0);
  return root;
}

}  // namespace

const KeyNode& key_tree() {
  static const KeyNode root = make_tree();
  return root;
}

}  // namespace accsim::hw
