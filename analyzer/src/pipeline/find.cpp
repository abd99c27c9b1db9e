#include "pipeline/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "math/statistics.h"
#include "pipeline/marks.h"
#include "pipeline/steps.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_owner = 0.02;  // of the length of its pipeline: less is noise on the longest chain
constexpr std::size_t most_drawn = 6'000;
constexpr std::size_t part_count = 4;

/// Medians of one place, of one micro-batch over all chunks.
using PartTimes = std::array<std::int64_t, part_count>;

std::int64_t& of(PartTimes& times, PipelinePart part) { return times[static_cast<std::size_t>(part)]; }

/// What is needed of one pipeline: its steps, its times, and theory for them.
struct Measured {
  const MarkedPipeline* pipeline = nullptr;
  std::vector<PipelineStep> steps;
  std::vector<PartTimes> places;
  PipelineShape shape;
  ActionTimes times;         ///< of one chunk, mean of the places
  std::int64_t forward = 0;  ///< F and B: mean of the places, all chunks
  std::int64_t backward = 0;
  std::int64_t bubble = 0;  ///< t_b
  std::int64_t imbalance = 0;
  std::vector<AboveTheory> above;  ///< by place, sums over the steps

  [[nodiscard]] std::int64_t work() const { return shape.micro_batches * (forward + backward); }
  [[nodiscard]] std::int64_t length() const {
    std::int64_t sum = 0;
    for (const PipelineStep& step : steps) sum += step.length_ns();
    return sum;
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(steps.size()); }
};

/// Median over micro-batches and steps of the time that one micro-batch took on a place (metrics.md 13).
PartTimes medians_of(const std::vector<PipelineStep>& steps, std::size_t place) {
  std::array<std::vector<std::int64_t>, part_count> all;
  for (const PipelineStep& step : steps) {
    std::map<std::pair<PipelinePart, std::int32_t>, std::int64_t> sums;
    for (const MarkedAction& marked : step.places[place])
      sums[{marked.action.part, marked.action.micro_batch}] += marked.time.length().count();
    for (const auto& [key, sum] : sums) all[static_cast<std::size_t>(key.first)].push_back(sum);
  }
  PartTimes times{};
  for (std::size_t part = 0; part < part_count; ++part)
    if (!all[part].empty()) times[part] = median(all[part]);
  return times;
}

std::int64_t mean_of(std::span<const PartTimes> places, PipelinePart part) {
  std::int64_t sum = 0;
  for (const PartTimes& times : places) sum += times[static_cast<std::size_t>(part)];
  return sum / static_cast<std::int64_t>(places.size());
}

std::int64_t backward_of(const PartTimes& times) {
  PartTimes copy = times;
  return of(copy, PipelinePart::backward) + of(copy, PipelinePart::backward_input) +
         of(copy, PipelinePart::backward_weight);
}

/// T_lb of metrics.md 13.4: no schedule that fills its stages one by one can be shorter.
std::int64_t shortest_uneven(const Measured& measured) {
  std::int64_t before = 0;  // forward and backward of the places in front
  std::int64_t longest = 0;
  for (const PartTimes& times : measured.places) {
    const std::int64_t own = times[0] + backward_of(times);
    longest = std::max(longest, before + measured.shape.micro_batches * own);
    before += own;
  }
  return longest;
}

void measure_times(Measured& measured) {
  for (std::size_t place = 0; place < measured.pipeline->places.size(); ++place)
    measured.places.push_back(medians_of(measured.steps, place));
  const std::int64_t whole = mean_of(measured.places, PipelinePart::backward);
  const std::int64_t input = mean_of(measured.places, PipelinePart::backward_input);
  const std::int64_t weight = mean_of(measured.places, PipelinePart::backward_weight);
  measured.forward = mean_of(measured.places, PipelinePart::forward);
  measured.backward = whole + input + weight;
  const auto per_chunk = [&](std::int64_t ns) { return static_cast<double>(ns) / measured.shape.chunks; };
  measured.times = {per_chunk(measured.forward), per_chunk(whole), per_chunk(input), per_chunk(weight)};
}

