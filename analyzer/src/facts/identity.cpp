#include "facts/identity.h"

#include <algorithm>
#include <chrono>

#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

/// To the minute, in UTC: a report is read elsewhere. Empty for times before 2000, which no clock of a job shows.
std::string date_text(std::int64_t unix_ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds{unix_ns}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  if (date.year() < year{2000}) return {};
  const hh_mm_ss clock{floor<minutes>(time - day)};
  return format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count());
}

}  // namespace

RunIdentity identity_of(const Report& report, const ReportOptions& options) {
  const auto command = std::ranges::find(report.facts, "command", &std::pair<std::string, std::string>::first);
  return {printable(options.run_name), date_text(report.began_unix_ns),
          command == report.facts.end() ? std::string{} : printable(command->second)};
}

std::string name_and_date(const RunIdentity& identity) {
  const char* const between = identity.name.empty() || identity.began.empty() ? "" : " · ";
  return identity.name + between + identity.began;
}

}  // namespace rankscope::analyzer
