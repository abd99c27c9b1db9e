#include "rankscope/core/model/run.h"

#include <algorithm>

#include "rankscope/core/result.h"

namespace rankscope {

std::size_t Run::place_of(RankId rank) const {
  const auto found = std::ranges::lower_bound(ranks_, rank);
  RS_CHECK(found != ranks_.end() && *found == rank);
  return static_cast<std::size_t>(found - ranks_.begin());
}

std::uint32_t Run::process_row_of(RankId rank) const { return rank_process_[place_of(rank)]; }

std::span<const Span> Run::spans_of(const Lane& lane) const {
  return std::span<const Span>{spans_}.subspan(lane.first_span, lane.span_count);
}

AttributeRange Run::attributes_of(SpanId span) const {
  if (span.index() >= span_attributes_.size()) return {};
  return attributes_.at(span_attributes_[span.index()]);
}

AttributeRange Run::attributes_of(const Mark& mark) const {
  const auto row = static_cast<std::size_t>(&mark - marks_.data());
  if (row >= mark_attributes_.size()) return {};
  return attributes_.at(mark_attributes_[row]);
}

std::optional<std::int64_t> Run::number(SpanId span, std::string_view key) const {
  const StringId id = strings_.find(key);
  if (!id.is_set()) return std::nullopt;
  const auto value = attributes_of(span).find(id);
  return value && value->kind == AttributeKind::number ? std::optional{value->number} : std::nullopt;
}

std::span<const Link> Run::links_to(LinkKind kind, SpanId to) const {
  const auto found = std::ranges::equal_range(links_, std::pair{kind, to}, {}, [](const Link& link) {
    return std::pair{link.kind, link.to};
  });
  return {found.begin(), found.end()};
}

std::span<const CounterSample> Run::samples_of(const CounterTrack& track) const {
  return std::span<const CounterSample>{samples_}.subspan(track.first_sample, track.sample_count);
}

bool Run::has_accelerator(RankId rank) const { return std::ranges::binary_search(accelerated_, rank); }

std::string_view Run::metadata(std::string_view key) const {
  for (const auto& [name, value] : info_.metadata)
    if (name == key) return value;
  for (const Process& process : processes_)
    if (process.rank.is_set())
      if (const std::string_view value = metadata(process, key); !value.empty()) return value;
  return {};
}

std::string_view Run::metadata(const Process& process, std::string_view key) const {
  for (const auto& [name, value] : process.metadata)
    if (text(name) == key) return text(value);
  return {};
}

}  // namespace rankscope
