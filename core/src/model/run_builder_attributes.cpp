// RunBuilder: attributes, also of owners that others lie behind.
#include <algorithm>

#include "run_builder_pending.h"

namespace rankscope {

void RunBuilder::Pending::describe(Run& run, const Owner& owner, std::span<const Attribute> attributes) {
  if (attributes.empty()) return;
  attributes = shown(run, attributes);
  if (owner.row >= owner.places.size()) owner.places.resize(owner.row + std::size_t{1}, AttributeStore::nowhere);
  AttributeStore::Place& place = owner.places[owner.row];
  if (place != AttributeStore::nowhere && place != open_set) {
    for (const Attribute& attribute : attributes) owner.late.push_back({owner.row, attribute});
    return;
  }
  const std::size_t before = run.attributes_.byte_count();
  place = open_set = run.attributes_.add(place, attributes);
  if (run.attributes_.byte_count() == before) run.quality_.add(Counter::attributes_dropped, attributes.size());
}

void RunBuilder::Pending::settle(Run& run) {
  settle(run, late_of_spans, run.span_attributes_);
  settle(run, late_of_marks, run.mark_attributes_);
}

void RunBuilder::Pending::settle(Run& run, std::vector<LateAttribute>& late,
                                 std::vector<AttributeStore::Place>& places) {
  std::ranges::stable_sort(late, {}, &LateAttribute::row);
  std::vector<Attribute> all;
  for (auto from = late.begin(); from != late.end();) {
    const std::uint32_t row = from->row;
    const AttributeRange known = run.attributes_.at(places[row]);
    all.assign(known.begin(), known.end());
    const std::size_t early = all.size();
    for (; from != late.end() && from->row == row; ++from) all.push_back(from->attribute);
    const AttributeStore::Place place = run.attributes_.add(AttributeStore::nowhere, all);
    if (place == AttributeStore::nowhere)
      run.quality_.add(Counter::attributes_dropped, all.size() - early);
    else
      places[row] = open_set = place;
  }
  late.clear();
}

}  // namespace rankscope
