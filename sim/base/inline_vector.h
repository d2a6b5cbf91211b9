#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

#include "sim/base/check.h"

namespace accsim {

/// A vector of at most N elements that never touches the heap. For lists whose length the design
/// bounds; more than N is a broken invariant.
template <class T, size_t N>
class InlineVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() {}  // NOLINT: not defaulted, which would clear all N elements
  InlineVector(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }
  InlineVector(const InlineVector& other) { *this = other; }
  InlineVector& operator=(const InlineVector& other) {
    size_ = other.size_;
    std::copy(other.begin(), other.end(), begin());
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return begin() + size_; }
  T* data() { return items_.data(); }
  const T* data() const { return items_.data(); }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  T& front() { return items_[0]; }
  const T& front() const { return items_[0]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

  void push_back(const T& item) {
    check(size_ < N, "an inline vector is full");
    items_[size_++] = item;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void assign(size_t size, const T& item) {
    clear();
    while (size_ < size) push_back(item);
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  size_t size_ = 0;
  std::array<T, N> items_;
};

}  // namespace accsim