void compare_with_theory(Measured& measured, PipelineSchedule schedule) {
  const double ideal = ideal_length(schedule, measured.shape, measured.times);
  measured.bubble = std::llround(ideal) - measured.work();
  const bool fills = schedule == PipelineSchedule::gpipe || schedule == PipelineSchedule::one_f_one_b;
  if (fills)
    measured.imbalance = std::max<std::int64_t>(0, shortest_uneven(measured) - measured.work() - measured.bubble);
  measured.above.resize(measured.places.size());
  for (const PipelineStep& step : measured.steps) {
    const std::vector<AboveTheory> above = above_theory(*measured.pipeline, step, measured.times);
    for (std::size_t place = 0; place < above.size(); ++place) {
      measured.above[place].longer_work_ns += above[place].longer_work_ns;
      measured.above[place].transfer_ns += above[place].transfer_ns;
      measured.above[place].host_ns += above[place].host_ns;
    }
  }
}

/// Damaged times: that no sum of one step overflows.
bool fits_into_a_step(std::span<const Measured> all) {
  constexpr double most_ns = 0x1p52;  // 52 days of all ranks together
  return std::ranges::all_of(all, [](const Measured& measured) {
    return std::ranges::all_of(measured.steps, [](const PipelineStep& step) {
      double sum = static_cast<double>(ns_of(step.end())) - static_cast<double>(ns_of(step.begin()));
      for (const auto& actions : step.places)
        for (const MarkedAction& marked : actions) sum += static_cast<double>(marked.time.length().count());
      return sum < most_ns;
    });
  });
}

/// That no sum over all steps and pipelines overflows.
bool can_be_added(std::span<const Measured> all) {
  double sum = 0;
  for (const Measured& measured : all) {
    const double work =
        static_cast<double>(measured.shape.micro_batches) * static_cast<double>(measured.forward + measured.backward);
    // Theory is at most the work of all ranks one behind the other.
    sum += static_cast<double>(measured.count()) * work * measured.shape.ranks;
    for (const PipelineStep& step : measured.steps) sum += static_cast<double>(step.length_ns());
  }
  return sum < 0x1p61;
}

std::vector<RankId> ranks_of(const MarkedPipeline& pipeline) {
  std::vector<RankId> ranks;
  for (const RankActions& own : pipeline.places) ranks.push_back(own.rank);
  return ranks;
}

/// May the times of the ranks of one pipeline be compared?
enum class Clocks : std::uint8_t { common, refused };

void add_ranks(PipelineSection& section, const Measured& measured, Clocks clocks) {
  for (std::size_t place = 0; place < measured.places.size(); ++place) {
    PipelineRank row{measured.pipeline->places[place].rank, static_cast<std::int32_t>(place)};
    for (const PipelineStep& step : measured.steps) {
      const auto& actions = step.places[place];
      row.busy_ns += busy_ns(actions);
      RunTime last = actions.front().time.end;
      for (const MarkedAction& marked : actions) last = std::max(last, marked.time.end);
      row.span_ns += clocks == Clocks::common ? step.length_ns() : (last - actions.front().time.begin).count();
    }
    section.ranks.push_back(row);
  }
}

void measure_bubble(PipelineSection& section) {
  double busy = 0;
  double span = 0;
  for (const PipelineRank& row : section.ranks) {
    busy += static_cast<double>(row.busy_ns);
    span += static_cast<double>(row.span_ns);
  }
  if (span > 0)
    section.bubble_measured.value = 1 - busy / span;
  else
    section.bubble_measured.why = "the forward and backward passes take no time";
  std::ranges::sort(section.ranks, {}, &PipelineRank::rank);
}

void fill_places(PipelineSection& section, std::span<const Measured> all) {
  const std::size_t places = all.front().places.size();
  section.places.resize(places);
  std::vector<double> busy(places);
  std::vector<double> span(places);
  for (const PipelineRank& row : section.ranks) {
    busy[static_cast<std::size_t>(row.place)] += static_cast<double>(row.busy_ns);
    span[static_cast<std::size_t>(row.place)] += static_cast<double>(row.span_ns);
  }
  for (std::size_t place = 0; place < places; ++place) {
    PipelinePlace& row = section.places[place];
    row.stages = all.front().pipeline->stages[place];
    row.bubble = span[place] > 0 ? 1 - busy[place] / span[place] : 0;
    std::int64_t steps = 0;
    for (const Measured& measured : all) {
      row.ranks.push_back(measured.pipeline->places[place].rank);
      row.forward_ns += measured.places[place][0];
      row.backward_ns += backward_of(measured.places[place]);
      steps += measured.count();
      if (measured.above.empty()) continue;
      row.above.longer_work_ns += measured.above[place].longer_work_ns;
      row.above.transfer_ns += measured.above[place].transfer_ns;
      row.above.host_ns += measured.above[place].host_ns;
    }
    const auto pipelines = static_cast<std::int64_t>(all.size());
    row.forward_ns /= pipelines;
    row.backward_ns /= pipelines;
    row.above = {row.above.longer_work_ns / steps, row.above.transfer_ns / steps, row.above.host_ns / steps};
  }
}

