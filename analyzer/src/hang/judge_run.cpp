#include <algorithm>
#include <csignal>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "alignment/aligned_run.h"
#include "hang/judge.h"
#include "hang/parts.h"
#include "hang/process_ends.h"
#include "hang/reported_root.h"
#include "hang/run_progress.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace hang {
namespace {

constexpr std::int64_t killed_together_ns = 1'000'000'000;

EndOfProcess end_of(const Process& process, const ProcessEnd* end) {
  EndOfProcess known;
  if (end != nullptr && end->signal > 0) {
    known = {.life = Life::signalled, .signal = end->signal, .note = signal_words(end->signal)};
  } else if (end != nullptr && end->how_known) {
    known = {.life = Life::exited, .exit_status = end->status};
  } else if (process.ending == Ending::exited) {
    known = {.life = Life::exited, .exit_status = process.exit_status};
  } else {
    known = {.life = Life::vanished};
  }
  return known;
}

/// Processes were alive then, or noticed that others were not: operations that were open until then are no short ones.
std::int64_t alive_until(const Run& run, const EndsOfRun& ends, std::int64_t now_unix_ns) {
  if (recorded_in_part(run)) return 0;
  if (!run.metadata("still_running").empty()) return now_unix_ns;
  const std::int64_t last = number_from<std::int64_t>(run.metadata("stopped_at_unix_ns")).value_or(0);
  return std::max(last, ends.last_unix_ns());
}

/// Of a rank that never came to an operation, if nobody can look at its process any more.
std::string advice_after_end(const Run& run, const HangRoot& root) {
  const std::string ranks = ranks_text(root.ranks);
  if (!root.stack.empty())
    return format("Look at {} and at the log of {}: what ran instead of the operation?", root.stack.back(), ranks);
  if (!run.metadata("hang_seen_at_unix_ns").empty())
    return format(
        "Look at the log of {} and at the stacks in the recording (hang/rank-N-stacks.txt, if they could be written): "
        "what ran instead of the operation?",
        ranks);
  return format(
      "Look at the log of {}: what ran instead of the operation? Record with --hang-after SECONDS to get the stacks of "
      "stuck ranks.",
      ranks);
}

void name_oom_killer(const Run& run, HangRoot& root) {
  for (const RankId rank : root.ranks) {
    const std::string words = oom_words(run, rank);
    if (words.empty()) continue;
    root.evidence += "; " + words;
    if (std::string advice = oom_advice(run, rank); !advice.empty()) root.advice = std::move(advice);
    return;
  }
}

class RunJudge {
 public:
  RunJudge(const Run& run, const EndsOfRun& ends, std::int64_t now_unix_ns)
      : run_(run), ends_(ends), job_(progress_of_run(run_, alive_until(run_, ends_, now_unix_ns))) {}

  HangReport report(std::span<const Finding> findings) {
    for (const Finding& finding : findings)
      if (finding.id == finding_id::rank_lost || finding.id == finding_id::lost_at_start) mark_lost(finding);
    mark_other_dead();
    HangReport report = judge(job_);
    report.has_ended = run_.metadata("still_running").empty();
    report.job_has_ended = report.has_ended && !recorded_in_part(run_);
    for (HangRoot& root : report.roots)
      if (report.job_has_ended && (root.kind == HangKind::never_came || root.kind == HangKind::stuck_outside))
        root.advice = advice_after_end(run_, root);
    for (HangRoot& root : report.roots)
      if (root.kind == HangKind::dead) name_oom_killer(run_, root);
    if (report.roots.empty() && lost_) report.roots.push_back(root_without_waiting());
    if (lost_ && report.verdict == HangVerdict::finished) report.verdict = verdict_of_loss();
    if (!lost_ && report.verdict == HangVerdict::hang && everything_ended_well()) {
      // Operations that nobody waited for any more when all processes exited.
      report.roots.clear();
      report.waiting.clear();
      report.verdict = HangVerdict::finished;
    }
    if (auto root = reported_root(run_)) {
      // All else follows: the others miss a rank that ended for this reason.
      report.roots = {std::move(*root)};
      report.verdict = HangVerdict::failed;
      report.why_not_told.clear();
    }
    if (report.verdict == HangVerdict::cannot_tell && !run_.ranks().empty() && run_.collectives().empty() && !lost_)
      report.why_not_told = "the recording holds no communication, and no rank ended early";
    return report;
  }

