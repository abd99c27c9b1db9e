// What the launcher tells the injection library, through environment variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/collectors/details.h"
#include "rankscope/collectors/nccl_levels.h"
#include "rankscope/collectors/sources.h"
#include "rankscope/core/result.h"
#include "rankscope/core/time.h"
#include "settings/rank_environment.h"

namespace rankscope::collectors {

namespace variable {
inline constexpr const char* segments = "RANKSCOPE_SEGMENTS";  ///< folder for segment files; unset: nothing is recorded
inline constexpr const char* library = "RANKSCOPE_INJECT_LIB";  ///< absolute path of librankscope_inject.so
inline constexpr const char* collect = "RANKSCOPE_COLLECT";
inline constexpr const char* named = "RANKSCOPE_COLLECT_NAMED";  ///< "1": the user named the sources
inline constexpr const char* ring_kib = "RANKSCOPE_RING_KIB";
inline constexpr const char* sample_hz = "RANKSCOPE_SAMPLE_HZ";
inline constexpr const char* rank_env = "RANKSCOPE_RANK_ENV";
inline constexpr const char* window = "RANKSCOPE_WINDOW";
inline constexpr const char* until = "RANKSCOPE_UNTIL_NS";   ///< CLOCK_MONOTONIC of this host
inline constexpr const char* details = "RANKSCOPE_DETAILS";  ///< "shapes,memory"; sources act on them where they can
inline constexpr const char* follow = "RANKSCOPE_FOLLOW";    ///< "0": only the process named by `owner`
inline constexpr const char* owner = "RANKSCOPE_OWNER";      ///< pid
inline constexpr const char* nvtx_injection = "NVTX_INJECTION64_PATH";
inline constexpr const char* cuda_injection = "CUDA_INJECTION64_PATH";
inline constexpr const char* nccl_levels = "RANKSCOPE_NCCL";         ///< "p2p", "proxy,kernel"
inline constexpr const char* toggled = "RANKSCOPE_TOGGLED";          ///< "signal", "cuda"
inline constexpr const char* cuda_graphs = "RANKSCOPE_CUDA_GRAPHS";  ///< "node", "graph"
inline constexpr const char* pm_hz = "RANKSCOPE_PM_HZ";
inline constexpr const char* budget = "RANKSCOPE_BUDGET";  ///< a share of a step: "0.01"
inline constexpr const char* nccl_plugin = "NCCL_PROFILER_PLUGIN";
inline constexpr const char* preload = "LD_PRELOAD";
}  // namespace variable

/// Which steps are recorded: `wait` off, `warmup` off, `active` on, `repeat` times (0 = again and again).
struct StepWindow {
  std::uint32_t wait = 0;
  std::uint32_t warmup = 0;
  std::uint32_t active = 1;
  std::uint32_t repeat = 0;
  /// True if the step-th step (from 0) is recorded.
  [[nodiscard]] bool records(std::uint64_t step) const;
  /// True if it is one of those before warm-up.
  [[nodiscard]] bool waits(std::uint64_t step) const;
  /// True if no step from this one on is recorded.
  [[nodiscard]] bool is_over(std::uint64_t step) const;
  /// Steps until it begins again.
  [[nodiscard]] std::uint64_t cycle() const { return std::uint64_t{wait} + warmup + active; }
  bool operator==(const StepWindow&) const = default;
};
/// Reads "wait,warmup,active,repeat"; trailing numbers may be left out from `repeat` on.
[[nodiscard]] Result<StepWindow> step_window_from(std::string_view text);

/// What is recorded of a launch of a CUDA graph.
enum class GraphLevel : std::uint8_t {
  node,   ///< each kernel, copy and memset in it
  graph,  ///< one activity from its first work to its last: costs far less
};
/// Reads --cuda-graphs; empty is `node`.
[[nodiscard]] Result<GraphLevel> graph_level_from(std::string_view text);

inline constexpr double default_pm_hz = 200;
/// Reads --pm-sampling, samples per second.
[[nodiscard]] Result<double> pm_hz_from(std::string_view text);

inline constexpr double default_budget = 0.01;
/// Reads --budget, "1%", as a share; "off" is 0. Empty is the default.
[[nodiscard]] Result<double> budget_from(std::string_view text);

/// What switches the recording on and off; it is off at first, but for `nothing`.
enum class ToggledBy {
  nothing,
  signal,  ///< to the recorder, for all of its processes
  cuda,    ///< cudaProfilerStart and cudaProfilerStop, each process for itself
};

struct InjectSettings {
  std::string segments{};
  SourceSet collect{};
  bool collect_named = false;  ///< by the user: then it is an error where one of them is missing
  std::uint32_t ring_kib = 4096;
  double sample_hz = 10;
  std::string rank_env{};
  std::optional<StepWindow> window{};
  std::int64_t until_ns = 0;  ///< 0 = no end
  DetailSet details{};
  NcclLevels nccl = default_nccl_levels;
  GraphLevel cuda_graphs = GraphLevel::node;
  double pm_hz = default_pm_hz;    ///< of the source pm
  double budget = default_budget;  ///< how much longer a step may become by recording it; 0 = no limit
  ToggledBy toggled = ToggledBy::nothing;
  bool follow = true;
  bool operator==(const InjectSettings&) const = default;
};

// Of host samples; 0 samples a second are none.
inline constexpr double slowest_sample_hz = 1e-3;
inline constexpr double fastest_sample_hz = 100;
/// Within these bounds.
[[nodiscard]] bool is_sample_rate(double hz);
/// From one host sample to the next; 0: none are taken.
[[nodiscard]] nanoseconds sample_period(const InjectSettings& settings);

/// The variables that carry the settings.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> to_variables(const InjectSettings& settings);
/// Reads them back; what cannot be read keeps its default, since there is nobody to report it to.
[[nodiscard]] InjectSettings settings_from(const Lookup& lookup);

}  // namespace rankscope::collectors
