// What sections of the JSON report are put together with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"
#include "render/json_number.h"

namespace rankscope::analyzer {

/// Collects the reasons of nulls beside the values.
class Why {
 public:
  nlohmann::ordered_json value_or_null(const std::string& name, const Ratio& ratio) {
    if (ratio.value) return rounded(*ratio.value, 6);
    return null(name, ratio.why);
  }
  void say(const std::string& name, std::string_view why) { reasons_[name] = why; }
  nlohmann::ordered_json null(const std::string& name, std::string_view why) {
    reasons_[name] = why.empty() ? "not recorded" : why;
    return nullptr;
  }
  void attach(nlohmann::ordered_json& object) && {
    if (!reasons_.empty()) object["why"] = std::move(reasons_);
  }

 private:
  nlohmann::ordered_json reasons_ = nlohmann::ordered_json::object();
};

template <class Rows, class ToJson>
nlohmann::ordered_json list_json(const Rows& rows, ToJson to_json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  return list;
}

inline nlohmann::ordered_json ranks_json(const std::vector<RankId>& ranks) {
  return list_json(ranks, [](RankId rank) { return rank.value; });
}

}  // namespace rankscope::analyzer
