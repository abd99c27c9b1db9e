#include "critical_path/parts.h"

#include <algorithm>
#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_activity = 48;

Means means_of(const CriticalPathSection& path) {
  return {1, path.whole_recording ? 0 : static_cast<std::int64_t>(path.steps.size())};
}

std::string rank_words(const CriticalPathSection& path, std::size_t most) {
  std::string words;
  std::int64_t rest = path.length_ns;
  for (const PathOfRank& rank : std::span{path.ranks}.first(std::min(most, path.ranks.size()))) {
    words += format("{}{} {}", words.empty() ? "" : ", ",
                    rank.rank.is_set() ? format("rank {}", rank.rank.value) : "ranks without these steps",
                    share_text(rank.ns, path.length_ns));
    rest -= rank.ns;
  }
  if (path.ranks.size() > most)
    words += format(", {} {}", counted(path.ranks.size() - most, "other rank"), share_text(rest, path.length_ns));
  return words;
}

NotedTable by_kind(const CriticalPathSection& path, std::size_t most) {
  const Means means = means_of(path);
  NotedTable noted{"Critical path", path.whole_recording ? "whole recording" : "mean per step",
                   Table{{{"kind", Align::left}, {"ms"}, {"share"}}, {}}};
  for (std::size_t i = 0; i < path_class_count; ++i) {
    if (path.sums_ns[i] == 0) continue;
    noted.table.rows.push_back({{std::string{words_of(static_cast<PathClass>(i))}},
                                {means.ms(path.sums_ns[i])},
                                {share_text(path.sums_ns[i], path.length_ns)}});
  }
  if (path.ranks.size() > 1)
    noted.notes.push_back("By rank: " + rank_words(path, std::min<std::size_t>(most, 8)) + ".");
  if (path.incomplete())
    noted.notes.emplace_back(
        "Incomplete: more than a tenth of the path is waiting for unknown partners or has no recorded reason.");
  noted.notes.push_back(
      format("The critical path is the work that determined how long {}. There may be several such paths: {}{} of the "
             "ranks would delay the job if they finished only slightly later. Shortening this path may therefore save "
             "less than the time taken off it.",
             path.whole_recording ? "the job took" : "the steps took",
             path.whole_recording ? "" : "in an average step, ", percent_text(path.near_critical)));
  if (path.clamped_ns > 0)
    noted.notes.push_back(
        format("According to the clocks, some work on the path began before its cause had ended, by {} in total; this "
               "time is left out of the path.",
               duration_text(path.clamped_ns)));
  return noted;
}

NotedTable by_operation(const CriticalPathSection& path, std::size_t most) {
  const Means means = means_of(path);
  NotedTable noted{"Operations on the critical path", path.whole_recording ? "whole recording" : "mean per step",
                   Table{{{"operation", Align::left, widest_activity}, {"kind", Align::left}, {"ms"}, {"share"}}, {}},
                   left_out(path.operations.size(), most)};
  const bool several = path.ranks.size() > 1;
  if (several) noted.table.columns.push_back({"above the ranks' mean"});
  for (const PathOperation& operation :
       std::span{path.operations}.first(path.operations.size() - noted.left_out.rows)) {
    noted.table.rows.push_back({{operation.name.empty() ? "(outside of all ranges)" : printable(operation.name)},
                                {std::string{words_of(operation.kind)}},
                                {means.ms(operation.ns)},
                                {share_text(operation.ns, path.length_ns)}});
    if (several) noted.table.rows.back().push_back({means.ms(operation.imbalance_ns)});
  }
  if (several)
    noted.notes.emplace_back(
        "Above the ranks' mean: how much longer the path spends in an operation than the ranks do on average. Sharing "
        "the operation evenly among the ranks saves at most this difference.");
  return noted;
}

}  // namespace

std::string_view words_of(PathClass kind) {
  switch (kind) {
    case PathClass::compute:
      return "compute";
    case PathClass::comm:
      return "communication";
    case PathClass::memory:
      return "copies";
    case PathClass::host:
      return "host";
    case PathClass::data:
      return "data loading";
    case PathClass::wait:
      return "waiting for unknown partners";
    case PathClass::gap:
      return "no recorded reason";
  }
  return "?";
}

std::vector<NotedTable> critical_path_tables(const Report& report, std::size_t most) {
  if (!report.critical_path || report.critical_path->length_ns <= 0) return {};
  return {by_kind(*report.critical_path, most), by_operation(*report.critical_path, most)};
}

}  // namespace rankscope::analyzer
