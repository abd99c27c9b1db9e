#include "clocks/domains.h"

#include <map>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::clocks {
namespace {

void add_alone(const Run& run, std::uint32_t row, Domains& domains) {
  domains.of_rank[row] = static_cast<std::uint32_t>(domains.clocks.size());
  domains.clocks.push_back({format("rank {}", run.ranks()[row].value), {row}, false});
}

}  // namespace

Domains by_host(const Run& run) {
  Domains domains{{}, std::vector<std::uint32_t>(run.ranks().size())};
  std::map<std::string_view, std::uint32_t> known;
  for (std::uint32_t row = 0; row < run.ranks().size(); ++row) {
    const std::string_view host = run.text(run.process_of(run.ranks()[row]).host);
    if (host.empty()) {
      add_alone(run, row, domains);
      continue;
    }
    const auto [clock, added] = known.try_emplace(host, static_cast<std::uint32_t>(domains.clocks.size()));
    if (added) domains.clocks.push_back({std::string{host}, {}, true});
    domains.clocks[clock->second].ranks.push_back(row);
    domains.of_rank[row] = clock->second;
  }
  return domains;
}

Domains by_rank(const Run& run) {
  Domains domains{{}, std::vector<std::uint32_t>(run.ranks().size())};
  for (std::uint32_t row = 0; row < run.ranks().size(); ++row) add_alone(run, row, domains);
  return domains;
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
