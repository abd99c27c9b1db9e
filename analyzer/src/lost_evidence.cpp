// What a recording lacks of itself, so that nobody may say that there is no problem (metrics.md 18).
#include <algorithm>
#include <array>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

/// Errors after which a part of what the ranks did is unknown or wrong. After the others the sections concerned are
/// unavailable, or durations are right nevertheless.
constexpr std::array hides_work{Counter::names_lost,     Counter::negative_duration, Counter::not_gathered,
                                Counter::sources_failed, Counter::rank_contested,    Counter::files_left_out,
                                Counter::header_damaged, Counter::manifest_damaged};

bool is_lost(const Report& report, const QualityRow& row) {
  if (row.value == 0 || info_of(row.counter).severity != Severity::data_loss) return false;
  return row.counter != Counter::ranks_missing || report.world_size <= std::ssize(report.ranks);
}

bool is_error(const Report& report, const QualityRow& row) {
  if (row.value == 0 || std::ranges::find(hides_work, row.counter) == hides_work.end()) return false;
  return row.counter != Counter::not_gathered || !still_runs(report);
}

}  // namespace

bool still_runs(const Report& report) {
  return std::ranges::any_of(report.facts, [](const auto& fact) { return fact.first == "still_running"; });
}

std::string_view lost_evidence(const Report& report) {
  const auto any = [&report](auto is_so) {
    return std::ranges::any_of(report.data_quality, [&](const QualityRow& row) { return is_so(report, row); });
  };
  if (any(is_lost)) return "Parts of the recording are missing";
  const bool unknown = report.collectives && report.collectives->unknown_in_steps > 0;
  return unknown || any(is_error) ? "Errors in the recording can hide problems" : "";
}

}  // namespace rankscope::analyzer
