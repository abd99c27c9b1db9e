// What turns the functions of the sections into the fields of their rows (sections.cpp).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sections.h"

namespace rankscope::analyzer {

/// What one function finds from the run and the sections before.
template <auto section, auto find>
void find_as(Work& work) {
  const Report& report = work.report;
  if constexpr (requires { find(work.run, report.steps, report.rank_rows, work.matching, work.options); })
    work.report.*section = find(work.run, report.steps, report.rank_rows, work.matching, work.options);
  else if constexpr (requires { find(work.run, report.steps, report.rank_rows, work.options); })
    work.report.*section = find(work.run, report.steps, report.rank_rows, work.options);
  else
    work.report.*section = find(work.run, report.steps, work.options);
}

/// The same of what compares ranks, which is refused where files of different jobs were opened together.
template <auto section, void (*find)(Work& work)>
void find_in_one_job(Work& work) {
  if (work.other_jobs.empty())
    find(work);
  else
    work.report.*section = unavailable(work.other_jobs);
}

/// The same of what compares own times, which are unknown where waiting for others cannot be told from work.
template <auto section, void (*find)(Work& work)>
void find_where_compared(Work& work) {
  if (work.report.why_not_compared.empty())
    find_in_one_job<section, find>(work);
  else
    work.report.*section = unavailable(work.report.why_not_compared);
}

/// The same. Where steps were thinned out, it is their sums that tell waiting from work, or do not: `find` looks at
/// them.
template <auto section, void (*find)(Work& work)>
void find_by_sums_or_where_compared(Work& work) {
  work.report.thinned ? find_in_one_job<section, find>(work) : find_where_compared<section, find>(work);
}

template <auto section>
std::optional<Unavailable> absence_in(const Report& report) {
  return report.*section ? std::nullopt : std::optional{(report.*section).error()};
}

/// What is short enough to be the same on one screen.
template <void (*text)(Page& page, const Report& report, const ReportOptions& options)>
void brief_of(Page& page, const Report& report, const ReportOptions& options, std::size_t) {
  text(page, report, options);
}

/// What one function writes of a section as JSON, or why the section is missing.
template <auto section, auto to_json>
nlohmann::ordered_json json_as(const Source& source) {
  const auto& found = source.report.*section;
  if (!found) return {{"unavailable", found.error().why}};
  if constexpr (requires { to_json(*found, source); })
    return to_json(*found, source);
  else if constexpr (requires { to_json(*found, source.options); })
    return to_json(*found, source.options);
  else
    return to_json(*found);
}

}  // namespace rankscope::analyzer
