// The Report: everything the analyses found out about one Run, as plain data. Rendered as text and JSON
// (schema rankscope.report/1). Numbers that cannot be told are absent with a reason, never 0 (metrics.md C3).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A section, or in words why it cannot be computed from this run.
struct Unavailable {
  std::string why;
};
template <class T>
using Section = tl::expected<T, Unavailable>;
inline tl::unexpected<Unavailable> unavailable(std::string why) {
  return tl::make_unexpected(Unavailable{std::move(why)});
}

/// A ratio, or why there is none.
struct Ratio {
  std::optional<double> value;
  std::string why;  ///< set when value is not
};

// --- steps (metrics.md 1)
// ---------------------------------------------------------------------------------------------

/// One step of one rank: metrics.md 1.2. The windows of a rank tile its recording from the first to the last mark.
struct StepWindow {
  RankId rank;
  std::int64_t index = 0;
  TimeRange window;
  bool complete = false;
};

/// One step of the job: metrics.md 1.4.
struct Step {
  std::int64_t index = 0;
  TimeRange time;            ///< clocks refused: in the lowest rank's clock
  std::int64_t wall_ns = 0;  ///< length of `time`; clocks refused: longest window of any rank (1.4)
  bool complete = false;     ///< on all present ranks
  bool warm_up = false;      ///< left out of statistics (1.6)
};

struct StepsSection {
  std::string source;               ///< where the marks came from: "step spans", ...
  std::vector<Step> steps;          ///< by index
  std::vector<StepWindow> windows;  ///< by (rank, index)
  std::int64_t median_ns = 0;       ///< of the counted steps: complete and no warm-up
  std::int64_t p90_ns = 0;
  double jitter = 0;            ///< robust sigma / median (1.7)
  bool clocks_refused = false;  ///< wall is the longest window, not a difference of run times
  [[nodiscard]] bool counted(std::int64_t index) const;
};

// --- time split of one rank (metrics.md 2)
// ----------------------------------------------------------------------------

enum class IdleCause : std::uint8_t { host, sync, data, kernel_gap, other };
inline constexpr std::size_t idle_cause_count = 5;
[[nodiscard]] std::string_view name_of(IdleCause cause);

/// Where the time of a window went. compute + exposed_comm + memory + idle = window; overlapped + exposed = comm = wait
/// + transfer + unsplit; the idle causes add up to idle. All exact, in ns.
struct TimeSplit {
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_comm_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t comm_ns = 0;
  std::int64_t overlapped_comm_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t unsplit_ns = 0;
  std::int64_t exposed_wait_ns = 0;  ///< parts of exposed_comm; what remains of it is unsplit
  std::int64_t exposed_transfer_ns = 0;
  std::int64_t own_comm_delay_ns = 0;  ///< part of exposed_comm before the start of a collective that this rank delayed
  std::int64_t idle_for_others_ns = 0;  ///< part of idle in a barrier or store wait, that is for other ranks
  std::array<std::int64_t, idle_cause_count> idle_causes_ns{};

  TimeSplit& operator+=(const TimeSplit& other);
  bool operator==(const TimeSplit&) const = default;
  [[nodiscard]] std::int64_t idle_ns_of(IdleCause cause) const {
    return idle_causes_ns[static_cast<std::size_t>(cause)];
  }
  /// Own time (metrics.md 9.1): window minus what was spent waiting for other ranks.
  [[nodiscard]] std::int64_t own_ns() const;
};

struct RankRow {
  RankId rank;
  std::string host;
  std::string device;               ///< "cpu", or the accelerator's name
  TimeSplit total;                  ///< over the counted steps; the whole recording where there are none
  std::vector<TimeSplit> per_step;  ///< parallel to the counted steps
  Ratio overlap_ratio;
  Ratio busy;
  Ratio compute;
  std::optional<std::int64_t> peak_allocated_bytes;
  std::string why_no_memory;
  std::optional<double> cpu_percent;  ///< median of the host sampler
};

// --- collectives (metrics.md 5, 6)
// ------------------------------------------------------------------------------------

/// One operation matched over its members.
struct Unit {
  GroupId group;
  StringId op;
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;             ///< S of metrics.md 6: the whole payload; -1 = not recorded
  std::vector<std::uint32_t> members;  ///< rows of Run::collectives(), by rank; only members that started
  bool complete = false;               ///< every member of the group is present and finished
  std::int64_t wait_ns = 0;            ///< sum over the members (rank ns)
  RankId first_rank;                   ///< first and last: none where the claim is below twice the clock error (7.5)
  RankId last_rank;
  RunTime first_start;
  RunTime last_start;
  std::int64_t spread_ns = 0;
  std::int64_t transfer_ns = 0;  ///< max(0, median end - last start)
};

