#include "trend/parts.h"

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string_view words_of(StragglerKind kind) {
  switch (kind) {
    case StragglerKind::compute:
      return "mainly compute";
    case StragglerKind::host:
      return "mainly time on the host";
    case StragglerKind::data:
      return "mainly waiting for data";
    case StragglerKind::network:
      return "mainly late communication";
    case StragglerKind::memory:
      return "mainly copies";
    case StragglerKind::mixed:
      return "several causes";
  }
  return {};
}

}  // namespace

std::string grown_text(std::span<const GrownPart> ranks, std::string_view why_none) {
  if (ranks.empty() && !why_none.empty()) return format("it is not known which rank caused this ({})", why_none);
  if (ranks.empty()) return "no rank's own time changed: the difference is in communication";
  std::string text;
  for (const StragglerKind kind : {StragglerKind::compute, StragglerKind::host, StragglerKind::data,
                                   StragglerKind::network, StragglerKind::memory, StragglerKind::mixed}) {
    std::vector<RankId> named;
    std::vector<std::int64_t> before;
    std::vector<std::int64_t> after;
    for (const GrownPart& part : ranks) {
      if (part.kind != kind) continue;
      named.push_back(part.rank);
      before.push_back(part.before_ns);
      after.push_back(part.after_ns);
    }
    if (named.empty()) continue;
    text += format("{}{}: own time {} instead of {} ({})", text.empty() ? "" : "; ", ranks_text(named),
                   duration_text(median(after)), duration_text(median(before)), words_of(kind));
  }
  return text;
}

std::string change_text(const StepChange& change) {
  return format("from step {} on, steps take {:.2f} times as long, {} instead of {}; {}", change.step, change.ratio(),
                duration_text(change.after_ns), duration_text(change.before_ns),
                grown_text(change.ranks, change.why_no_ranks));
}

std::string odd_text(const OddStep& odd) {
  return format("step {} took {}, {} more than usual; {}", odd.step, duration_text(odd.wall_ns),
                duration_text(odd.excess_ns), grown_text(odd.ranks, odd.why_no_ranks));
}

}  // namespace rankscope::analyzer
