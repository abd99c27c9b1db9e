// Requests of the C interface: JSON objects of which every member is known and of its type.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/core/result.h"

namespace rankscope::python {

/// A request whose members are all among `known`; errors are `usage`.
class Request {
 public:
  [[nodiscard]] static Result<Request> parse(const char* text, std::initializer_list<std::string_view> known);

  [[nodiscard]] Result<std::string> text(std::string_view name, std::string_view if_absent) const;
  [[nodiscard]] Result<bool> flag(std::string_view name) const;
  [[nodiscard]] Result<std::vector<std::string>> texts(std::string_view name) const;
  [[nodiscard]] Result<std::vector<RankId>> ranks() const;
  /// [first, last]; last may be null: to the end.
  [[nodiscard]] Result<std::optional<analyzer::StepRange>> steps() const;
  [[nodiscard]] Result<std::optional<double>> number(std::string_view name, double least, double most) const;

 private:
  explicit Request(nlohmann::json members) : members_(std::move(members)) {}
  [[nodiscard]] const nlohmann::json* find(std::string_view name) const;
  nlohmann::json members_;
};

/// The members that every request for a report may have: steps, ranks, include_warm_up, top.
[[nodiscard]] Result<analyzer::ReportOptions> selection_from(const Request& request);

}  // namespace rankscope::python
