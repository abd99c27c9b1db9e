#include "exports/shared/links_drawn.h"
#include "rankscope/core/model/run.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace rankscope::analyzer {

std::optional<RunTime> drawn_begin(const Run& run, const Link& link) {
  const Span& from = run.span(link.from);
  const Span& to = run.span(link.to);
  if (from.time.begin < to.time.begin) return to.time.begin;
  const RunTime moved = from.time.begin + nanoseconds{1};
  if (link.kind != LinkKind::launch || moved > to.time.end) return std::nullopt;
  const std::size_t next = link.to.index() + 1;
  const bool crosses =
      next < run.spans().size() && run.spans()[next].lane == to.lane && run.spans()[next].time.begin < moved;
  return crosses ? std::nullopt : std::optional{moved};
}

LinksByOrigin::LinksByOrigin(const Run& run) : rows_(run.links().size()) {
  std::iota(rows_.begin(), rows_.end(), 0U);
  std::ranges::sort(rows_, {}, [&](std::uint32_t row) { return std::tuple{run.links()[row].from, row}; });
}

LinkCursor::LinkCursor(const Run& run, const LinksByOrigin& origins, SpanId first)
    : links_(run.links()), origins_(origins.rows()) {
  const auto by_origin = [&](std::uint32_t row) { return links_[row].from; };
  from_ = static_cast<std::size_t>(std::ranges::lower_bound(origins_, first, {}, by_origin) - origins_.begin());
  for (std::size_t kind = 0; kind < link_kind_count; ++kind) {
    const auto key = [](const Link& link) { return std::tuple{link.kind, link.to}; };
    const auto at = std::ranges::lower_bound(links_, std::tuple{static_cast<LinkKind>(kind), first}, {}, key);
    to_[kind] = static_cast<std::size_t>(at - links_.begin());
  }
}

}  // namespace rankscope::analyzer
