#include "rankscope/gui/models/base/name_places.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

std::string without_digits(std::string_view name) {
  std::string text{name};
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

NamePlaces::NamePlaces(const Run& run, std::size_t first, const std::stop_token& stop)
    : places_(run.strings().size(), none) {
  constexpr std::size_t spans_between_looks = 1 << 16;
  std::vector<double> totals(places_.size(), -1);  // ns; -1: no span has this name
  for (std::size_t i = 0; i < run.spans().size(); ++i) {
    if (i % spans_between_looks == 0 && stop.stop_requested()) return;
    const Span& span = run.spans()[i];
    double& total = totals[span.name.index()];
    total = std::max(total, 0.0) + static_cast<double>(span.time.length().count());
  }
  std::map<std::string, std::pair<double, std::vector<std::uint32_t>>> alike;
  for (std::uint32_t id = 0; id < totals.size(); ++id) {
    if (id % spans_between_looks == 0 && stop.stop_requested()) return;
    if (totals[id] < 0) continue;
    auto& [total, ids] = alike[without_digits(run.text(StringId{id}))];
    total += totals[id];
    ids.push_back(id);
  }
  std::vector<const std::pair<double, std::vector<std::uint32_t>>*> order;
  for (const auto& [name, one] : alike) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater{}, [](const auto* one) { return one->first; });
  for (std::size_t place = 0; place < std::min(first, order.size()); ++place)
    for (const std::uint32_t id : order[place]->second) places_[id] = static_cast<std::uint8_t>(place);
}

}  // namespace rankscope::gui
