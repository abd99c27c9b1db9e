#include "checkpoint/strict_json.h"

#include <set>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

constexpr std::size_t most_levels = 8;
constexpr std::size_t longest_shown = 100;

/// Goes through a text once and stops at what a tree of values would not show: a later key replaces an earlier one, and
/// levels cost memory.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    return keys_.back().insert(name).second || stop(format("the key {} appears twice", in_quotes(name)));
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return stop(format("the text is truncated or damaged: byte {} is not valid JSON", position));
  }

 private:
  bool enter() {
    keys_.emplace_back();
    return keys_.size() <= most_levels || stop(format("the text has more than {} levels of brackets", most_levels));
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }
  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  std::string problem_;
  std::vector<std::set<std::string>> keys_;  // of each open object or list
};

}  // namespace

std::string in_quotes(std::string_view name) {
  const bool is_long = name.size() > longest_shown;
  return Json(name.substr(0, longest_shown)).dump(-1, ' ', true, Json::error_handler_t::replace) +
         (is_long ? "..." : "");
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<Json> parse_strict(std::string_view text, const std::string& where) {
  Checker checker;
  if (!Json::sax_parse(text.begin(), text.end(), &checker))
    return fail(ErrorKind::unreadable, format("{}: {}", where, checker.problem()));
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return fail(ErrorKind::unreadable, format("{}: must be a JSON object", where));
  return json;
}

tl::unexpected<Error> Fields::wrong(std::string_view what) const {
  return fail(ErrorKind::unreadable, format("{}: {}", where_, what));
}

const Json* Fields::find(const char* key) const {
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

Result<std::int64_t> Fields::number(const char* key, std::int64_t least, std::int64_t most) const {
  const Json* const value = find(key);
  const bool is_whole = value != nullptr && value->is_number_integer() &&
                        (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!is_whole || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
    return wrong(format("\"{}\" must be {}", key, number_words<std::int64_t>({least, most})));
  return value->get<std::int64_t>();
}

Result<std::uint64_t> Fields::any_unsigned(const char* key) const {
  const Json* const value = find(key);
  if (value == nullptr || !value->is_number_unsigned())
    return wrong(format("\"{}\" must be a whole number of at least 0", key));
  return value->get<std::uint64_t>();
}

Result<std::string> Fields::text(const char* key) const {
  const Json* const value = find(key);
  if (value == nullptr || !value->is_string()) return wrong(format("\"{}\" must be a string", key));
  return value->get<std::string>();
}

Result<const Json*> Fields::list(const char* key) const {
  const Json* const value = find(key);
  if (value == nullptr || !value->is_array()) return wrong(format("\"{}\" must be a list", key));
  return value;
}

Result<Fields> Fields::object(const char* key) const {
  const Json* const value = find(key);
  if (value == nullptr || !value->is_object()) return wrong(format("\"{}\" must be an object", key));
  return Fields{*value, format("{}: {}", where_, key)};
}

Result<TensorInfo> tensor_info_from(const Fields& fields, std::string name) {
  TensorInfo info{.name = std::move(name)};
  RS_TRY(const std::string dtype, fields.text("dtype"));
  const auto type = element_type_named(dtype);
  if (!type) return fields.wrong(format("the type {} is not known", in_quotes(dtype)));
  info.type = *type;
  RS_TRY(const Json* const shape, fields.list("shape"));
  for (const Json& size : *shape) {
    const bool fits = size.is_number_unsigned() && size.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    if (!fits) return fields.wrong("every dimension in its shape must be a whole number of at least 0");
    info.shape.push_back(size.get<std::int64_t>());
  }
  if (!elements_of(info))
    return fields.wrong("the dimensions in its shape are too large: the tensor would have 2^63 bytes or more");
  return info;
}

}  // namespace rankscope::trainer