struct GroupRow {
  std::string group;
  std::string op;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t wait_ns = 0;  ///< rank ns
  std::int64_t transfer_ns = 0;
  std::optional<double> busbw_gbps;
  std::string why_no_busbw;
  std::string method;  ///< "run time", or "duration" where the clocks are refused (6.9)
};

/// Members of one operation that disagree about what it is (metrics.md 5).
struct Desync {
  GroupId group;
  std::int64_t sequence = -1;
  std::string what;  ///< "rank 0: allreduce 1024 f32; rank 1: broadcast 4 f32"
};

struct CollectivesSection {
  std::int64_t matched = 0;  ///< members in units with >= 2 members
  std::int64_t unmatched = 0;
  std::string key;               ///< "group and sequence", ...
  std::vector<Unit> units;       ///< by earliest start
  std::vector<GroupRow> groups;  ///< by (group, op)
  std::int64_t partial = 0;      ///< units that not all members of the group have finished
  std::vector<Desync> desyncs;   ///< the first of each group
};

// --- stragglers and findings (metrics.md 9, 20)
// -----------------------------------------------------------------------

enum class StragglerKind : std::uint8_t { compute, host, data, network, memory, mixed };
enum class Persistence : std::uint8_t { persistent, transient };
enum class Certainty : std::uint8_t { fact, of_two, of_three };
enum class FindingSeverity : std::uint8_t { info, minor, major, critical };
[[nodiscard]] std::string_view name_of(StragglerKind kind);
[[nodiscard]] std::string_view name_of(Persistence persistence);
[[nodiscard]] std::string_view name_of(Certainty certainty);
[[nodiscard]] std::string_view name_of(FindingSeverity severity);

struct Straggler {
  RankId rank;
  StragglerKind kind = StragglerKind::compute;
  Persistence persistence = Persistence::persistent;
  Certainty certainty = Certainty::fact;
  FindingSeverity severity = FindingSeverity::minor;
  double slowdown = 1;
  std::int64_t lag_ns_per_step = 0;  ///< transient: of the steps with a stall
  std::int64_t gain_ns_per_step =
      0;  ///< what an average step would be shorter, as far as the next slowest rank lets it
  std::string evidence;
};

struct StragglersSection {
  std::vector<Straggler> rows;  ///< severity minor and above, worst first
  std::string compared;         ///< "Compared with 3 peers; medians of 20 steps."
  std::string cannot_tell;      ///< set where noise or too few steps hide slowdowns: "cannot tell below 31 % ..."
  std::optional<double> smallest_detectable;  ///< slowdown that would still have been found (9.2)
};

struct Finding {
  std::string id;  ///< stable, e.g. "straggler.compute", "rank_lost"
  FindingSeverity severity = FindingSeverity::info;
  std::string title;
  std::string evidence;
  std::string advice;
  std::int64_t gain_ns_per_step = 0;
  std::optional<RankId> rank;
  std::optional<std::int64_t> step;
};

/// What is known of a rank without any annotation: where it ran, how it ended, what the host sampler saw.
struct RankFacts {
  RankId rank;
  std::string host;
  std::string program;
  Ending ending = Ending::unknown;
  std::int64_t exit_status = 0;
  std::optional<double> cpu_percent;  ///< median of the host sampler
  std::optional<std::int64_t> peak_rss_bytes;
};

struct QualityRow {
  Counter counter;
  std::uint64_t value = 0;
};

struct Report {
  std::string source;
  std::vector<RankId> ranks;
  std::int64_t world_size = 0;
  std::int64_t duration_ns = 0;
  ClockInfo clock;
  std::vector<RankFacts> rank_facts;  ///< by rank
  Section<StepsSection> steps = unavailable("not computed");
  Section<std::vector<RankRow>> rank_rows = unavailable("not computed");
  Section<CollectivesSection> collectives = unavailable("not computed");
  Section<StragglersSection> stragglers = unavailable("not computed");
  Section<std::vector<Finding>> findings = unavailable("not computed");
  std::vector<QualityRow> data_quality;                    ///< every counter > 0, of the run and of the analyses
  std::vector<std::pair<std::string, std::string>> facts;  ///< printed in the head: model, pace, parallel, data, ...
};

/// What a reader asks for.
struct ReportOptions {
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;  ///< first:last, both included
  std::vector<RankId> ranks;                                   ///< empty = all
  bool include_warm_up = false;
  bool instances = false;  ///< JSON: list every matched unit
  std::size_t top = 10;
};

/// Runs every analysis of the registry. There is always a report: a section that cannot be computed says why.
[[nodiscard]] Report analyze(const Run& run, const ReportOptions& options);

/// False if no section could be computed: the run is readable, but tells nothing (exit status 4).
[[nodiscard]] bool anything_computed(const Report& report);

/// One analysis, in the order of the report.
struct AnalysisInfo {
  std::string_view id;  ///< section of the report, as in --only
  std::string_view question;
};
[[nodiscard]] std::span<const AnalysisInfo> analyses();

}  // namespace rankscope::analyzer
