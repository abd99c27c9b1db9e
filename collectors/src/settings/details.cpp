// The table of details. A source that can act on one says so in its process's metadata.
#include "rankscope/collectors/details.h"

#include <algorithm>

namespace rankscope::collectors {
namespace {

constexpr std::array<DetailInfo, detail_count> detail_table{{
    {Detail::shapes, "shapes",
     "shapes and types of operator inputs, at the cost of two strings per operator (the most expensive of these "
     "options)",
     "shapes of operator inputs"},
    {Detail::memory, "memory", "every allocation and release of tensor memory, at the cost of four records each",
     "allocations"},
    {Detail::stack, "stack",
     "where each operator was called from (module and source line), at the cost of two strings per operator",
     "call contexts of operators"},
    {Detail::modules, "modules", "a range for every forward pass of a module, at the cost of two records each",
     "ranges of modules"},
}};

}  // namespace

std::span<const DetailInfo> details() { return detail_table; }

std::string name_of(DetailSet set) {
  std::string text;
  for (const DetailInfo& info : detail_table)
    if (set.has(info.detail)) text += (text.empty() ? "" : ",") + std::string{info.id};
  return text;
}

DetailSet details_from(std::string_view list) {
  DetailSet set;
  while (!list.empty()) {
    const std::string_view id = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), id.size() + 1));
    const auto* const info = std::ranges::find(detail_table, id, &DetailInfo::id);
    if (info != detail_table.end()) set.add(info->detail);
  }
  return set;
}

}  // namespace rankscope::collectors
