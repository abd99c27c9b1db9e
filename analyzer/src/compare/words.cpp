#include "compare/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view one_run_a_side =
    "With one run per side, a change cannot be told apart from differences between any two runs (nodes, clocks, other "
    "jobs).";

/// "idle time (host late)" instead of "idle: host late".
std::string in_sentence(SplitPart part) {
  constexpr std::string_view idle = "idle: ";
  const std::string_view words = words_of(part);
  return words.starts_with(idle) ? format("idle time ({})", words.substr(idle.size())) : std::string{words};
}

std::string entries(std::int64_t count) { return count == 1 ? "1 entry" : format("{} entries", count); }

/// A change that an interval must exclude to be called steady (a critical one, metrics.md 20).
constexpr double wide_interval = 0.10;

std::string interval_text(const StepComparison& steps) {
  return format("the 95 % interval of the change is {} to {}", signed_percent(*steps.low), signed_percent(*steps.high));
}

/// "103 ms instead of 98.8 ms"; empty if one has no steps.
std::string medians_text(const Comparison& comparison) {
  if (!comparison.a.median_ns || !comparison.b.median_ns) return {};
  return format("{} instead of {}", duration_text(*comparison.b.median_ns), duration_text(*comparison.a.median_ns));
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

/// Parts of a step that are a rank's own: its network's are shared with others.
constexpr std::array own_parts{SplitPart::compute, SplitPart::memory, SplitPart::idle_host, SplitPart::idle_data};

/// Whose own work changed by at least half of what the step did, where most of the change of all is waiting and its own
/// waiting hardly changed: "Rank 2: 51.0 ms more compute per step, and the others wait longer for it"; empty if
/// nobody's did.
std::string cause_of_waiting(const SplitComparison& split, std::int64_t sign) {
  const SplitChange* who = nullptr;
  auto part = SplitPart::compute;
  std::int64_t most = 0;
  for (const SplitChange& row : split.ranks)
    for (const SplitPart own : own_parts) {
      if (sign * row.change_ns(own) <= most) continue;
      who = &row, part = own, most = sign * row.change_ns(own);
    }
  if (who == nullptr || 2 * most < sign * split.all.window_change_ns()) return {};
  const auto waits = [sign](const SplitChange& row) { return sign * row.change_ns(SplitPart::exposed_wait); };
  if (2 * waits(*who) > waits(split.all)) return {};
  return format("{}: {} {} {} per step, and the others wait {} for it", capital(who->who), duration_text(most),
                sign > 0 ? "more" : "less", in_sentence(part), sign > 0 ? "longer" : "less");
}

/// The part that changed most in the direction of the step, or its cause; empty if there is none.
std::string largest_part(const Comparison& comparison) {
  if (!comparison.split || !comparison.steps.change) return {};
  const SplitChange& all = comparison.split->all;
  const std::int64_t sign = *comparison.steps.change < 0 ? -1 : 1;
  SplitPart largest = SplitPart::compute;
  for (std::size_t i = 0; i < split_part_count; ++i)
    if (const auto part = static_cast<SplitPart>(i); sign * all.change_ns(part) > sign * all.change_ns(largest))
      largest = part;
  if (sign * all.change_ns(largest) <= 0) return {};
  if (largest == SplitPart::exposed_wait)
    if (const std::string cause = cause_of_waiting(*comparison.split, sign); !cause.empty()) return cause + ".";
  const std::int64_t part_ns = sign * all.change_ns(largest);
  const bool most = 2 * part_ns > sign * all.window_change_ns();
  const std::string of_ranks =
      comparison.asked_for.ranks.empty() ? std::string{} : format(" on {}", ranks_text(comparison.asked_for.ranks));
  return format("{}{} is {}: {} {} per step and rank.", most ? "Most of the change" : "The largest part of the change",
                of_ranks, in_sentence(largest), duration_text(part_ns), sign > 0 ? "more" : "less");
}

std::string_view are(std::size_t count) { return count == 1 ? "is" : "are"; }

std::string keys_sentence(const KeyComparison& keys) {
  constexpr std::string_view what = "kernels, operators and communication operations";
  if (keys.least_change_ns == 0) {  // no steps
    if (keys.appeared.empty() && keys.gone.empty()) return {};
    return format("Of the {}, {} {} new and {} {} gone.", what, keys.appeared.size(), are(keys.appeared.size()),
                  keys.gone.size(), are(keys.gone.size()));
  }
  if (keys.changed.empty() && keys.appeared.empty() && keys.gone.empty()) {
    if (keys.in_both == 0) return {};
    return keys.not_tested.empty()
               ? format("Of {} {}, none changed significantly (by at least 1 % of a step).", keys.in_both, what)
               : format("Of {} {}, none changed by at least 1 % of a step.", keys.in_both, what);
  }
  std::string text = format("{} of the {} changed {}", keys.changed.size(), what,
                            keys.not_tested.empty() ? "significantly (by at least 1 % of a step)"
                                                    : "by at least 1 % of a step (not tested for significance)");
  if (!keys.appeared.empty()) text += format(", {} {} new", keys.appeared.size(), are(keys.appeared.size()));
  if (!keys.gone.empty()) text += format(", {} {} gone", keys.gone.size(), are(keys.gone.size()));
  return text + ".";
}

std::string likeness_sentence(const Likeness& likeness) {
  std::string list;
  for (const Difference& row : likeness.differences)
    if (row.must_agree)
      list += format("{}{} {} against {}", list.empty() ? "" : ", ", printable(row.what), printable(row.a),
                     printable(row.b));
  return list.empty() ? list : format("These are not runs of the same job: {}.", list);
}

Verdict on_steps(const Comparison& comparison) {
  const StepComparison& steps = comparison.steps;
  const std::string& a = comparison.a.name.label;
  const std::string b = capital(comparison.b.name.label);
  switch (steps.verdict) {
    case StepVerdict::slower:
      return {steps.severity >= FindingSeverity::major ? Tone::bad : Tone::warning,
              format("{} is {:.1f} % slower than {}.", b, *steps.change * 100, a),
              {format("The median step takes {}; {}.", medians_text(comparison), interval_text(steps)),
               largest_part(comparison)}};
    case StepVerdict::faster:
      return {Tone::good,
              format("{} is {:.1f} % faster than {}.", b, -*steps.change * 100, a),
              {format("The median step takes {}; {}.", medians_text(comparison), interval_text(steps)),
               largest_part(comparison)}};
    case StepVerdict::unchanged: {
      const double hidden = std::max(-*steps.low, *steps.high);
      return {hidden < wide_interval ? Tone::good : Tone::warning,
              format("No change in the step time was found between {} and {}{}.", a, comparison.b.name.label,
                     hidden < wide_interval ? "" : ", but the steps vary too much to exclude a large change"),
              {format("The median step takes {} ({}); {}, so a change within this interval is not excluded.",
                      medians_text(comparison), signed_percent(*steps.change), interval_text(steps))}};
    }
    case StepVerdict::cannot_tell:
      break;
  }
  Verdict verdict{Tone::warning,
                  format("Cannot tell whether {} is slower or faster than {}: {}.", comparison.b.name.label, a,
                         printable(steps.why)),
                  {}};
  if (steps.change)
    verdict.more.push_back(format("The median step takes {} ({}). An interval cannot be computed.",
                                  medians_text(comparison), signed_percent(*steps.change)));
  return verdict;
}

std::string limit_text(double limit) { return format("{:g} %", limit * 100); }

/// "The run is 1.2 % slower than the baseline"
std::string change_sentence(const Comparison& comparison) {
  const double change = *comparison.steps.change;
  if (change == 0) return "the median step of the run is as long as that of the baseline";
  return format("the median step of the run is {:.1f} % {} than that of the baseline", std::abs(change) * 100,
                change > 0 ? "longer" : "shorter");
}

Verdict on_gate(const Comparison& comparison, const Gate& gate) {
  const StepComparison& steps = comparison.steps;
  std::string found;
  if (steps.change)
    found = format("{} ({}; {})", change_sentence(comparison), medians_text(comparison),
                   steps.low ? interval_text(steps) : "an interval cannot be computed");
  const std::string limit = format("the limit is {}", limit_text(gate.limit));
  switch (gate.verdict) {
    case GateVerdict::pass:
      return {Tone::good, format("PASS: {}; {}.", found, limit), {}};
    case GateVerdict::fail:
      return {Tone::bad, format("FAIL: {}; {}.", found, limit), {largest_part(comparison)}};
    case GateVerdict::cannot_tell:
      break;
  }
  return {Tone::warning,
          format("CANNOT TELL: {}.", printable(gate.why)),
          {found.empty() ? std::string{} : capital(format("{}; {}.", found, limit))}};
}

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

std::string loss_sentence(const ComparedRun& run) {
  std::string list;
  for (std::string loss : run.losses) {
    std::ranges::replace(loss, '_', ' ');
    list += (list.empty() ? "" : ", ") + loss;
  }
  return list.empty()
             ? list
             : format("Not all data of {} can be trusted ({}); `rankscope report` says why.", run.name.label, list);
}

}  // namespace

