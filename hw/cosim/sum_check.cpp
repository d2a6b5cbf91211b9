#include "hw/cosim/sum_check.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

namespace accsim::hw {
namespace {

uint32_t load_word(const void* words, size_t i) {
  uint32_t out;
  std::memcpy(&out, static_cast<const uint8_t*>(words) + i * sizeof out, sizeof out);
  return out;
}

}  // namespace

SumCheck::SumCheck(const std::vector<AccumulatorWrite>& writes, int64_t columns, bool upwards)
    : writes_(writes), upwards_(upwards), columns_(static_cast<size_t>(columns)) {}

void SumCheck::take_sums(const rtl::Cycle& cycle) {
  const auto* bits = static_cast<const uint8_t*>(cycle.acc_write);
  for (size_t first = 0; first < columns_.size(); first += 8)
    for (unsigned left = bits[first / 8]; left != 0 && !difference_; left &= left - 1)
      take_sums(first + static_cast<size_t>(std::countr_zero(left)), cycle);
}

void SumCheck::take_sums(size_t column, const rtl::Cycle& cycle) {
  Column& at = columns_[column];
  const uint32_t row = load_word(cycle.acc_row, column);
  if (at.write == writes_.size())
    return note_difference(
        at.write, fmt::format("column {} takes a sum in row {} that no command has", column, row));
  const AccumulatorWrite& w = writes_[at.write];
  const int64_t i = upwards_ ? w.rows - 1 - at.rows : at.rows;
  if (row != w.first_row + i)
    return note_difference(
        at.write, fmt::format("column {} takes row {} of the accumulators, golden {}", column, row,
                              w.first_row + i));
  Open& o = open_write(at.write);
  if (std::cmp_less(column, w.columns))
    o.sums[static_cast<size_t>(i * w.columns) + column] =
        static_cast<int32_t>(load_word(cycle.acc_sum, column));
  if (++at.rows < w.rows) return;
  at = {at.write + 1, 0};
  --o.columns;
  close_writes();
}

SumCheck::Open& SumCheck::open_write(size_t write) {
  while (write - first_ >= open_.size()) {
    const AccumulatorWrite& w = writes_[first_ + open_.size()];
    open_.push_back(
        {std::vector<int32_t>(static_cast<size_t>(w.rows * w.columns)), std::ssize(columns_)});
  }
  return open_[write - first_];
}

void SumCheck::close_writes() {
  while (!open_.empty() && open_.front().columns == 0 && !difference_) {
    Open& o = open_.front();
    if (digest_of(o.sums) != writes_[first_].digest)
      return note_difference(first_, {}, std::move(o.sums));
    open_.pop_front();
    ++first_;
  }
}

void SumCheck::finish() {
  if (first_ < writes_.size() && !difference_) note_difference(first_, "sums of it are missing");
}

void SumCheck::note_difference(size_t write, std::string text, std::vector<int32_t> sums) {
  // What comes behind the last command is said of it.
  const bool known = write < writes_.size();
  const AccumulatorWrite w = known             ? writes_[write]
                             : writes_.empty() ? AccumulatorWrite{}
                                               : writes_.back();
  difference_ = {w.ordinal, std::move(text), std::move(sums), w.columns};
}

}  // namespace accsim::hw
