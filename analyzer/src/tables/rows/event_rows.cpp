// Rows about what happened when: spans, marks, links, samples.
#include <cmath>

#include "tables/rows.h"

namespace rankscope::analyzer {
namespace {

bool is_kept(TableSources& sources, const Span& span) {
  return sources.filter().all() || sources.filter().keeps(sources.run().lane(span.lane).rank, span.time);
}

bool is_kept(TableSources& sources, const Mark& mark) {
  return sources.filter().all() ||
         sources.filter().keeps(sources.run().lane(mark.lane).rank, {mark.time, mark.time + nanoseconds{1}});
}

void add_attributes(RowWriter& add, std::size_t owner, const AttributeRange& all) {
  for (const Attribute& attribute : all) {
    const AttributeValue& value = attribute.value;
    add(row_number(owner), attribute.key, value.kind == AttributeKind::number ? Whole{value.number} : std::nullopt,
        value.kind == AttributeKind::text ? value.text : StringId::none(),
        value.kind == AttributeKind::json ? value.text : StringId::none());
  }
}

}  // namespace

void fill_spans(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  if (sources.filter().all()) add.reserve(rows.end - rows.first);
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Span& span = run.spans()[row];
    if (!is_kept(sources, span)) continue;
    const Lane& lane = run.lane(span.lane);
    add(row_number(row), std::int64_t{span.lane.value}, static_cast<std::int64_t>(span.kind), number_of(lane.rank),
        lane.name, name_of(span.kind), span.name, ns_of(span.time.begin), std::int64_t{span.time.length().count()},
        std::int64_t{span.depth}, (span.flags & span_flag::cut_begin) != 0, (span.flags & span_flag::cut_end) != 0,
        span.collective == Span::no_collective ? std::nullopt : Whole{span.collective});
  }
}

void fill_span_attributes(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row)
    if (is_kept(sources, run.spans()[row]))
      add_attributes(add, row, run.attributes_of(SpanId{static_cast<std::uint32_t>(row)}));
}

void fill_marks(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Mark& mark = run.marks()[row];
    if (!is_kept(sources, mark)) continue;
    const Lane& lane = run.lane(mark.lane);
    add(row_number(row), std::int64_t{mark.lane.value}, number_of(lane.rank), lane.name, mark.name, ns_of(mark.time));
  }
}

void fill_mark_attributes(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row)
    if (is_kept(sources, run.marks()[row])) add_attributes(add, row, run.attributes_of(run.marks()[row]));
}

void fill_links(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Link& link = run.links()[row];
    if (is_kept(sources, run.span(link.to)))
      add(name_of(link.kind), std::int64_t{link.from.value}, std::int64_t{link.to.value});
  }
}

void fill_counters(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const CounterTrack& track = sources.run().counters()[row];
    if (sources.filter().keeps(track.rank))
      add(row_number(row), std::int64_t{track.process}, number_of(track.rank), track.name);
  }
}

void fill_samples(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const CounterTrack& track = run.counters()[row];
    for (const CounterSample& sample : run.samples_of(track)) {
      if (!std::isfinite(sample.value)) continue;
      if (!sources.filter().keeps(track.rank, {sample.time, sample.time + nanoseconds{1}})) continue;
      add(row_number(row), number_of(track.rank), track.name, ns_of(sample.time), sample.value);
    }
  }
}

}  // namespace rankscope::analyzer
