// The first sentences of a comparison: whether the steps became longer, by how much, and where.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "compare/losses.h"
#include "compare/words.h"
#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

/// "idle time (host late)" instead of "idle: host late".
std::string in_sentence(SplitPart part) {
  constexpr std::string_view idle = "idle: ";
  const std::string_view words = words_of(part);
  return words.starts_with(idle) ? format("idle time ({})", words.substr(idle.size())) : std::string{words};
}

/// A change that an interval must exclude to be called steady (a critical one, metrics.md 20).
constexpr double wide_interval = 0.10;

/// What one measure says of the steps of both runs.
struct Measured {
  std::string_view name;  // "median"
  std::optional<std::int64_t> a_ns;
  std::optional<std::int64_t> b_ns;
  std::optional<double> change;
  std::optional<std::pair<double, double>> interval;
};

Measured measure_of(const Comparison& comparison, StepMeasure measure) {
  const StepComparison& steps = comparison.steps;
  Measured found{name_of(measure), comparison.a.median_ns, comparison.b.median_ns, steps.change, std::nullopt};
  if (steps.low && steps.high) found.interval = {*steps.low, *steps.high};
  if (measure == StepMeasure::median) return found;
  found.a_ns = comparison.a.mean_ns;
  found.b_ns = comparison.b.mean_ns;
  found.change = steps.mean ? std::optional{steps.mean->change} : std::nullopt;
  found.interval.reset();
  if (steps.mean) found.interval = {steps.mean->low, steps.mean->high};
  return found;
}

std::string interval_text(const Measured& found) {
  if (!found.interval) return "the 95 % interval of the change cannot be computed";
  return format("the 95 % interval of the change is {} to {}", signed_percent(found.interval->first),
                signed_percent(found.interval->second));
}

/// "103 ms instead of 98.8 ms"; empty if one has no steps.
std::string lengths_text(const Measured& found) {
  if (!found.a_ns || !found.b_ns) return {};
  return format("{} instead of {}", duration_text(*found.b_ns), duration_text(*found.a_ns));
}

/// "The mean step takes 166 ms instead of 100 ms (+66.0 %)": where it changed otherwise than the median; else empty.
std::string other_measure(const Comparison& comparison, StepMeasure said) {
  const StepComparison& steps = comparison.steps;
  if (!steps.mean || !steps.low || !steps.high) return {};
  const bool alike = steps.mean->change >= *steps.low && steps.mean->change <= *steps.high;
  if (said == StepMeasure::median && alike) return {};
  const Measured other = measure_of(comparison, said == StepMeasure::mean ? StepMeasure::median : StepMeasure::mean);
  if (!other.change || !other.a_ns || !other.b_ns) return {};
  return format("The {} step takes {} ({}).", other.name, lengths_text(other), signed_percent(*other.change));
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

/// Parts of a step that are a rank's own: its network's are shared with others.
constexpr std::array own_parts{SplitPart::compute, SplitPart::memory, SplitPart::idle_host, SplitPart::idle_data};

/// Whose own work changed by at least half of what the step did, where most of the change of all is waiting and its own
/// waiting hardly changed: "Compute grew by 51.0 ms per step on rank 2, and the other ranks therefore wait longer";
/// empty if nobody's did.
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
  return format("{} {} by {} per step on {}, and the other ranks therefore wait {}", capital(in_sentence(part)),
                sign > 0 ? "grew" : "shrank", duration_text(most), who->who, sign > 0 ? "longer" : "less");
}

