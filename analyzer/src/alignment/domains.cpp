#include "alignment/domains.h"

#include <map>

#include "clocks/clock_trust.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::clocks {
namespace {

void add_alone(const Run& run, std::uint32_t row, Domains& domains) {
  domains.of_rank[row] = static_cast<std::uint32_t>(domains.clocks.size());
  domains.clocks.push_back({format("rank {}", run.ranks()[row].value), {row}, Clock::Kind::rank});
}

std::string_view file_of(const Run& run, const Process& process) {
  for (const auto& [key, value] : process.metadata)
    if (run.text(key) == "nsys.file") return run.text(value);
  return {};
}

/// What all processes that share a clock have in common; empty: nothing is known of it.
std::string_view shared_name(const Run& run, const Process& process) {
  return has_no_common_zero(run) ? file_of(run, process) : run.text(process.host);
}

}  // namespace

Domains domains_of(const Run& run) {
  Domains domains{{}, std::vector<std::uint32_t>(run.ranks().size())};
  std::map<std::string_view, std::uint32_t> known;
  const Clock::Kind kind = has_no_common_zero(run) ? Clock::Kind::file : Clock::Kind::host;
  for (std::uint32_t row = 0; row < run.ranks().size(); ++row) {
    const std::string_view name = shared_name(run, run.process_of(run.ranks()[row]));
    if (name.empty()) {
      add_alone(run, row, domains);
      continue;
    }
    const auto [clock, added] = known.try_emplace(name, static_cast<std::uint32_t>(domains.clocks.size()));
    if (added) domains.clocks.push_back({std::string{name}, {}, kind});
    domains.clocks[clock->second].ranks.push_back(row);
    domains.of_rank[row] = clock->second;
  }
  return domains;
}

std::optional<std::uint32_t> clock_of(const Run& run, const Domains& domains, const Process& process) {
  const std::string_view name = shared_name(run, process);
  for (std::uint32_t i = 0; i < domains.clocks.size(); ++i)
    if (domains.clocks[i].kind != Clock::Kind::rank && domains.clocks[i].name == name) return i;
  return std::nullopt;
}

Domains taken_apart(const Run& run, const Domains& domains, const std::vector<bool>& apart) {
  Domains result{{}, std::vector<std::uint32_t>(run.ranks().size())};
  for (std::size_t i = 0; i < domains.clocks.size(); ++i) {
    const Clock& clock = domains.clocks[i];
    if (apart[i]) {
      for (const std::uint32_t row : clock.ranks) add_alone(run, row, result);
      continue;
    }
    for (const std::uint32_t row : clock.ranks) result.of_rank[row] = static_cast<std::uint32_t>(result.clocks.size());
    result.clocks.push_back(clock);
  }
  return result;
}

}  // namespace rankscope::analyzer::clocks
