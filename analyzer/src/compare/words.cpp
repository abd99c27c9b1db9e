#include "compare/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view one_run_a_side =
    "Only two runs are compared, so a change cannot be told apart from differences that any two runs have (nodes, "
    "clocks, other jobs).";

std::string entries(std::int64_t count) { return count == 1 ? "1 entry" : format("{} entries", count); }

std::string unknown_sentence(const Likeness& likeness) {
  std::string list;
  for (const std::string& what : likeness.unknown) list += (list.empty() ? "" : " and ") + what;
  return list.empty()
             ? list
             : format(
                   "It is not known whether the runs have the same {}, because at least one recording lacks this "
                   "information.",
                   list);
}

/// Counters of altered data that no loss names.
std::string doubt_sentence(const ComparedRun& run) {
  std::string list;
  for (std::string counter : run.losses) {
    const std::string id = counter.substr(0, counter.find(':'));
    if (std::ranges::find(run.lost, id, &Loss::id) != run.lost.end()) continue;
    std::ranges::replace(counter, '_', ' ');
    list += (list.empty() ? "" : ", ") + counter;
  }
  return list.empty() ? list
                      : format("Some of the data in {} cannot be trusted ({}); `rankscope report` says why.",
                               run.name.label, list);
}

std::string list_of(const ComparedRun& run, LossReach reach) {
  std::string list;
  for (const Loss& loss : run.lost)
    if (loss.reach == reach) list += (list.empty() ? "" : "; ") + loss.what;
  return list;
}

/// What is missing of a run, each a sentence; empty ones for what is intact.
std::array<std::string, 2> loss_sentences(const ComparedRun& run, Losses losses) {
  std::array<std::string, 2> sentences;
  const std::string compared = list_of(run, LossReach::compared);
  const std::string_view accepted = losses == Losses::accepted ? " (accepted with --accept-losses)" : "";
  if (!compared.empty()) sentences[0] = sentence(format("{} is not intact{}: {}", run.name.label, accepted, compared));
  const std::string rest = list_of(run, LossReach::elsewhere);
  if (!rest.empty())
    sentences[1] = sentence(format("Losses outside the compared steps and ranks of {}: {}", run.name.label, rest));
  return sentences;
}

}  // namespace

std::string signed_percent(double share) {
  constexpr double many = 100;  // times: a percentage says nothing any more
  if (share >= many) return format("{:.0f} times", share + 1);
  const std::string text = format("{:+.1f} %", share * 100);
  return text == "-0.0 %" ? "+0.0 %" : text;
}

std::string signed_ms(std::int64_t microseconds) { return (microseconds < 0 ? "" : "+") + decimal(microseconds, 3); }

std::string other_job(const Likeness& likeness) {
  std::string list;
  for (const Difference& row : likeness.differences)
    if (row.must_agree) list += format("{}{} {} against {}", list.empty() ? "" : ", ", row.what, row.a, row.b);
  return list;
}

std::string likeness_sentence(const Likeness& likeness) {
  const std::string list = printable(other_job(likeness));
  return list.empty() ? list : format("These are not runs of the same job: {}.", list);
}

std::vector<std::string> doubts_about(const Comparison& comparison) {
  std::vector<std::string> sentences = caveats_of(comparison);
  if (std::string other_job = likeness_sentence(comparison.likeness); !other_job.empty())
    sentences.insert(sentences.begin(), std::move(other_job));
  return sentences;
}

std::string_view words_of(SplitPart part) {
  switch (part) {
    case SplitPart::compute:
      return "compute";
    case SplitPart::exposed_wait:
      return "waiting for other ranks";
    case SplitPart::exposed_transfer:
      return "transfer between ranks";
    case SplitPart::exposed_unsplit:
      return "waiting or transfer";
    case SplitPart::memory:
      return "copies";
    case SplitPart::idle_host:
      return "idle: host late";
    case SplitPart::idle_sync:
      return "idle: synchronization";
    case SplitPart::idle_data:
      return "idle: waiting for data";
    case SplitPart::idle_kernel_gap:
      return "idle: gaps between kernels";
    case SplitPart::idle_other:
      return "idle: other causes";
  }
  return "?";
}