/// The part that changed most in the direction of the step (1: longer, -1: shorter), or its cause; empty if there is
/// none.
std::string largest_part(const Comparison& comparison, std::int64_t sign) {
  if (!comparison.split) return {};
  const SplitChange& all = comparison.split->all;
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

/// "The median step takes 103 ms instead of 98.8 ms; the 95 % interval of the change is +3.9 % to +4.6 %."
std::string measure_sentence(const Measured& found) {
  return format("The {} step takes {}; {}.", found.name, lengths_text(found), interval_text(found));
}

Verdict on_change(const Comparison& comparison, Tone tone, std::string_view direction) {
  const StepMeasure measure = comparison.steps.judged_by;
  const Measured found = measure_of(comparison, measure);
  const std::string_view average = measure == StepMeasure::mean ? " on average" : "";
  return {tone,
          format("{} is {:.1f} % {} than {}{}.", capital(comparison.b.name.label), std::abs(*found.change) * 100,
                 direction, comparison.a.name.label, average),
          {measure_sentence(found), other_measure(comparison, measure),
           largest_part(comparison, *found.change > 0 ? 1 : -1)}};
}

Verdict on_no_change(const Comparison& comparison) {
  const Measured found = measure_of(comparison, StepMeasure::median);
  const double hidden = std::max(-found.interval->first, found.interval->second);
  return {hidden < wide_interval ? Tone::good : Tone::warning,
          format("No change in the step time was found between {} and {}{}.", comparison.a.name.label,
                 comparison.b.name.label,
                 hidden < wide_interval ? "" : ", but the steps vary too much to exclude a large change"),
          {format("The median step takes {} ({}); {}, so a change within this interval is not excluded.",
                  lengths_text(found), signed_percent(*found.change), interval_text(found)),
           other_measure(comparison, StepMeasure::median)}};
}

Verdict on_unknown(const Comparison& comparison) {
  const Measured found = measure_of(comparison, StepMeasure::median);
  Verdict verdict{Tone::warning,
                  format("Cannot tell whether {} is slower or faster than {}: {}.", comparison.b.name.label,
                         comparison.a.name.label, printable(comparison.steps.why)),
                  {}};
  if (found.change)
    verdict.more = {format("The median step takes {} ({}). {}.", lengths_text(found), signed_percent(*found.change),
                           capital(interval_text(found))),
                    other_measure(comparison, StepMeasure::median)};
  return verdict;
}

Verdict on_steps(const Comparison& comparison) {
  const StepComparison& steps = comparison.steps;
  switch (steps.verdict) {
    case StepVerdict::slower:
      return on_change(comparison, steps.severity >= FindingSeverity::major ? Tone::bad : Tone::warning, "slower");
    case StepVerdict::faster:
      return on_change(comparison, Tone::good, "faster");
    case StepVerdict::unchanged:
      return on_no_change(comparison);
    case StepVerdict::cannot_tell:
      break;
  }
  return on_unknown(comparison);
}

std::string limit_text(double limit) { return format("{:g} %", limit * 100); }

/// "the median step of the run is 1.2 % longer than that of the baseline"
std::string change_sentence(const Measured& found) {
  if (*found.change == 0) return format("the {} step of the run is as long as that of the baseline", found.name);
  return format("the {} step of the run is {:.1f} % {} than that of the baseline", found.name,
                std::abs(*found.change) * 100, *found.change > 0 ? "longer" : "shorter");
}

Verdict on_gate(const Comparison& comparison, const Gate& gate) {
  const Measured measure = measure_of(comparison, gate.judged_by);
  std::string found;
  if (measure.change)
    found = format("{} ({}; {})", change_sentence(measure), lengths_text(measure), interval_text(measure));
  const std::string limit = format("the limit is {}", limit_text(gate.limit));
  const std::string other = other_measure(comparison, gate.judged_by);
  switch (gate.verdict) {
    case GateVerdict::pass:
      return {Tone::good, format("PASS: {}; {}.", found, limit), {other}};
    case GateVerdict::fail:
      return {Tone::bad, format("FAIL: {}; {}.", found, limit), {other, largest_part(comparison, 1)}};
    case GateVerdict::cannot_tell:
      break;
  }
  return {Tone::warning,
          format("CANNOT TELL: {}.", printable(gate.why)),
          {found.empty() ? std::string{} : capital(format("{}; {}.", found, limit)), other}};
}

/// What a reader of the verdict must know of losses, and can do about them.
std::string losses_hint(const Comparison& comparison) {
  if (not_intact(comparison.a, comparison.b).empty()) return {};
  return comparison.losses == Losses::accepted
             ? "Losses were accepted (--accept-losses): only the recorded data is judged."
             : "To judge the recorded data anyway, use --accept-losses.";
}

}  // namespace

Verdict verdict_of(const ComparisonView& view) {
  Verdict verdict = view.gate ? on_gate(view.comparison, *view.gate) : on_steps(view.comparison);
  verdict.more.push_back(losses_hint(view.comparison));
  verdict.more.push_back(keys_sentence(view.comparison.keys));
  const bool said = view.comparison.likes == Likes::must_agree || (view.gate && !view.gate->why.empty());
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

}  // namespace rankscope::analyzer
