#include "steps/step_marks.h"

#include <limits>
#include <optional>

#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/step_names.h"

namespace rankscope::analyzer {
namespace {

/// The index that a span gives its step; `next` where it is a step without a number; nothing where it is no step.
std::optional<std::int64_t> index_of(const Run& run, const Span& span, MarkSource source, std::int64_t next) {
  switch (source) {
    case MarkSource::step_spans:
      if (span.kind != SpanKind::step) return std::nullopt;
      return run.number(run.id_of(span), "index").value_or(next);
    case MarkSource::named_ranges: {
      if (span.kind != SpanKind::user) return std::nullopt;
      const auto number = number_of_step_name(run.text(span.name));
      if (!number) return std::nullopt;
      return number_from<std::int64_t>(*number).value_or(next);  // too large a number: counted instead
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(MarkSource source) {
  switch (source) {
    case MarkSource::step_spans:
      return "step spans";
    case MarkSource::named_ranges:
      return "ranges named like a step";
  }
  return "";
}

std::vector<StepMark> step_marks(const Run& run, RankId rank, MarkSource source) {
  const auto process = run.process_row_of(rank);
  std::vector<StepMark> best;
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::thread) continue;
    std::vector<StepMark> marks;
    for (const Span& span : run.spans_of(lane)) {
      if (!marks.empty() && marks.back().index == std::numeric_limits<std::int64_t>::max()) break;  // no index follows
      const std::int64_t next = marks.empty() ? 0 : marks.back().index + 1;
      const auto index = index_of(run, span, source, next);
      if (!index || (*index < next && !marks.empty())) continue;
      const SpanId id = run.id_of(span);
      const bool thinned = run.number(id, "thinned").value_or(0) == 1;
      marks.push_back({*index, span.time, span.flags != 0, span.lane, thinned ? id : SpanId::none()});
    }
    if (marks.size() > best.size()) best = std::move(marks);
  }
  return best;
}

}  // namespace rankscope::analyzer
