#include "sim/ref/texts.h"

#include <utility>

namespace accsim::sim::ref {

uint64_t Texts::place_text(std::string_view text) {
  const auto [found, is_new] = places_.try_emplace(std::string(text), all_.size());
  if (is_new) all_.emplace_back(text);
  return found->second;
}

Array array_of_texts(const std::vector<std::string>& texts, Dims dims,
                     std::shared_ptr<MemoryCount> count) {
  const auto own = std::make_shared<Texts>();
  Array out(DType::string, std::move(dims), std::move(count));
  check(static_cast<int64_t>(texts.size()) == out.size(), "strings that aren't an array's");
  for (size_t i = 0; i < texts.size(); ++i) out.data<uint64_t>()[i] = own->place_text(texts[i]);
  out.set_texts(own);
  return out;
}

Array moved_to(const std::shared_ptr<Texts>& texts, const Array& array,
               std::shared_ptr<MemoryCount> count) {
  if (array.texts() == texts) return array;
  Array out(DType::string, array.dims(), std::move(count));
  for (int64_t i = 0; i < out.size(); ++i)
    out.data<uint64_t>()[i] = texts->place_text(text_at(array, i));
  out.set_texts(texts);
  return out;
}

const std::string& text_at(const Array& array, int64_t i) {
  check(array.texts() != nullptr, "strings without texts");
  return array.texts()->text_at_place(array.data<uint64_t>()[i]);
}

}  // namespace accsim::sim::ref
