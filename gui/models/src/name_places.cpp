#include "rankscope/gui/models/name_places.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace rankscope::gui {
namespace {

std::string without_digits(std::string_view name) {
  std::string text{name};
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

NamePlaces::NamePlaces(const Run& run, std::size_t first) : places_(run.strings().size(), none) {
  std::vector<std::int64_t> totals(places_.size(), -1);  // -1: no span has this name
  for (const Span& span : run.spans()) {
    std::int64_t& total = totals[span.name.index()];
    total = std::max<std::int64_t>(total, 0) + span.time.length().count();
  }
  std::map<std::string, std::pair<std::int64_t, std::vector<std::uint32_t>>> alike;
  for (std::uint32_t id = 0; id < totals.size(); ++id) {
    if (totals[id] < 0) continue;
    auto& [total, ids] = alike[without_digits(run.text(StringId{id}))];
    total += totals[id];
    ids.push_back(id);
  }
  std::vector<const std::pair<std::int64_t, std::vector<std::uint32_t>>*> order;
  for (const auto& [name, one] : alike) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater{}, [](const auto* one) { return one->first; });
  for (std::size_t place = 0; place < std::min(first, order.size()); ++place)
    for (const std::uint32_t id : order[place]->second) places_[id] = static_cast<std::uint8_t>(place);
}

}  // namespace rankscope::gui