std::string signed_percent(double share) {
  constexpr double many = 100;  // times: a percentage says nothing any more
  if (share >= many) return format("{:.0f} times", share + 1);
  const std::string text = format("{:+.1f} %", share * 100);
  return text == "-0.0 %" ? "+0.0 %" : text;
}

std::string signed_ms(std::int64_t microseconds) { return (microseconds < 0 ? "" : "+") + decimal(microseconds, 3); }

Verdict verdict_of(const ComparisonView& view) {
  Verdict verdict = view.gate ? on_gate(view.comparison, *view.gate) : on_steps(view.comparison);
  verdict.more.push_back(keys_sentence(view.comparison.keys));
  const bool said = view.gate && !view.gate->why.empty();
  if (!said) verdict.more.push_back(likeness_sentence(view.comparison.likeness));
  std::erase(verdict.more, "");
  return verdict;
}

std::string verdict_line(const ComparisonView& view) {
  const Comparison& comparison = view.comparison;
  Verdict verdict = view.gate ? on_gate(comparison, *view.gate) : on_steps(comparison);
  const bool in_headline = view.gate && view.gate->why.empty();
  if (!in_headline && !verdict.more.empty() && !verdict.more.front().empty())
    verdict.headline += " " + verdict.more.front();
  return format("{} ({} against {})", verdict.headline, printable(comparison.b.name.path),
                printable(comparison.a.name.path));
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
  if (comparison.a.name.path == comparison.b.name.path) add("Both are the same recording.");
  add(unknown_sentence(comparison.likeness));
  add(loss_sentence(comparison.a));
  add(loss_sentence(comparison.b));
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
      "number of ranks. The ranks spend {} of their time computing in {}, and {} in {}. Computation scaling times the "
      "second of these shares is the global efficiency: {:.2f} or {:.2f}.",
      comparison.b.ranks, comparison.a.ranks, b, 1 / scaling.same_problem, a, scaling.same_problem,
      scaling.grown_problem, percent_text(scaling.parallel_a), a, percent_text(scaling.parallel_b), b,
      scaling.same_problem * scaling.parallel_b, scaling.grown_problem * scaling.parallel_b);
}

}  // namespace rankscope::analyzer
