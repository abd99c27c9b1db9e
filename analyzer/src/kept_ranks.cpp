#include "kept_ranks.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "steps/parts.h"
#include "tcp_links/parts.h"

namespace rankscope::analyzer {
namespace {

auto of_others(const ReportOptions& options) {
  return [&options](const auto& row) { return !is_asked_for(options, row.rank); };
}

/// A slow connection delays both of its ends.
bool is_about_asked_rank(const Report& report, const Finding& finding, const ReportOptions& options) {
  if (is_asked_for(options, finding.rank.value_or(RankId::none()))) return true;
  if (finding.id != finding_id::slow_tcp_link || !report.tcp_links) return false;
  return std::ranges::any_of(report.tcp_links->slow, [&](const SlowTcpLink& slow) {
    return subject_of(slow) == finding.subject &&
           std::ranges::any_of(options.ranks, [&](RankId rank) { return is_at_end(*report.tcp_links, slow, rank); });
  });
}

}  // namespace

void keep_rank_facts(Report& report, const ReportOptions& options) {
  std::erase_if(report.rank_facts, of_others(options));
}

void keep_rank_rows(Report& report, const ReportOptions& options) {
  if (!report.rank_rows) return;
  const auto left_out = std::ranges::stable_partition(*report.rank_rows, std::not_fn(of_others(options)));
  std::ranges::move(left_out, std::back_inserter(report.asked_for.rows_left_out));
  report.rank_rows->erase(left_out.begin(), left_out.end());
}

void keep_memory(Report& report, const ReportOptions& options) {
  if (!report.memory) return;
  std::erase_if(report.memory->devices, of_others(options));
  std::erase_if(report.memory->hosts, of_others(options));
}

void keep_pipeline_ranks(Report& report, const ReportOptions& options) {
  if (report.pipeline) std::erase_if(report.pipeline->ranks, of_others(options));
}

void keep_hta_ranks(Report& report, const ReportOptions& options) {
  if (report.hta && *report.hta) std::erase_if((*report.hta)->ranks, of_others(options));
}

void keep_slow_ranks(Report& report, const ReportOptions& options) {
  if (!report.stragglers) return;
  const auto other = of_others(options);
  std::ranges::copy_if(report.stragglers->rows, std::back_inserter(report.asked_for.slow_ranks_left_out), other);
  std::erase_if(report.stragglers->rows, other);
}

void keep_findings(Report& report, const ReportOptions& options) {
  if (!report.findings) return;
  std::erase_if(*report.findings, [&](const Finding& finding) {
    return is_about_one_rank(finding) && !is_about_asked_rank(report, finding, options);
  });
}

}  // namespace rankscope::analyzer
