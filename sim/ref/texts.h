#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/ref/array.h"

namespace accsim::sim::ref {

/// Strings, each once. An array of strings holds their places here, so that what moves numbers
/// moves strings.
class Texts {
 public:
  /// The place of a text, which is put behind the others when it is new.
  uint64_t place_text(std::string_view text);
  const std::string& text_at_place(uint64_t place) const {
    return all_.at(static_cast<size_t>(place));
  }

 private:
  std::vector<std::string> all_;
  std::unordered_map<std::string, uint64_t> places_;
};

/// An array of strings, with texts of its own. Precondition: as many as `dims` has elements.
Array array_of_texts(const std::vector<std::string>& texts, Dims dims,
                     std::shared_ptr<MemoryCount> count = nullptr);
/// The same strings by their places in `texts`; the array itself where it has these already.
Array moved_to(const std::shared_ptr<Texts>& texts, const Array& array,
               std::shared_ptr<MemoryCount> count);
/// Element i of an array of strings.
const std::string& text_at(const Array& array, int64_t i);

}  // namespace accsim::sim::ref