std::string_view words_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::kernel:
      return "kernel";
    case KeyKind::comm_kernel:
      return "comm kernel";
    case KeyKind::copy:
      return "copy";
    case KeyKind::op:
      return "operator";
    case KeyKind::annotation:
      return "annotation";
    case KeyKind::wait:
      return "waiting";
    case KeyKind::transfer:
      return "transfer";
  }
  return "?";
}

std::vector<std::string> caveats_of(const Comparison& comparison) {
  std::vector<std::string> sentences;
  const auto add = [&](std::string text) {
    if (!text.empty()) sentences.push_back(std::move(text));
  };
  if (!comparison.asked_for.ranks.empty())
    add(format("Step times are those of the whole job, whichever ranks were selected; everything else covers {} only.",
               ranks_text(comparison.asked_for.ranks)));
  if (comparison.a.name.path == comparison.b.name.path) add("Both runs are the same recording.");
  add(unknown_sentence(comparison.likeness));
  for (const ComparedRun* run : {&comparison.a, &comparison.b}) {
    for (std::string& text : loss_sentences(*run, comparison.losses)) add(std::move(text));
    add(doubt_sentence(*run));
  }
  add(std::string{one_run_a_side});
  return sentences;
}

std::vector<std::string> unlisted_keys(const KeyComparison& keys) {
  std::vector<std::string> sentences;
  if (keys.maybe_chance > 0)
    sentences.push_back(format("Not listed: {} that changed by at least 1 % of a step, but perhaps by chance.",
                               entries(keys.maybe_chance)));
  if (keys.small_appeared + keys.small_gone > 0)
    sentences.push_back(
        format("Not listed: entries below 1 % of a step ({} new, {} gone).", keys.small_appeared, keys.small_gone));
  return sentences;
}

std::string findings_unknown(const ComparedFindings& findings) {
  if (findings.why_unknown.empty()) return {};
  return format("Findings were not compared: {}.", printable(findings.why_unknown));
}

std::string facts_text(const ComparedRun& run) {
  const std::string ranks =
      run.world_size > run.ranks ? format("{} of {} ranks", run.ranks, run.world_size) : counted(run.ranks, "rank");
  const std::string steps =
      run.median_ns ? format("{}, median {}", counted(run.counted_steps, "counted step"), duration_text(*run.median_ns))
                    : format("no steps: {}", printable(run.why_no_steps));
  return format("{} · {} · recorded by {}", ranks, steps, printable(run.source));
}

std::string title_of(const ComparedRun& run) {
  const std::string_view label = run.name.label;
  return std::string{label.starts_with("the ") ? label.substr(4) : label};
}

std::string scaling_text(const Comparison& comparison) {
  if (!comparison.scaling) return {};
  const std::string& a = comparison.a.name.label;
  const std::string& b = comparison.b.name.label;
  if (!*comparison.scaling) return format("It is not known how the job scales: {}.", comparison.scaling->error().why);
  const RankScaling& scaling = **comparison.scaling;
  return format(
      "{} ranks compared with {}: together, the ranks of {} compute {:.2f} times as long per step as those of {}. "
      "Computation scaling is {:.2f} if both runs solve the same problem and {:.2f} if the problem grows with the "
      "number of ranks. The ranks spend {} of their time computing in {}, and {} in {}. The global efficiency is the "
      "product of computation scaling and the second of these shares: {:.2f} if both runs solve the same problem, and "
      "{:.2f} if the problem grows.",
      comparison.b.ranks, comparison.a.ranks, b, 1 / scaling.same_problem, a, scaling.same_problem,
      scaling.grown_problem, percent_text(scaling.parallel_a), a, percent_text(scaling.parallel_b), b,
      scaling.same_problem * scaling.parallel_b, scaling.grown_problem * scaling.parallel_b);
}

}  // namespace rankscope::analyzer
