#include "hw/cosim/golden_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace accsim::hw {

GoldenCheck::GoldenCheck(const Program& program, const HwConfig& hw, const MemoryImage& image,
                         GoldenRun golden)
    : program_(program),
      hw_(hw),
      image_(image),
      golden_(std::move(golden)),
      sums_(golden_.writes, hw.array.cols, program.dataflow == Dataflow::output_stationary) {
  for (size_t t = 0; t < image.size(); ++t)
    if (!program.tensors[t].is_placed() && golden_.image[t] != image[t])
      before_.emplace_back(t, image[t]);
}

void GoldenCheck::compare_sums(const rtl::Cycle& cycle) {
  sums_.take_sums(cycle);
  note_sums();
}

/// Says where the accumulators differ, unless something else did before.
void GoldenCheck::note_sums() {
  if (!sums_.difference() || !difference_.text.empty()) return;
  const SumCheck::Difference& d = *sums_.difference();
  difference_ = place_of_command(program_, hw_, Queue::execute, d.ordinal);
  difference_.text += ": " + (d.text.empty() ? wrong_sum(d) : d.text);
}

/// Golden is run again, from what the memory was in the beginning: its sums aren't kept.
std::string GoldenCheck::wrong_sum(const SumCheck::Difference& d) const {
  MemoryImage image = image_;
  for (const auto& [tensor, bytes] : before_) image[tensor] = bytes;
  const Result<std::vector<int32_t>> want = golden_sums(program_, hw_, std::move(image), d.ordinal);
  if (!want) return want.errors().front().text();
  const auto [mine, golden] = std::ranges::mismatch(d.sums, *want);
  if (mine == d.sums.end() || golden == want->end()) return "its sums differ";
  const int64_t at = mine - d.sums.begin();
  return fmt::format("the sum of row {}, column {} is {}, golden {}", at / d.columns,
                     at % d.columns, *mine, *golden);
}

void GoldenCheck::compare_store(int tensor, int64_t at, std::span<const uint8_t> data,
                                int64_t ordinal) {
  const ProgramTensor& t = program_.tensors[static_cast<size_t>(tensor)];
  // A region's slots are written again later: what golden has in the end is something else.
  if (!difference_.text.empty() || t.slots > 0) return;
  const auto differs = [&](const std::string& how) {
    difference_ = place_of_command(program_, hw_, Queue::store, ordinal);
    difference_.text += ": " + how;
  };
  if (at < 0 || at + std::ssize(data) > t.bytes)
    return differs(fmt::format("bytes from {} on of '{}', which has {}", at, t.name, t.bytes));
  const uint8_t* want = golden_.image[static_cast<size_t>(tensor)].data() + at;
  for (size_t i = 0; i < data.size(); ++i)
    if (want[i] != data[i])
      return differs(fmt::format("byte {} of '{}' is {}, golden {}", at + static_cast<int64_t>(i),
                                 t.name, data[i], want[i]));
}

void GoldenCheck::compare_ends() {
  sums_.finish();
  note_sums();
  for (size_t t = 0; t < image_.size() && difference_.text.empty(); ++t)
    for (size_t i = program_.tensors[t].is_placed() ? image_[t].size() : 0;
         i < image_[t].size() && difference_.text.empty(); ++i)
      if (image_[t][i] != golden_.image[t][i])
        difference_.text = fmt::format("in the end byte {} of '{}' is {}, golden {}", i,
                                       program_.tensors[t].name, image_[t][i], golden_.image[t][i]);
}

}  // namespace accsim::hw
