// rankscope scale: how step times grow with the number of ranks, seen in several runs or predicted from one (metrics.md
// 16).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Whether the work of each rank stays, or that of all ranks together.
enum class Scaling : std::uint8_t { weak, strong };
[[nodiscard]] std::string_view name_of(Scaling scaling);

/// What `scale` is asked for, and what is known of the hosts and the network of larger runs.
struct ScaleOptions {
  std::vector<std::int64_t> to{};                ///< numbers of ranks; empty: 2, 4 and 8 times as many as were measured
  std::optional<Scaling> scaling{};              ///< not set: several runs tell by their batches, else weak
  std::optional<double> latency_us{};            ///< alpha of the network between hosts, per hop
  std::optional<double> bandwidth_gbps{};        ///< its bandwidth per rank, in GB/s
  std::optional<std::int64_t> ranks_per_host{};  ///< how many fit on one host; not set: as many as there were
  std::uint64_t seed = 1;
  std::vector<std::string> names{};  ///< of the runs, for errors; empty: none
  ReportOptions report{};            ///< which steps count
};

/// One run as it was measured.
struct ScalePoint {
  std::int64_t ranks = 0;
  std::int64_t step_ns = 0;             ///< median of the counted steps
  double efficiency = 1;                ///< against the smallest run
  std::optional<std::int64_t> batch{};  ///< samples per step of all ranks
};

/// What several runs of different sizes follow (16, after Amdahl and Gustafson).
struct ScaleFit {
  double fixed_share = 0;      ///< strong: share of the work that more ranks do not shorten
  double per_doubling_ns = 0;  ///< weak: by how much a step is longer for each doubling of the ranks
  double largest_error = 0;    ///< of a measured point against the fit, as a share; 0 for two points
};

/// A prediction for one number of ranks.
struct ScaledStep {
  std::int64_t ranks = 0;
  std::int64_t step_ns = 0;     ///< median
  std::int64_t low_ns = 0;      ///< 5th percentile of the draws, at least 5 % below the median
  std::int64_t high_ns = 0;     ///< 95th, at least 5 % above it
  double efficiency = 1;        ///< weak T(n) / T(N), strong n T(n) / (N T(N))
  double lost_to_comm = 0;      ///< share of the step that growing communication takes
  double lost_to_noise = 0;     ///< share that waiting for the slowest of more ranks takes
  bool low_confidence = false;  ///< more than 4 times the measured ranks
};

/// Step times for numbers of ranks that were not measured, with the errors of what they rest on.
struct ScaleAnswer {
  Scaling scaling = Scaling::weak;
  std::string why_scaling;           ///< what tells that it is weak or strong
  std::string differing_work;        ///< a sentence; set where the runs state that they did not do the same
  std::vector<ScalePoint> measured;  ///< by ranks
  std::optional<ScaleFit> fit{};     ///< of two runs of different sizes and more
  double replay_error = 0;           ///< of the replay that the prediction is made from (12.3)
  double model_error = 0;            ///< of the measured ranks: predicted / measured - 1, before it is corrected
  std::vector<ScaledStep> predicted;
  std::string why_not_predicted;   ///< set where there are none
  std::vector<std::string> notes;  ///< what the prediction rests on and does not know
};

/// `usage` for sizes that make no sense and for steps that a run does not have, `not_computable` where no run has
/// steps.
[[nodiscard]] Result<ScaleAnswer> scale(std::span<const std::shared_ptr<const Run>> runs, const ScaleOptions& options);

[[nodiscard]] std::string render_scale_text(const ScaleAnswer& answer, Colour colour);
/// Schema rankscope.scale/1, in docs/scale.md.
[[nodiscard]] std::string render_scale_json(const ScaleAnswer& answer);
[[nodiscard]] std::string render_scale_html(const ScaleAnswer& answer);

}  // namespace rankscope::analyzer
