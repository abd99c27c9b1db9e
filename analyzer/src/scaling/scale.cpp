#include "rankscope/analyzer/scaling/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "alignment/aligned_run.h"
#include "collectives/find.h"
#include "collectives/same_job.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "replay/build.h"
#include "scaling/monte_carlo.h"
#include "steps/find.h"
#include "what_if/find.h"

namespace rankscope::analyzer {
namespace {

using scaling::Draw;
using scaling::Pool;

constexpr std::int64_t least_steps = 10;      // metrics.md 16.4
constexpr std::int64_t least_alike = 5;       // of them, that run the same collectives
constexpr double least_band = 0.05;           // of the prediction, to both sides
constexpr double refused_model_error = 0.1;   // of steps put together from single ranks
constexpr std::int64_t confident_factor = 4;  // of the measured ranks
constexpr std::int64_t most_ranks_asked = 1 << 17;

Result<ScalePoint> measure(const Run& recorded, const ScaleOptions& options) {
  const AlignedRun aligned{recorded};
  const Run& run = aligned.run();
  const ClockTrust& clocks = aligned.clocks();
  const StepsResult steps = find_steps(run, clocks, options.report);
  if (const std::string why = why_other_jobs(run, steps.all, match_collectives(run, clocks)); !why.empty())
    return fail(ErrorKind::not_computable, why);
  if (!steps.section)
    return fail(options.report.steps ? ErrorKind::usage : ErrorKind::not_computable, steps.section.error().why);
  ScalePoint point;
  point.ranks = std::max<std::int64_t>(run.info().world_size, static_cast<std::int64_t>(run.ranks().size()));
  point.step_ns = steps.section->median_ns;
  point.batch = number_from<std::int64_t>(run.metadata("global_batch"), {.least = 1});
  if (point.step_ns <= 0) return fail(ErrorKind::not_computable, "no step was recorded completely");
  return point;
}

/// Batches are whole numbers, so that they may differ by one for each rank.
bool same_per_rank(const ScalePoint& a, const ScalePoint& b) {
  const auto per_rank = [](const ScalePoint& run) {
    return static_cast<double>(run.batch.value_or(0)) / static_cast<double>(run.ranks);
  };
  return std::abs(per_rank(a) - per_rank(b)) < 1;
}

/// Several runs tell by their batches; one run is scaled weakly unless it is told otherwise.
void choose_scaling(ScaleAnswer& answer, const ScaleOptions& options) {
  if (options.scaling) {
    answer.scaling = *options.scaling;
    answer.why_scaling = *options.scaling == Scaling::strong ? "as given by --strong" : "as given by --weak";
    return;
  }
  const ScalePoint& first = answer.measured.front();
  const ScalePoint& last = answer.measured.back();
  const auto all = [&](auto fits) {
    return std::ranges::all_of(answer.measured, [&](const ScalePoint& run) { return run.batch && fits(run); });
  };
  const bool known = all([](const ScalePoint&) { return true; });
  if (first.ranks != last.ranks && known) {
    if (all([&](const ScalePoint& run) { return *run.batch == *first.batch; })) {
      answer.scaling = Scaling::strong;
      answer.why_scaling = "the total batch size is the same in all runs";
    } else if (all([&](const ScalePoint& run) { return same_per_rank(run, first); })) {
      answer.why_scaling = "the total batch size grows with the number of ranks";
    } else {
      answer.why_scaling = format(
          "assumed, since batches of {} on {} and of {} on {} are equal neither per rank nor in total; give --strong "
          "or --weak",
          *first.batch, counted(first.ranks, "rank"), *last.batch, counted(last.ranks, "rank"));
    }
    return;
  }
  answer.why_scaling =
      "assumed, with the same work for each rank; give --strong if the work of all ranks together stays the same";
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
    const Matching matching = match_collectives(run_, clocks);
    const auto graph = replay::build_graph(run_, steps.section, matching, clocks);
    if (!graph) return refuse(graph.error().why);
    answer_.replay_error = replay::replay_error(total_ns(*graph, as_measured(*graph)), measured_ns(*graph));
    if (std::string why = replay::why_refused(answer_.replay_error); !why.empty()) return refuse(std::move(why));
    if (std::ssize(graph->steps) < least_steps)
      return refuse(format("a prediction needs {} steps in a row (found: {})", least_steps, graph->steps.size()));
    auto systems = scaling::step_systems(*graph, matching);
    if (!systems) return refuse(systems.error().why);
    if (systems->steps < least_alike) return refuse(why_too_few(*systems));
    add_left_out(*systems);
    const Pool pool = pool_of(*graph, std::move(systems->systems), base_.ranks);
    if (pool.ops.empty()) return refuse("no communication was recorded, so the ranks do not depend on each other");
    const std::int64_t modelled = median_of(drawn(pool, {.ranks = base_.ranks}));
    answer_.model_error = static_cast<double>(modelled) / static_cast<double>(base_.step_ns) - 1;
    if (std::abs(answer_.model_error) >= refused_model_error) return refuse(why_misfit());
    // What the reduced steps leave out is the same for all sizes.
    scale_ = 1 / (1 + answer_.model_error);
    for (const std::int64_t ranks : sizes()) answer_.predicted.push_back(at(pool, ranks));
    add_notes(pool);
  }

