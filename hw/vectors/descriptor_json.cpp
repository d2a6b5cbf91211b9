#include "hw/vectors/descriptor_json.h"

#include <bit>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "hw/vectors/descriptor_fields.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

std::span<const rtl::DescriptorField> table_of(const Command& command) {
  static constexpr PerQueue<std::span<const rtl::DescriptorField>> kTables = {
      rtl::kDmaCmdFields,    rtl::kGemmCmdFields, rtl::kPostCmdFields,
      rtl::kVectorCmdFields, rtl::kDmaCmdFields,  rtl::kStageCmdFields};
  if (std::holds_alternative<RowCommand>(command)) return rtl::kRowCmdFields;
  return kTables[queue_of(command)];
}

/// Number i of a field; none crosses a word.
int64_t field_number(const Descriptor& d, const rtl::DescriptorField& f, int i) {
  const int bit = f.bit + i * f.width;
  const uint64_t word = d.words[static_cast<size_t>(bit / 32)];
  const uint64_t mask = (uint64_t{1} << f.width) - 1;
  const auto value = static_cast<int64_t>(word >> (bit % 32) & mask);
  const bool negative = f.has_sign && (value >> (f.width - 1) & 1) != 0;
  return negative ? value - (int64_t{1} << f.width) : value;
}

}  // namespace

std::string_view kind_of(const Command& command) {
  struct Kind {
    std::string_view operator()(const LoadCommand&) const { return "load"; }
    std::string_view operator()(const GemmCommand&) const { return "gemm"; }
    std::string_view operator()(const DrainCommand&) const { return "drain"; }
    std::string_view operator()(const PostCommand&) const { return "post"; }
    std::string_view operator()(const VectorCommand&) const { return "vector"; }
    std::string_view operator()(const StoreCommand&) const { return "store"; }
    std::string_view operator()(const SetTableCommand&) const { return "table"; }
    std::string_view operator()(const LaneCommand&) const { return "lane"; }
    std::string_view operator()(const RowCommand&) const { return "row"; }
    std::string_view operator()(const StageCommand&) const { return "stage"; }
  };
  return std::visit(Kind{}, command);
}

std::array<int32_t, rtl::kWords> words_of(const QueueUnroller::Entry& entry) {
  return std::bit_cast<std::array<int32_t, rtl::kWords>>(entry.descriptor.words);
}

Json fields_of(const Command& command, const Descriptor& descriptor) {
  Json out = Json::object();
  for (const rtl::DescriptorField& f : table_of(command)) {
    Json& to = out[std::string(f.name)];
    if (f.count == 1) {
      to = field_number(descriptor, f, 0);
    } else {
      for (int i = 0; i < f.count; ++i) to.push_back(field_number(descriptor, f, i));
    }
  }
  return out;
}

}  // namespace accsim::hw