 private:
  void mark_lost(const Finding& finding) {
    if (!finding.rank || lost_) return;
    const RankId rank = *finding.rank;
    const auto known = job_.ranks.find(rank.value);
    if (known == job_.ranks.end() || known->second.witness != Witness::recording) return;
    RankProgress& progress = known->second;
    if (finding.step) progress.place.step = finding.step;
    EndOfProcess end = end_of(run_.process_of(rank), ends_.of(rank));
    if (ends_.hung(rank)) return progress.end_after_hang = std::move(end), void();
    progress.end = std::move(end);
    lost_ = rank;
    why_ = finding.evidence;
  }

  /// Those that ended by themselves beside the first: by a fault of their own, or killed together with it, as the
  /// out-of-memory killer does. Whoever waited for another then may only have noticed its end.
  void mark_other_dead() {
    const ProcessEnd* const first = lost_ ? ends_.of(*lost_) : nullptr;
    for (const RankId rank : run_.ranks()) {
      const ProcessEnd* const end = ends_.of(rank);
      RankProgress& progress = job_.ranks.at(rank.value);
      if (rank == lost_ || end == nullptr || !progress.open.empty()) continue;
      const bool killed_with_it = first != nullptr && first->signal == SIGKILL && end->signal == SIGKILL &&
                                  first->at_unix_ns > 0 && end->at_unix_ns > 0 &&
                                  end->at_unix_ns - first->at_unix_ns < killed_together_ns;
      if (is_own_fault(end->signal) || killed_with_it) progress.end = end_of(run_.process_of(rank), end);
    }
  }

  [[nodiscard]] bool everything_ended_well() const {
    return std::ranges::all_of(run_.ranks(), [this](RankId rank) {
      const Process& process = run_.process_of(rank);
      return process.ending == Ending::exited && process.exit_status == 0;
    });
  }

  [[nodiscard]] HangVerdict verdict_of_loss() const {
    return job_.ranks.at(lost_->value).end.life == Life::exited ? HangVerdict::failed : HangVerdict::crash;
  }

  /// The others noticed that it was gone, and ended, too: nobody waits for it in the recording.
  [[nodiscard]] HangRoot root_without_waiting() const {
    const RankProgress& progress = job_.ranks.at(lost_->value);
    HangRoot root{.ranks = {*lost_}, .kind = HangKind::dead};
    root.certainty = HangCertainty::fact;
    if (progress.end.life == Life::signalled) root.signal = progress.end.signal;
    if (progress.end.life == Life::exited) root.exit_status = progress.end.exit_status;
    root.step = progress.place.step;
    root.range = progress.place.range;
    root.evidence = why_;
    root.advice = oom_advice(run_, *lost_);
    if (root.advice.empty())
      root.advice = format(
          "Look at the last lines of the log of rank {} and at the kernel log of its host (out of memory, hardware "
          "error).",
          lost_->value);
    return root;
  }

  const Run& run_;
  const EndsOfRun& ends_;
  JobProgress job_;
  std::optional<RankId> lost_;
  std::string why_;
};

}  // namespace

HangReport judge_ended(const Run& run, const EndsOfRun& ends, std::span<const Finding> lost, std::int64_t now_unix_ns) {
  return RunJudge{run, ends, now_unix_ns}.report(lost);
}

}  // namespace hang

HangReport judge_run(const Run& run, std::int64_t now_unix_ns) {
  const AlignedRun aligned{run};
  const hang::EndsOfRun ends{aligned.run(), aligned.clocks()};
  const StepsResult steps = find_steps(aligned.run(), aligned.clocks(), {});
  const std::vector<Finding> lost = find_lost_ranks(aligned.run(), steps.all, aligned.clocks(), ends);
  return hang::judge_ended(aligned.run(), ends, lost, now_unix_ns);
}

}  // namespace rankscope::analyzer
