#include "rankscope/analyzer/scale.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "analyses/collectives.h"
#include "analyses/same_job.h"
#include "analyses/statistics.h"
#include "analyses/steps.h"
#include "clocks/aligned_run.h"
#include "rankscope/core/format.h"
#include "replay/build.h"
#include "scaling/monte_carlo.h"

namespace rankscope::analyzer {
namespace {

using scaling::Draw;
using scaling::Pool;

constexpr std::int64_t least_steps = 10;      // metrics.md 16.4
constexpr double least_band = 0.05;           // of the prediction, to both sides
constexpr std::int64_t confident_factor = 4;  // of the measured ranks
constexpr std::int64_t most_ranks_asked = 1 << 17;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

Result<ScalePoint> measure(const Run& recorded, const ScaleOptions& options) {
  const AlignedRun aligned{recorded};
  const Run& run = aligned.run();
  const ClockTrust& clocks = aligned.clocks();
  const StepsResult steps = find_steps(run, clocks, options.report);
  if (const std::string why = why_other_jobs(run, steps.all, match_collectives(run, clocks)); !why.empty())
    return fail(ErrorKind::not_computable, why);
  if (!steps.section) return fail(ErrorKind::not_computable, steps.section.error().why);
  ScalePoint point;
  point.ranks = std::max<std::int64_t>(run.info().world_size, static_cast<std::int64_t>(run.ranks().size()));
  point.step_ns = steps.section->median_ns;
  point.batch = number_of(run.metadata("global_batch"));
  if (point.step_ns <= 0) return fail(ErrorKind::not_computable, "no step was recorded completely");
  return point;
}

/// Several runs tell by their batches; one run is scaled weakly unless it is told otherwise.
void choose_scaling(ScaleAnswer& answer, const ScaleOptions& options) {
  if (options.scaling) {
    answer.scaling = *options.scaling;
    answer.why_scaling = "as asked for";
    return;
  }
  const ScalePoint& first = answer.measured.front();
  const ScalePoint& last = answer.measured.back();
  if (first.ranks != last.ranks && first.batch && last.batch) {
    const bool same = *first.batch == *last.batch;
    answer.scaling = same ? Scaling::strong : Scaling::weak;
    answer.why_scaling = same ? "all runs have the same batch" : "the batch grows with the ranks";
    return;
  }
  answer.why_scaling = "taken for granted: each rank keeps its work; --strong if all ranks together do";
}

double efficiency(Scaling scaling, const ScalePoint& base, std::int64_t ranks, std::int64_t step_ns) {
  const double slower = static_cast<double>(base.step_ns) / static_cast<double>(std::max<std::int64_t>(1, step_ns));
  if (scaling == Scaling::weak) return slower;
  return slower * static_cast<double>(base.ranks) / static_cast<double>(ranks);
}

/// Strong: T(n) = T1 (f + (1 - f) / n); weak: T(n) = a + b log2(n). Least squares.
std::optional<ScaleFit> fit_of(const ScaleAnswer& answer) {
  const auto& points = answer.measured;
  if (points.front().ranks == points.back().ranks) return std::nullopt;
  const bool strong = answer.scaling == Scaling::strong;
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto place = [&](const ScalePoint& point) {
    const auto ranks = static_cast<double>(point.ranks);
    return strong ? 1 / ranks : std::log2(ranks);
  };
  for (const ScalePoint& point : points) {
    const double x = place(point);
    const auto y = static_cast<double>(point.step_ns);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  const double fixed = (sy - slope * sx) / n;
  ScaleFit fit;
  if (strong) fit.fixed_share = std::clamp(fixed / (fixed + slope), 0.0, 1.0);
  if (!strong) fit.per_doubling_ns = slope;
  for (const ScalePoint& point : points) {
    const double at = fixed + slope * place(point);
    fit.largest_error = std::max(fit.largest_error, std::abs(at / static_cast<double>(point.step_ns) - 1));
  }
  return fit;
}

/// Predicts from the largest run.
class Prediction {
 public:
  Prediction(const Run& run, const ScaleOptions& options, ScaleAnswer& answer)
      : aligned_(run), run_(aligned_.run()), options_(options), answer_(answer), base_(answer.measured.back()) {}

  void predict() {
    if (answer_.why_not_predicted = why_not(); !answer_.why_not_predicted.empty()) return;
    const ClockTrust& clocks = aligned_.clocks();
    const StepsResult steps = find_steps(run_, clocks, options_.report);
    const auto graph = replay::build_graph(run_, steps.section, match_collectives(run_, clocks), clocks);
    if (!graph) return refuse(graph.error().why);
    if (std::ssize(graph->steps) < least_steps)
      return refuse(format("it needs {} steps in a row, and there are {}", least_steps, graph->steps.size()));
    auto systems = scaling::step_systems(*graph);
    if (!systems) return refuse(systems.error().why);
    Pool pool = pool_of(*graph, std::move(*systems), base_.ranks);
    if (pool.systems.front().units.empty())
      return refuse("no communication was recorded, so nothing ties the ranks together");
    use_network(pool);
    // What the reduced steps leave out is the same for all sizes.
    const std::int64_t modelled = median_of(drawn(pool, {.ranks = base_.ranks}));
    scale_ = static_cast<double>(base_.step_ns) / static_cast<double>(std::max<std::int64_t>(1, modelled));
    for (const std::int64_t ranks : sizes()) answer_.predicted.push_back(at(pool, ranks));
    add_notes(pool);
  }

 private:
  void refuse(std::string why) { answer_.why_not_predicted = std::move(why); }

  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    if (!options_.to.empty()) return options_.to;
    return {2 * base_.ranks, 4 * base_.ranks, 8 * base_.ranks};
  }

  [[nodiscard]] std::int64_t hosts() const {
    std::vector<StringId> names;
    for (const RankId rank : run_.ranks()) names.push_back(run_.process_of(rank).host);
    std::ranges::sort(names);
    return std::unique(names.begin(), names.end()) - names.begin();
  }

  /// metrics.md 16.4
  [[nodiscard]] std::string why_not() const {
    if (base_.ranks < 2) return "one rank alone shows no communication; record at least 2";
    if (static_cast<std::int64_t>(run_.ranks().size()) < base_.ranks)
      return format("{} of {} ranks were recorded; all are needed", run_.ranks().size(), base_.ranks);
    const bool network = options_.latency_us && options_.bandwidth_gbps;
    const std::int64_t fit = options_.ranks_per_host.value_or(base_.ranks);
    const auto leaves_host = [&](std::int64_t ranks) { return ranks > fit; };
    if (hosts() == 1 && !network && std::ranges::any_of(sizes(), leaves_host))
      return "all ranks were on one host, which tells nothing about a network between hosts: give --latency-us and "
             "--bandwidth-gbps of it, or --ranks-per-host if more ranks fit on one";
    return {};
  }

  /// Between hosts the user's network, if it is the slower one.
  void use_network(Pool& pool) const {
    if (!options_.latency_us || !options_.bandwidth_gbps) return;
    for (scaling::LinkModel& link : pool.links) {
      link.alpha_ns = std::max(link.alpha_ns, 1000 * *options_.latency_us);
      link.ns_per_byte = std::max(link.ns_per_byte, 1 / *options_.bandwidth_gbps);
      link.latency_known = true;
    }
  }

  [[nodiscard]] double work_at(std::int64_t ranks) const {
    return answer_.scaling == Scaling::strong ? static_cast<double>(base_.ranks) / static_cast<double>(ranks) : 1;
  }

  [[nodiscard]] std::vector<std::int64_t> drawn(const Pool& pool, const Draw& draw) const {
    return drawn_steps(pool, base_.ranks, draw, options_.seed);
  }
  static std::int64_t median_of(std::span<const std::int64_t> sorted) { return sorted_median(sorted); }

  [[nodiscard]] std::int64_t scaled(double ns) const { return static_cast<std::int64_t>(ns * scale_); }

  ScaledStep at(const Pool& pool, std::int64_t ranks) const {
    const Draw draw{.ranks = ranks, .work = work_at(ranks)};
    const auto lengths = drawn(pool, draw);
    ScaledStep step;
    step.ranks = ranks;
    step.step_ns = scaled(static_cast<double>(median_of(lengths)));
    const auto middle = static_cast<double>(step.step_ns);
    step.low_ns = std::min(scaled(static_cast<double>(sorted_quantile(lengths, 0.05))),
                           static_cast<std::int64_t>(middle * (1 - least_band)));
    step.high_ns = std::max(scaled(static_cast<double>(sorted_quantile(lengths, 0.95))),
                            static_cast<std::int64_t>(middle * (1 + least_band)));
    step.efficiency = efficiency(answer_.scaling, answer_.measured.front(), ranks, step.step_ns);
    const auto lost = [&](Draw without) {
      const double other = static_cast<double>(scaled(static_cast<double>(median_of(drawn(pool, without)))));
      return middle > 0 ? std::max(0.0, (middle - other) / middle) : 0;
    };
    step.lost_to_comm = lost({.ranks = ranks, .work = draw.work, .growing_comm = false});
    step.lost_to_noise = lost({.ranks = ranks, .work = draw.work, .noise = false});
    step.low_confidence = ranks > confident_factor * base_.ranks;
    return step;
  }

  void add_notes(const Pool& pool) const {
    answer_.notes.push_back(format(
        "{} draws from {} of {} ranks; transfers as rings run them; own time differs by {:.1f} % between ranks and by "
        "{:.1f} % from step to step.",
        scaling::draws, counted(static_cast<std::int64_t>(pool.systems.size()), "step"), base_.ranks,
        100 * pool.between_ranks, 100 * pool.within_ranks));
    if (std::ranges::any_of(pool.links, [](const scaling::LinkModel& link) { return !link.latency_known; }))
      answer_.notes.emplace_back(
          "Some operations were seen with one size only: their time is taken for bandwidth, so latency on many ranks "
          "may "
          "be more than predicted.");
    answer_.notes.emplace_back("Not modelled: congestion, topology, effects of the batch size, memory limits.");
  }

  const AlignedRun aligned_;
  const Run& run_;
  const ScaleOptions& options_;
  ScaleAnswer& answer_;
  const ScalePoint base_;
  double scale_ = 1;
};

Result<void> check(const ScaleOptions& options) {
  for (const std::int64_t ranks : options.to)
    if (ranks < 2 || ranks > most_ranks_asked)
      return fail(ErrorKind::usage, format("--to: {} is no number of ranks from 2 to {}", ranks, most_ranks_asked));
  if (options.latency_us.has_value() != options.bandwidth_gbps.has_value())
    return fail(ErrorKind::usage, "--latency-us and --bandwidth-gbps describe one network: give both");
  return {};
}

}  // namespace

std::string_view name_of(Scaling scaling) { return scaling == Scaling::weak ? "weak" : "strong"; }

Result<ScaleAnswer> scale(std::span<const std::shared_ptr<const Run>> runs, const ScaleOptions& options) {
  RS_TRY_VOID(check(options));
  ScaleAnswer answer;
  std::vector<std::pair<ScalePoint, const Run*>> points;
  for (const auto& run : runs) {
    RS_TRY(const ScalePoint point, measure(*run, options));
    points.emplace_back(point, run.get());
  }
  std::ranges::stable_sort(points, {}, [](const auto& point) { return point.first.ranks; });
  for (const auto& [point, run] : points) answer.measured.push_back(point);
  choose_scaling(answer, options);
  for (ScalePoint& point : answer.measured)
    point.efficiency = efficiency(answer.scaling, answer.measured.front(), point.ranks, point.step_ns);
  answer.fit = fit_of(answer);
  Prediction(*points.back().second, options, answer).predict();
  return answer;
}

}  // namespace rankscope::analyzer
