#pragma once
#include <string>
#include <vector>

#include "hw/config/fields.h"

namespace accsim::hw {

/// The names of an enum's `count` values, as machine files spell them.
template <class Enum, size_t count>
std::vector<std::string> enum_names() {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.emplace_back(name(static_cast<Enum>(i)));
  return out;
}

/// Adds the fields that only array.template: dot_product has (dot_product_fields()).
void add_engine_fields(std::vector<Field>& t);

/// Adds the word that says which vector unit there is: vector.template.
void add_vector_template(std::vector<Field>& t);

/// Adds the fields that only vector.template: units has (side_unit_fields()).
void add_unit_fields(std::vector<Field>& t);

/// Adds the fields of engines that hand each other tokens: all of `engines`, a section that a file
/// may leave out.
void add_token_fields(std::vector<Field>& t);

}  // namespace accsim::hw
