// RunBuilder: facts of the run that several sources report.
#include <algorithm>
#include <set>
#include <string_view>

#include "run_builder_pending.h"

namespace rankscope {
namespace {

constexpr std::string_view between = "; ";

/// The items of a value, without those known before.
std::vector<std::string> new_items(std::string_view value, std::set<std::string, std::less<>>& known) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t end = std::min(value.find(between), value.size());
    const std::string_view item = value.substr(0, end);
    if (!known.contains(item)) items.emplace_back(*known.emplace(item).first);
    if (end == value.size()) return items;
    value.remove_prefix(end + between.size());
  }
}

}  // namespace

// Files of one job agree in most facts; what differs is said once per value: "535.12; 535.129".
void RunBuilder::Pending::unite_facts(std::vector<std::pair<std::string, std::string>>& facts) {
  std::ranges::stable_sort(facts, {}, [](const auto& fact) -> const std::string& { return fact.first; });
  std::vector<std::pair<std::string, std::string>> united;
  std::set<std::string, std::less<>> known;  // of the key at hand
  for (auto& [key, value] : facts) {
    const bool is_new = united.empty() || united.back().first != key;
    if (is_new) known.clear();
    const std::vector<std::string> items = new_items(value, known);
    if (is_new)
      united.emplace_back(std::move(key), std::move(value));
    else
      for (const std::string& item : items) united.back().second.append(between).append(item);
  }
  facts = std::move(united);
}

}  // namespace rankscope
