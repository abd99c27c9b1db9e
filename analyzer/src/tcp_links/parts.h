// The section on TCP connections between ranks: how it is found, its table and JSON, and the rule that judges it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/analyzer/tcp_links/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// Of all ranks, over the counted steps; of the whole recordings where there are none.
[[nodiscard]] Section<TcpLinksSection> find_tcp_links(const Run& run, const Section<StepsSection>& steps,
                                                      const Section<std::vector<RankRow>>& rows,
                                                      const ReportOptions& options);

[[nodiscard]] std::vector<NotedTable> tcp_link_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json tcp_links_json(const TcpLinksSection& section);

inline constexpr std::string_view cost_is_unknown =
    "unless both steps and collectives are recorded, it is not known how much of the waiting delays a step";

/// What a finding about it has as its subject.
[[nodiscard]] std::string subject_of(const SlowTcpLink& slow);
/// True if the rank sends or receives on it.
[[nodiscard]] bool is_at_end(const TcpLinksSection& section, const SlowTcpLink& slow, RankId rank);

void judge_tcp_links(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
