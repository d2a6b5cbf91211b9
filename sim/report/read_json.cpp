#include "sim/report/read_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;
/// What an ordered object is made of. Its own functions look at all members for each.
using Members = std::vector<std::pair<const std::string, Json>>;

Members& object_members(Json& object) { return object.get_ref<Json::object_t&>(); }

/// Builds the values that the parser meets.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add_value(nullptr); }
  bool boolean(bool value) override { return add_value(value); }
  bool number_integer(number_integer_t value) override { return add_value(value); }
  bool number_unsigned(number_unsigned_t value) override { return add_value(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add_value(value);
  }
  bool string(string_t& value) override { return add_value(std::move(value)); }
  bool binary(binary_t& value) override { return add_value(std::move(value)); }
  bool start_object(std::size_t /*size*/) override { return open_value(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open_value(Json::array()); }
  bool end_array() override { return close_value(); }
  bool key(string_t& name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override {
    std::vector<std::string_view> names;
    for (const auto& member : object_members(open_.back().value)) names.push_back(member.first);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice == names.end()) return close_value();
    problem_ = fmt::format("an object has '{}' twice", *twice);
    return false;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    problem_ = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (const size_t end = problem_.find("] "); end != std::string::npos)
      problem_.erase(0, end + 2);
    if (dynamic_cast<const Json::parse_error*>(&error) == nullptr) position_ = position;
    return false;
  }

  Json take_root() { return std::move(root_); }
  const std::string& problem_text() const { return problem_; }
  /// Characters that had been read where the problem doesn't say the place; 0 else.
  std::size_t error_position() const { return position_; }

 private:
  struct Open {
    Json value;
    std::string name;  ///< of an object's next member
  };

  bool add_value(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (Open& in = open_.back(); in.value.is_array())
      in.value.push_back(std::move(value));
    else
      object_members(in.value).emplace_back(std::move(in.name), std::move(value));
    return true;
  }
  bool open_value(Json value) {
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool close_value() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add_value(std::move(value));
  }

  Json root_;
  std::vector<Open> open_;
  std::string problem_;
  std::size_t position_ = 0;
};

std::string place_text(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t begin = before.rfind('\n');
  return fmt::format(" at line {}, column {}", line,
                     begin == std::string_view::npos ? before.size() : before.size() - begin - 1);
}

}  // namespace

Result<Json> read_json(std::string_view text, const std::string& file) {
  Builder builder;
  if (Json::sax_parse(text, &builder)) return builder.take_root();
  const std::string at =
      builder.error_position() > 0 ? place_text(text, builder.error_position()) : "";
  return Error{Errc::parse, "is not JSON: " + builder.problem_text() + at, file};
}

}  // namespace accsim::sim