/// Means per step and pipeline. What remains of each division goes to the excess, so that the parts add up exactly.
void fill_parts(PipelineSection& section, std::span<const Measured> all) {
  PipelineParts sum;
  std::int64_t count = 0;
  for (const Measured& measured : all) {
    count += measured.count();
    sum.length_ns += measured.length();
    sum.work_ns += measured.work() * measured.count();
    sum.bubble_ns += measured.bubble * measured.count();
    sum.imbalance_ns += measured.imbalance * measured.count();
  }
  PipelineParts parts{
      sum.length_ns / count, sum.work_ns / count, sum.bubble_ns / count, sum.imbalance_ns / count, {}, 0};
  parts.excess_ns = parts.length_ns - parts.work_ns - parts.bubble_ns - parts.imbalance_ns;
  if (section.schedule != PipelineSchedule::gpipe && section.schedule != PipelineSchedule::one_f_one_b)
    parts.why_no_imbalance =
        "for this schedule, no lower bound on the cost of uneven stages is known: that cost is part of the excess";
  const std::int64_t ideal = sum.work_ns + sum.bubble_ns;
  if (ideal > 0) section.bubble_theory.value = static_cast<double>(sum.bubble_ns) / static_cast<double>(ideal);
  section.parts = parts;
}

void find_owner(const Run& run, PipelineSection& section, std::span<const Measured> all) {
  std::vector<PipelineOwner> owners;
  for (const Measured& measured : all) {
    for (std::size_t place = 0; place < measured.above.size(); ++place) {
      const AboveTheory& sum = measured.above[place];
      const std::int64_t count = measured.count();
      const double share =
          static_cast<double>(sum.total()) / static_cast<double>(std::max<std::int64_t>(1, measured.length()));
      if (share >= least_owner)
        owners.push_back({measured.pipeline->places[place].rank,
                          static_cast<std::int32_t>(place),
                          {sum.longer_work_ns / count, sum.transfer_ns / count, sum.host_ns / count}});
    }
  }
  if (!owners.empty()) section.owner = slowest_of(run, owners);
}

/// The pipeline that is farthest above theory, where there is one; its median step.
void draw(PipelineSection& section, std::span<const Measured> all) {
  const auto above = [](const Measured& measured) {
    return measured.length() / measured.count() - measured.work() - measured.bubble;
  };
  const Measured& worst = *std::ranges::max_element(all, {}, above);
  std::vector<std::int64_t> lengths_ns;
  for (const PipelineStep& step : worst.steps) lengths_ns.push_back(step.length_ns());
  const PipelineStep& step = worst.steps[median_row(lengths_ns)];
  DrawnPipeline drawn{step.index, step.length_ns(), ranks_of(*worst.pipeline), {}};
  for (std::size_t place = 0; place < step.places.size(); ++place)
    for (const MarkedAction& marked : step.places[place])
      drawn.actions.push_back({marked.action, static_cast<std::int32_t>(place),
                               (marked.time.begin - step.begin()).count(), (marked.time.end - step.begin()).count()});
  if (drawn.actions.size() > most_drawn)
    section.why_not_drawn =
        format("{} forward and backward passes in one step are too many to draw", drawn.actions.size());
  else
    section.drawn = std::move(drawn);
}

/// Steps per schedule, of all pipelines; the last one: of none.
using Votes = std::array<std::int64_t, all_pipeline_schedules.size() + 1>;

