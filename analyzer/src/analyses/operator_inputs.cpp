#include "analyses/operator_inputs.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::json;

/// An empty list for all that is no list.
Json list_from(std::string_view text) {
  Json list = Json::parse(text, nullptr, false);
  return list.is_array() ? list : Json::array();
}

/// Nothing unless all are whole numbers of 64 bits, none below zero.
std::optional<Sizes> sizes_from(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  Sizes sizes;
  for (const Json& item : list) {
    const bool fits =
        item.is_number_integer() && (!item.is_number_unsigned() || item.get<std::uint64_t>() <= INT64_MAX);
    if (!fits || item.get<std::int64_t>() < 0) return std::nullopt;
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

std::vector<std::string> texts_from(std::string_view text) {
  std::vector<std::string> texts;
  for (const Json& item : list_from(text)) texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return texts;
}

std::optional<bool> flag_from(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

}  // namespace

std::optional<Sizes> OperatorInputs::sizes_of(std::size_t input) const {
  return input < sizes.size() ? sizes[input] : std::nullopt;
}

bool OperatorInputs::has_tensor(std::size_t input) const {
  if (input >= sizes.size()) return false;
  const auto& tensor = sizes[input];
  return !tensor || (!tensor->empty() && std::ranges::find(*tensor, 0) == tensor->end());
}

std::string_view OperatorInputs::type_of(std::size_t input) const {
  return input < types.size() ? std::string_view{types[input]} : std::string_view{};
}

std::optional<bool> OperatorInputs::flag(std::size_t input) const {
  return input < values.size() ? flag_from(values[input]) : std::nullopt;
}

std::optional<std::int64_t> OperatorInputs::number(std::size_t input) const {
  if (input >= values.size()) return std::nullopt;
  const std::string& text = values[input];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Sizes> OperatorInputs::numbers(std::size_t input) const {
  if (input >= values.size()) return std::nullopt;
  return sizes_from(Json::parse(values[input], nullptr, false));
}

std::optional<std::vector<bool>> OperatorInputs::flags(std::size_t input) const {
  if (input >= values.size() || !values[input].starts_with('[') || !values[input].ends_with(']')) return std::nullopt;
  std::string_view text{values[input]};
  text = text.substr(1, text.size() - 2);
  std::vector<bool> flags;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto flag = flag_from(item.substr(std::min(item.size(), item.find_first_not_of(' '))));
    if (!flag) return std::nullopt;
    flags.push_back(*flag);
  }
  return flags;
}

OperatorInputs inputs_from(std::string_view sizes, std::string_view types, std::string_view values) {
  OperatorInputs inputs;
  for (const Json& item : list_from(sizes)) inputs.sizes.push_back(sizes_from(item));
  inputs.types = texts_from(types);
  inputs.values = texts_from(values);
  return inputs;
}

}  // namespace rankscope::analyzer
