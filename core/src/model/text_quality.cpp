#include "text_quality.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "text_groups.h"

namespace rankscope::text {
namespace {

tl::unexpected<Error> refused(std::string message) { return fail(ErrorKind::unreadable, std::move(message)); }

/// One of the words after the amount.
Result<void> read_detail(const Word& word, QualityPlace& place) {
  if (word.key == "rank") {
    RS_TRY(place.rank, rank_from(word.value));
  } else if (word.key == "time") {
    RS_TRY(place.time, time_range_from(word.value));
  } else if (word.key.empty() && place.where.empty()) {
    place.where = word.value;
  } else {
    return refused(format("@quality has no field '{}'", word.key.empty() ? word.value : word.key));
  }
  return {};
}

}  // namespace

Result<TimeRange> time_range_from(std::string_view value) {
  const std::size_t colon = std::min(value.find(':'), value.size());
  RS_TRY(const std::int64_t begin, integer(value.substr(0, colon)));
  RS_TRY(const std::int64_t end, integer(value.substr(std::min(colon + 1, value.size()))));
  return TimeRange{at(begin), at(end)};
}

Result<QualityPlace> quality_place_from(std::span<const Word> words) {
  if (words.size() < 3) return refused("@quality needs a counter, its value and, if known, the place");
  const auto counter = counter_from(words[1].value);
  if (!counter) return refused(format("'{}' is not a counter", words[1].value));
  RS_TRY(const std::int64_t value, integer(words[2].value));
  QualityPlace place{*counter, static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0))};
  for (const Word& word : words.subspan(3)) RS_TRY_VOID(read_detail(word, place));
  return place;
}

}  // namespace rankscope::text
