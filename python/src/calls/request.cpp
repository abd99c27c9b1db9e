#include "calls/request.h"

#include <algorithm>
#include <cmath>

#include "rankscope/core/format.h"

namespace rankscope::python {
namespace {

using nlohmann::json;

tl::unexpected<Error> not_a(std::string_view name, std::string_view what) {
  return fail(ErrorKind::usage, format("{} must be {}", name, what));
}

/// Ids are 32 bits; the highest means "none".
constexpr std::int64_t most_rank = 0xFFFFFFFE;

std::optional<std::int64_t> whole_number(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number < 0 ? std::nullopt : std::optional{number};
}

}  // namespace

Result<Request> Request::parse(const char* text, std::initializer_list<std::string_view> known) {
  json members = json::parse(text, nullptr, false);
  if (!members.is_object()) return fail(ErrorKind::usage, "the request must be a JSON object");
  for (const auto& [name, value] : members.items())
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorKind::usage, format("the request has an unknown member '{}'", name));
  return Request{std::move(members)};
}

const json* Request::find(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() || found->is_null() ? nullptr : &*found;
}

Result<std::string> Request::text(std::string_view name, std::string_view if_absent) const {
  const json* const value = find(name);
  if (value == nullptr) return std::string{if_absent};
  if (!value->is_string()) return not_a(name, "a string");
  return value->get<std::string>();
}

Result<bool> Request::flag(std::string_view name) const {
  const json* const value = find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return not_a(name, "true or false");
  return value->get<bool>();
}

Result<std::vector<std::string>> Request::texts(std::string_view name) const {
  std::vector<std::string> all;
  const json* const value = find(name);
  if (value == nullptr) return all;
  if (!value->is_array()) return not_a(name, "a list of strings");
  for (const json& one : *value) {
    if (!one.is_string()) return not_a(name, "a list of strings");
    all.push_back(one.get<std::string>());
  }
  return all;
}

Result<std::vector<RankId>> Request::ranks() const {
  std::vector<RankId> all;
  const json* const value = find("ranks");
  if (value == nullptr) return all;
  if (!value->is_array()) return not_a("ranks", "a list of whole numbers");
  for (const json& one : *value) {
    const auto rank = whole_number(one);
    if (!rank || *rank > most_rank) return not_a("ranks", "a list of whole numbers of at least 0");
    all.push_back(RankId{static_cast<std::uint32_t>(*rank)});
  }
  std::ranges::sort(all);
  const auto same = std::ranges::unique(all);
  all.erase(same.begin(), same.end());
  return all;
}

Result<std::optional<analyzer::StepRange>> Request::steps() const {
  const json* const value = find("steps");
  if (value == nullptr) return std::nullopt;
  if (!value->is_array() || value->size() != 2) return not_a("steps", "[first, last]");
  const auto first = whole_number((*value)[0]);
  const auto last = (*value)[1].is_null() ? std::optional{analyzer::to_the_end} : whole_number((*value)[1]);
  if (!first || !last) return not_a("steps", "whole numbers of at least 0");
  if (*last < *first)
    return fail(ErrorKind::usage, format("steps: the last step, {}, is before the first, {}", *last, *first));
  return std::optional{analyzer::StepRange{*first, *last}};
}

Result<std::optional<double>> Request::number(std::string_view name, double least, double most) const {
  const json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= least && number <= most)) return not_a(name, format("a number from {} to {}", least, most));
  return std::optional{number};
}

Result<analyzer::ReportOptions> selection_from(const Request& request) {
  analyzer::ReportOptions options;
  RS_TRY(options.steps, request.steps());
  RS_TRY(options.ranks, request.ranks());
  RS_TRY(options.include_warm_up, request.flag("include_warm_up"));
  RS_TRY(const auto top, request.number("top", 1, 1'000'000));
  if (top) options.top = static_cast<std::size_t>(*top);
  return options;
}

}  // namespace rankscope::python