 private:
  void refuse(std::string why) { answer_.why_not_predicted = std::move(why); }

  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    if (!options_.to.empty()) return options_.to;
    return {2 * base_.ranks, 4 * base_.ranks, 8 * base_.ranks};
  }

  [[nodiscard]] std::map<std::uint32_t, std::int64_t> ranks_by_host() const {
    std::map<std::uint32_t, std::int64_t> hosts;
    for (const RankId rank : run_.ranks()) ++hosts[run_.process_of(rank).host.value];
    return hosts;
  }

  [[nodiscard]] std::int64_t ranks_per_host() const {
    if (options_.ranks_per_host) return *options_.ranks_per_host;
    std::int64_t most = 1;
    for (const auto& [host, ranks] : ranks_by_host()) most = std::max(most, ranks);
    return most;
  }

  static std::string left_out_of(const scaling::StepSystems& systems) {
    std::string text;
    if (systems.uneven > 0)
      text += format("{} in which ranks do not run the same collectives in the same order",
                     counted(systems.uneven, "step"));
    if (systems.other > 0)
      text += format("{}{} whose collectives differ from those of most steps", text.empty() ? "" : " and ",
                     counted(systems.other, "step"));
    return text;
  }
  static std::string why_too_few(const scaling::StepSystems& systems) {
    return format("a prediction needs {} steps that run the same collectives (found: {}, not counting {})", least_alike,
                  systems.steps, left_out_of(systems));
  }
  void add_left_out(const scaling::StepSystems& systems) const {
    if (systems.uneven + systems.other > 0) answer_.notes.push_back(format("Left out: {}.", left_out_of(systems)));
  }

  [[nodiscard]] std::string misfit() const {
    return format("{:.1f} % {} than measured", 100 * std::abs(answer_.model_error),
                  answer_.model_error < 0 ? "shorter" : "longer");
  }
  [[nodiscard]] std::string why_misfit() const {
    return format(
        "simulated steps, put together from randomly drawn steps of the individual ranks, are {}. This happens if all "
        "ranks are slow in the same steps. The step time with more ranks cannot be predicted in that case",
        misfit());
  }

  /// metrics.md 16.4
  [[nodiscard]] std::string why_not() const {
    if (base_.ranks < 2) return "one rank alone shows no communication; record at least two ranks";
    if (static_cast<std::int64_t>(run_.ranks().size()) < base_.ranks)
      return format("{} of {} ranks were recorded; all are needed", run_.ranks().size(), base_.ranks);
    const bool network = options_.latency_us && options_.bandwidth_gbps;
    const auto leaves_host = [&](std::int64_t ranks) { return ranks > ranks_per_host(); };
    if (ranks_by_host().size() == 1 && !network && std::ranges::any_of(sizes(), leaves_host))
      return "all ranks were on one host, which shows nothing about a network between hosts; give --latency-us and "
             "--bandwidth-gbps of that network, or --ranks-per-host if more ranks fit on one host";
    return {};
  }

  /// The user's network for ranks that do not fit on one host: a ring leaves each of them once.
  [[nodiscard]] std::optional<scaling::Network> network_of(std::int64_t ranks) const {
    const std::int64_t fit = ranks_per_host();
    if (!options_.latency_us || !options_.bandwidth_gbps || ranks <= fit) return std::nullopt;
    const std::int64_t hosts = (ranks + fit - 1) / fit;
    return scaling::Network{.alpha_ns = 1000 * *options_.latency_us,
                            .ns_per_byte = 1 / *options_.bandwidth_gbps,
                            .share_of_hops = static_cast<double>(hosts) / static_cast<double>(ranks)};
  }

  /// What is left of own time. Strong scaling divides it by the ranks, but for the share that the fit calls fixed.
  [[nodiscard]] double work_at(std::int64_t ranks) const {
    if (answer_.scaling == Scaling::weak) return 1;
    const double fixed = answer_.fit ? answer_.fit->fixed_share : 0;
    const auto share = [fixed](std::int64_t n) { return fixed + (1 - fixed) / static_cast<double>(n); };
    return share(ranks) / share(base_.ranks);
  }
  [[nodiscard]] std::string about_work() const {
    if (answer_.fit)
      return format(
          "Own time is assumed to shrink as in the measured runs: {:.1f} % of the own time of a single rank does not "
          "shrink.",
          100 * answer_.fit->fixed_share);
    return "All own time is assumed to be inversely proportional to the number of ranks; a run with a different "
           "number of ranks would show which part does not shrink.";
  }

