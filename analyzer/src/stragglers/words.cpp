#include "stragglers/parts.h"

#include "python_stacks/slow_code.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {

std::string when_text(const Straggler& row) {
  if (row.until_step) return format("in steps {} to {}", row.since_step.value_or(0), *row.until_step);
  if (row.since_step) return format("from step {} on", *row.since_step);
  return row.persistence == Persistence::transient ? "now and then" : std::string{};
}

std::string arrived_last_text(std::string_view rank, std::int64_t times, std::string_view of, bool of_steps) {
  return format("{} arrived last {}in {} of {}", rank,
                of_steps ? "at the step's operation with the longest waits " : "", times, of);
}

std::string code_text(const Straggler& row) {
  std::string text;
  if (row.code) text = format("; the time goes into {}", slow_code_text(*row.code));
  if (row.pauses)
    text += format("; its garbage collector takes {} per step, compared with {} for its peers",
                   duration_text(row.pauses->ns_per_step), duration_text(row.pauses->peers_ns_per_step));
  if (row.more_work) text += format("; it calls {}", more_work_text(*row.more_work));
  return text;
}

std::string code_sentence(const Straggler& row) {
  if (row.code) return format("The time goes into {}.", printable(slow_code_text(*row.code)));
  if (row.more_work) return format("It calls {}.", printable(more_work_text(*row.more_work)));
  if (!row.pauses) return {};
  return format("Its garbage collector takes {} per step, compared with {} for its peers.",
                duration_text(row.pauses->ns_per_step), duration_text(row.pauses->peers_ns_per_step));
}

std::string more_work_text(const MoreWork& more) {
  const std::string usual =
      more.peers_calls_per_step > 0 ? format("{:.3g} times", more.peers_calls_per_step) : std::string{"never"};
  return format("{} {:.3g} times per step ({}), its peers {}", more.op, more.calls_per_step,
                duration_text(more.ns_per_step), usual);
}

std::string together_text(const Straggler& row) {
  if (!row.together || row.together->ns_per_step <= row.gain_ns_per_step) return {};
  return format("if {} were as fast as their peers, an average step would be about {} shorter",
                ranks_text(row.together->ranks), duration_text(row.together->ns_per_step));
}

std::string_view behaviour_of(const Straggler& row) {
  if (row.more_work && row.kind == StragglerKind::compute) return "has more to compute than its peers";
  switch (row.kind) {
    case StragglerKind::compute:
      return "computes more slowly than its peers";
    case StragglerKind::host:
      return "is idle longer than its peers because of its host";
    case StragglerKind::data:
      return "waits longer than its peers for its training data";
    case StragglerKind::network:
      return "takes longer than its peers to start its communication or to transfer data";
    case StragglerKind::memory:
      return "spends more time in memory copies than its peers";
    case StragglerKind::mixed:
      return "is slower than its peers in several ways at once";
  }
  return {};
}

std::string_view short_words_of(StragglerKind kind) {
  if (kind == StragglerKind::memory) return "copies";
  if (kind == StragglerKind::mixed) return "several causes";
  return name_of(kind);
}

std::string_view name_of(StragglerKind kind) {
  switch (kind) {
    case StragglerKind::compute:
      return "compute";
    case StragglerKind::host:
      return "host";
    case StragglerKind::data:
      return "data";
    case StragglerKind::network:
      return "network";
    case StragglerKind::memory:
      return "memory";
    case StragglerKind::mixed:
      return "mixed";
  }
  return "?";
}

std::string_view doubt_about(Certainty certainty) {
  switch (certainty) {
    case Certainty::fact:
      return "";
    case Certainty::of_two:
      return "; with only two ranks to compare, it is not known which one is abnormal";
    case Certainty::of_three:
      return "; with only three ranks to compare, this does not prove that the rank is abnormal";
    case Certainty::few_steps:
      return "; there are too few steps to prove that the difference persists";
  }
  return "";
}

std::string_view name_of(Persistence persistence) {
  switch (persistence) {
    case Persistence::persistent:
      return "persistent";
    case Persistence::transient:
      return "transient";
  }
  return "?";
}

}  // namespace rankscope::analyzer
