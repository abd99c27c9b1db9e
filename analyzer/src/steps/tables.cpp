#include "steps/parts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "steps/find.h"

namespace rankscope::analyzer {

namespace {

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

}  // namespace

std::string range_of_steps(const StepsSection& steps) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  for (const Step& step : steps.steps) {
    if (!step.complete || step.warm_up) continue;
    shortest = std::min(shortest, step.wall_ns);
    longest = std::max(longest, step.wall_ns);
  }
  if (longest == 0 || duration_text(shortest) == duration_text(longest)) return {};
  return format("{} to {}", duration_text(shortest), duration_text(longest));
}

std::string steps_text(const StepsSection& steps, StepSpread spread) {
  auto text = format(" · {}", counted(size_of(steps.steps), "step"));
  if (steps.median_ns <= 0) return text;
  const auto in_sums = size_of(counted_steps(steps));
  if (in_sums != size_of(steps.steps)) text += format(" ({} of them counted)", in_sums);
  text += format(" of {}", duration_text(steps.median_ns));
  if (in_sums < 2) return text;
  if (spread == StepSpread::none) {
    const bool far = std::abs(steps.mean_ns - steps.median_ns) * 10 > steps.median_ns;
    return far ? text + format(" (median; mean {})", duration_text(steps.mean_ns)) : text;
  }
  // A few long steps are in the mean only, which other sections use.
  const bool skewed = std::abs(steps.mean_ns - steps.median_ns) * 20 > steps.median_ns;
  const std::string mean = skewed ? format("median; mean {}, ", duration_text(steps.mean_ns)) : std::string{};
  if (in_sums < least_for_spread) {
    const std::string range = range_of_steps(steps);  // equal steps have no mean of their own either
    return range.empty() ? text : text + format(" ({}{})", mean, range);
  }
  text += format(" ({}90 % within {}", mean, duration_text(steps.p90_ns));
  if (spread == StepSpread::all) text += format(", jitter {}", percent_text(steps.jitter));
  return text + ")";
}

std::string steps_source(const Report& report) {
  const StepsSection& steps = *report.steps;
  const auto complete = std::ranges::count_if(steps.steps, &Step::complete);
  const auto warm_up = std::ranges::count_if(steps.steps, &Step::warm_up);
  auto text = format("Steps taken from {}: {} complete, {} partial; {} left out, {} counted.", printable(steps.source),
                     complete, size_of(steps.steps) - complete, counted(warm_up, "warm-up step"),
                     size_of(counted_steps(steps)));
  if (std::ranges::find(report.facts, std::pair{std::string{"pytorch_steps"}, std::string{"optimizer"}}) !=
      report.facts.end())
    text += " The PyTorch hook does not record the first two optimizer steps.";
  if (steps.leftovers_ns > 0 && !steps.steps.empty())
    text += format(
        " Step {} begins {} after its mark: until then, the device was still running work launched before the "
        "recording.",
        steps.steps.front().index, duration_text(steps.leftovers_ns));
  return text;
}

}  // namespace rankscope::analyzer