  [[nodiscard]] std::vector<std::int64_t> drawn(const Pool& pool, const Draw& draw) const {
    return drawn_steps(pool, draw, options_.seed);
  }
  static std::int64_t median_of(std::span<const std::int64_t> sorted) { return sorted_median(sorted); }

  [[nodiscard]] std::int64_t scaled(double ns) const { return static_cast<std::int64_t>(ns * scale_); }

  ScaledStep at(const Pool& pool, std::int64_t ranks) const {
    const Draw draw{.ranks = ranks, .work = work_at(ranks), .network = network_of(ranks)};
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
    step.lost_to_noise = lost({.ranks = ranks, .work = draw.work, .noise = false, .network = draw.network});
    step.low_confidence = ranks > confident_factor * base_.ranks;
    return step;
  }

  void add_notes(const Pool& pool) const {
    answer_.notes.push_back(
        format("Predicted by simulating {} random steps, based on {}, summed over {} ranks. Transfer times assume ring "
               "algorithms. Own time, which excludes waiting for other ranks, differs by {:.1f} % between ranks and by "
               "{:.1f} % from step to step.",
               scaling::draws, counted(static_cast<std::int64_t>(pool.systems.size()), "step"), base_.ranks,
               100 * pool.between_ranks, 100 * pool.within_ranks));
    if (answer_.scaling == Scaling::strong) answer_.notes.push_back(about_work());
    answer_.notes.push_back(format(
        "Replaying the measured steps reproduces their length to within {:.1f} %. Simulated steps on as many ranks as "
        "in the recorded run are {}; predictions are corrected for this error.",
        100 * answer_.replay_error, misfit()));
    if (!pool.spikes.empty())
      answer_.notes.push_back(
          format("{:.2g} % of the steps of a rank are spikes, far longer than its other steps. With more ranks, more "
                 "steps contain a spike.",
                 100 * pool.spike_chance));
    if (const auto kept = std::ranges::count_if(pool.systems, [](const auto& own) { return !own.ways_ns.empty(); });
        kept < std::ssize(pool.systems))
      answer_.notes.push_back(
          format("Kept as samples: {} of these steps, spread evenly over the ranks and over the run.", kept));
    if (std::ranges::any_of(pool.links, [](const scaling::LinkModel& link) { return !link.latency_known; }))
      answer_.notes.emplace_back(
          "Some operations were seen with one size only. All of their time is attributed to bandwidth, so latency on "
          "many ranks may be higher than predicted.");
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
      return fail(ErrorKind::usage,
                  format("--to must list numbers of ranks from 2 to {1} (has {0})", ranks, most_ranks_asked));
  if (options.latency_us.has_value() != options.bandwidth_gbps.has_value())
    return fail(ErrorKind::usage, "--latency-us and --bandwidth-gbps describe one network: give both");
  return {};
}

}  // namespace

std::string_view name_of(Scaling scaling) { return scaling == Scaling::weak ? "weak" : "strong"; }

namespace {

/// What must be equal for steps of different sizes to say anything about scaling, as the runs state it.
constexpr std::array facts_of_work{"model", "pace_ms", "dtype", "parallel"};

std::string differing_work(std::span<const std::pair<ScalePoint, const Run*>> points) {
  std::string list;
  for (const char* fact : facts_of_work) {
    std::set<std::string_view> values;
    for (const auto& [point, run] : points) values.insert(run->metadata(fact));
    if (values.size() < 2) continue;
    std::string one;
    for (const auto& [point, run] : points) {
      const std::string_view value = run->metadata(fact);
      one +=
          format("{}{} on {}", one.empty() ? "" : ", ", value.empty() ? "none" : value, counted(point.ranks, "rank"));
    }
    list += format("{}{} ({})", list.empty() ? "" : "; ", fact, one);
  }
  if (list.empty()) return list;
  return format("These runs do not do the same work, so their steps say nothing about scaling: {}.", list);
}

}  // namespace

Result<ScaleAnswer> scale(std::span<const std::shared_ptr<const Run>> runs, const ScaleOptions& options) {
  RS_TRY_VOID(check(options));
  ScaleAnswer answer;
  std::vector<std::pair<ScalePoint, const Run*>> points;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto point = measure(*runs[i], options);
    if (!point && i < options.names.size()) point = std::move(point).map_error(while_doing(options.names[i]));
    if (!point) return tl::make_unexpected(std::move(point).error());
    points.emplace_back(*point, runs[i].get());
  }
  std::ranges::stable_sort(points, {}, [](const auto& point) { return point.first.ranks; });
  for (const auto& [point, run] : points) answer.measured.push_back(point);
  answer.differing_work = differing_work(points);
  choose_scaling(answer, options);
  for (ScalePoint& point : answer.measured)
    point.efficiency = efficiency(answer.scaling, answer.measured.front(), point.ranks, point.step_ns);
  answer.fit = fit_of(answer);
  Prediction(*points.back().second, options, answer).predict();
  return answer;
}

}  // namespace rankscope::analyzer
