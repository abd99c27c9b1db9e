#include "flops/operator_inputs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

using InputsJson = nlohmann::json;

constexpr int deepest = 64;  // nesting of brackets: beyond it the parser's own recursion is the danger

/// Null for all that is no list, or is nested as no profiler writes it.
InputsJson list_from(std::string_view text) {
  bool too_deep = false;
  const auto shallow = [&too_deep](int depth, InputsJson::parse_event_t, const InputsJson&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  InputsJson list = InputsJson::parse(text, shallow, false);
  return list.is_array() && !too_deep ? std::move(list) : InputsJson{};
}

/// Nothing unless all are whole numbers of 64 bits, none below zero.
std::optional<Sizes> sizes_from(const InputsJson& list) {
  if (!list.is_array()) return std::nullopt;
  Sizes sizes;
  for (const InputsJson& item : list) {
    const bool fits =
        item.is_number_integer() && (!item.is_number_unsigned() || item.get<std::uint64_t>() <= INT64_MAX);
    if (!fits || item.get<std::int64_t>() < 0) return std::nullopt;
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

std::vector<std::string> texts_from(std::string_view text) {
  std::vector<std::string> texts;
  const InputsJson list = list_from(text);
  for (const InputsJson& item : list) texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
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
  return input < values.size() ? number_from<std::int64_t>(values[input]) : std::nullopt;
}

std::optional<Sizes> OperatorInputs::numbers(std::size_t input) const {
  if (input >= values.size()) return std::nullopt;
  return sizes_from(list_from(values[input]));
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
  const InputsJson list = list_from(sizes);
  for (const InputsJson& item : list) inputs.sizes.push_back(sizes_from(item));
  inputs.types = texts_from(types);
  inputs.values = texts_from(values);
  return inputs;
}

}  // namespace rankscope::analyzer
