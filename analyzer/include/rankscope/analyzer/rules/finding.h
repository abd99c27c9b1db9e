// What a rule finds to be wrong, how bad that is, and how certain (metrics.md 20).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope::analyzer {

/// How urgent a finding is (docs/findings.md has the limits); reports list the last of these values first.
enum class FindingSeverity : std::uint8_t { info, minor, major, critical };
/// What limits a comparison of ranks: with two or three of them, somebody is always the slowest (metrics.md 9.6).
enum class Certainty : std::uint8_t { fact, of_two, of_three, few_steps };
[[nodiscard]] std::string_view name_of(FindingSeverity severity);
[[nodiscard]] std::string_view name_of(Certainty certainty);

/// Ids that are known beside the rule of the finding.
namespace finding_id {
inline constexpr std::string_view rank_lost = "rank_lost";
inline constexpr std::string_view lost_at_start = "lost_at_start";
inline constexpr std::string_view job_stopped = "job_stopped";
inline constexpr std::string_view ranks_missing = "ranks_missing";
inline constexpr std::string_view waited_for = "waited_for";
inline constexpr std::string_view slow_tcp_link = "slow_tcp_link";
inline constexpr std::string_view exposed_communication = "exposed_communication";
inline constexpr std::string_view exposed_copies = "exposed_copies";
inline constexpr std::string_view idle = "idle";
inline constexpr std::string_view data_loading = "data_loading";
inline constexpr std::string_view synchronizations = "synchronizations";
inline constexpr std::string_view blocking_copies = "blocking_copies";
inline constexpr std::string_view allocations = "allocations";
inline constexpr std::string_view efficiency = "efficiency";
inline constexpr std::string_view unequal_data_wait = "unequal.data_wait";
inline constexpr std::string_view unequal_host_time = "unequal.host_time";
}  // namespace finding_id

/// How the ids of related findings begin.
namespace finding_family {
inline constexpr std::string_view straggler = "straggler.";
inline constexpr std::string_view unequal = "unequal.";
inline constexpr std::string_view imbalance = "imbalance.";
inline constexpr std::string_view step_time = "step_time.";
inline constexpr std::string_view efficiency = "efficiency.";
inline constexpr std::string_view slow_path = "slow_";  ///< groups, links and connections
}  // namespace finding_family

/// One problem of the run, as a rule worded it.
struct Finding {
  std::string id;  ///< stable, e.g. "straggler.compute", "rank_lost"
  FindingSeverity severity = FindingSeverity::info;
  std::string title;
  std::string evidence;
  std::string advice;
  std::int64_t gain_ns_per_step = 0;
  std::optional<RankId> rank;
  std::optional<std::int64_t> step;
  std::string why_no_gain{};  ///< set where it is not known what a fix saves; gain_ns_per_step is then 0
  std::string subject{};      ///< what it is about beside `rank`, such as "link 0, 1"; tells findings of one id apart
  std::optional<Certainty> certainty{};  ///< of findings that compare ranks without their collectives (metrics.md 9.8)
  std::string cause{};                   ///< short, where the rule knows one: "most of it is all-reduce"
  /// Set where the share alone would be worse, but the data does not show how much of it counts: "without steps".
  std::string held_at_minor{};
  /// Of a rank that was lost or hung: when its peers began the first operation that it never began. Not in the JSON.
  std::optional<RunTime> missed_at{};
};

/// True for findings that say what is wrong with one rank, not with the time of everybody.
[[nodiscard]] bool is_about_one_rank(const Finding& finding);

}  // namespace rankscope::analyzer