/// Keeps the steps that followed the schedule that most steps followed.
void recognize(PipelineSection& section, std::vector<Measured>& all) {
  Votes votes{};
  const auto vote = [](const std::optional<PipelineSchedule>& schedule) {
    return schedule ? static_cast<std::size_t>(*schedule) : all_pipeline_schedules.size();
  };
  const auto schedule_in = [](const Measured& measured, const PipelineStep& step) {
    const PipelineShape shape = shape_of(*measured.pipeline, step);
    return shape == measured.shape ? schedule_of(step, shape) : std::nullopt;
  };
  for (const Measured& measured : all)
    for (const PipelineStep& step : measured.steps) ++votes[vote(schedule_in(measured, step))];
  const auto most = static_cast<std::size_t>(std::ranges::max_element(votes.begin(), votes.end() - 1) - votes.begin());
  const std::int64_t steps = std::accumulate(votes.begin(), votes.end(), std::int64_t{0});
  if (2 * votes[most] <= steps) {
    section.why_unknown = why_no_schedule(all.front().steps.front(), all.front().shape);
    return;
  }
  section.schedule = static_cast<PipelineSchedule>(most);
  if (votes[most] == steps) return;
  section.note = format(
      "Left out: {} of {} steps, in which forward and backward passes ran in an order other than that of this "
      "schedule",
      steps - votes[most], steps);
  for (Measured& measured : all)
    std::erase_if(measured.steps,
                  [&](const PipelineStep& step) { return schedule_in(measured, step) != section.schedule; });
  std::erase_if(all, [](const Measured& measured) { return measured.steps.empty(); });
}

std::vector<Measured> measure(const std::vector<MarkedPipeline>& pipelines, const Section<StepsSection>& steps) {
  std::vector<Measured> all;
  for (const MarkedPipeline& pipeline : pipelines) {
    Measured measured;
    measured.pipeline = &pipeline;
    measured.steps = steps_of(pipeline, steps);
    if (measured.steps.empty()) continue;
    measured.shape = shape_of(pipeline, measured.steps.front());
    all.push_back(std::move(measured));
  }
  return all;
}

void fill_head(PipelineSection& section, std::span<const Measured> all, const Section<StepsSection>& steps) {
  section.shape = all.front().shape;
  section.pipelines = static_cast<std::int64_t>(all.size());
  section.steps = steps ? all.front().count() : 0;
  for (const Measured& measured : all) {
    section.forward_ns += measured.forward;
    section.backward_ns += measured.backward;
    section.input_ns += mean_of(measured.places, PipelinePart::backward_input);
    section.weight_ns += mean_of(measured.places, PipelinePart::backward_weight);
  }
  for (std::int64_t* ns : {&section.forward_ns, &section.backward_ns, &section.input_ns, &section.weight_ns})
    *ns /= section.pipelines;
}

/// Set where theory cannot be held against the measurement.
std::string why_no_theory(const PipelineSection& section, std::span<const Measured> all, Clocks clocks) {
  if (clocks == Clocks::refused)
    return "the clocks of the ranks cannot be compared, so idle time is counted only between the first and the last "
           "forward or backward pass of each rank";
  for (const Measured& measured : all)
    if (!measured.pipeline->why_not_whole.empty()) return measured.pipeline->why_not_whole;
  if (!section.schedule) return "the schedule is unknown";
  return can_be_added(all) ? std::string{} : "the sum of the times over all steps and ranks does not fit in 64 bits";
}

}  // namespace

Section<PipelineSection> find_pipeline(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps) {
  auto ranks = marked_actions(run);
  if (!ranks) return tl::make_unexpected(ranks.error());
  const auto pipelines = pipelines_of(run, *std::move(ranks));
  if (!pipelines) return tl::make_unexpected(pipelines.error());
  std::vector<Measured> all = measure(*pipelines, steps);
  if (all.empty()) return unavailable(no_whole_step);
  if (!fits_into_a_step(all)) return unavailable("the times of the micro-batches are too long to be plausible");
  PipelineSection section;
  recognize(section, all);
  for (Measured& measured : all) measure_times(measured);
  fill_head(section, all, steps);
  const bool common = std::ranges::all_of(
      all, [&](const Measured& measured) { return clocks.comparable(ranks_of(*measured.pipeline)); });
  const Clocks trust = common ? Clocks::common : Clocks::refused;
  for (const Measured& measured : all) add_ranks(section, measured, trust);
  measure_bubble(section);
  section.why_no_parts = section.bubble_theory.why = why_no_theory(section, all, trust);
  if (section.why_no_parts.empty()) {
    for (Measured& measured : all) compare_with_theory(measured, *section.schedule);
    fill_parts(section, all);
    find_owner(run, section, all);
  }
  fill_places(section, all);
  section.clocks_refused = !common;
  if (common)
    draw(section, all);
  else
    section.why_not_drawn = "the clocks of the ranks cannot be compared";
  return section;
}

}  // namespace rankscope::analyzer
