#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/elaborate/given_values.h"

namespace accsim::sim {
namespace {

constexpr size_t kDeepest = 64;  ///< lists in lists

/// Reads numbers, and lists of them whose parts are all of one shape.
class ValueReader {
 public:
  explicit ValueReader(std::string_view text) : left_(text) {}

  /// nullopt where the text is something else.
  std::optional<GivenValue> read_all() {
    skip_blanks();
    const bool lists = left_.starts_with('[');
    Dims dims;
    if (lists ? !read_list(dims, 0) : !read_numbers()) return std::nullopt;
    skip_blanks();
    if (!left_.empty()) return std::nullopt;
    GivenValue out;
    if (lists) out.dims = std::move(dims);
    if (whole_)
      out.elements = std::make_shared<const ConstData>(std::move(integers_));
    else
      out.elements = std::make_shared<const ConstData>(std::move(reals_));
    return out;
  }

 private:
  void skip_blanks() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0)
      left_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }

  bool read_numbers() {
    do {
      if (!read_number()) return false;
    } while (take(','));
    return true;
  }

  bool read_number() {
    skip_blanks();
    const size_t end = std::min(left_.find_first_of(",] \t\n"), left_.size());
    std::string_view word = left_.substr(0, end);
    left_.remove_prefix(end);
    if (word == "true" || word == "True") word = "1";
    if (word == "false" || word == "False") word = "0";
    int64_t integer = 0;
    double real = 0;
    const auto is_whole_word = [&](const std::from_chars_result& r) {
      return r.ec == std::errc() && r.ptr == word.data() + word.size();
    };
    if (is_whole_word(std::from_chars(word.data(), word.data() + word.size(), integer))) {
      real = static_cast<double>(integer);
    } else {
      if (!is_whole_word(std::from_chars(word.data(), word.data() + word.size(), real)))
        return false;
      whole_ = false;
    }
    integers_.push_back(integer);
    reals_.push_back(real);
    return true;
  }

  bool read_list(Dims& dims, size_t depth) {
    if (depth == kDeepest || !take('[')) return false;
    int64_t count = 0;
    std::optional<Dims> of_parts;
    skip_blanks();
    if (!left_.starts_with(']')) do {
        skip_blanks();
        Dims part;
        const bool list = left_.starts_with('[');
        if (list ? !read_list(part, depth + 1) : !read_number()) return false;
        if (of_parts && *of_parts != part) return false;
        of_parts = std::move(part);
        ++count;
      } while (take(','));
    if (!take(']')) return false;
    dims = {count};
    if (of_parts) dims.insert(dims.end(), of_parts->begin(), of_parts->end());
    return true;
  }

  std::string_view left_;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  bool whole_ = true;
};

}  // namespace

Result<GivenValue> parse_value(std::string_view text) {
  std::optional<GivenValue> read = ValueReader(text).read_all();
  if (!read)
    return Error{Errc::usage,
                 fmt::format("'{}' is no value: give numbers, as 3 or 1,2,3, a list whose parts "
                             "are of one shape, as [[1,2],[3,4]], or a .npy or .json file",
                             text),
                 ""};
  read->text = text;
  return std::move(*read);
}

}  // namespace accsim::sim
