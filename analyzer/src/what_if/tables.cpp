#include "what_if/parts.h"

#include <algorithm>
#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_gain = 0.005;  // of a step: below it a change has no row of its own

std::string step_words(const WhatIfSection& section) {
  if (section.whole_recording) return "the whole recording";
  return format("mean of {}", counted(section.steps, "step"));
}

void add_row(NotedTable& noted, const WhatIfSection& section, const std::string& change, std::int64_t ns) {
  const Means one{1, 0};
  const std::int64_t gain = section.replayed_ns - ns;
  const double share =
      section.replayed_ns > 0 ? static_cast<double>(gain) / static_cast<double>(section.replayed_ns) : 0;
  noted.table.rows.push_back({{change},
                              {one.ms(ns)},
                              {one.ms(gain)},
                              {format("{:.1f} %", 100 * share), share >= 0.02 ? Tone::warning : Tone::plain}});
}

bool is_worth_a_row(const WhatIfSection& section, std::int64_t ns) {
  return static_cast<double>(section.replayed_ns - ns) >= least_gain * static_cast<double>(section.replayed_ns);
}

/// What the ideal evens out: ranks that do different work, such as those of pipeline stages, keep their own.
std::string_view between_what(const WhatIfSection& section) {
  return section.any_peers ? "between peers and between steps" : "between steps";
}

/// Ranks whose own slowness costs something, the worst first.
std::vector<const RankReplay*> costly_ranks(const WhatIfSection& section) {
  std::vector<const RankReplay*> ranks;
  for (const RankReplay& rank : section.ranks)
    if (rank.without_rank_ns && is_worth_a_row(section, *rank.without_rank_ns)) ranks.push_back(&rank);
  std::ranges::stable_sort(ranks, {}, [](const RankReplay* rank) { return *rank->without_rank_ns; });
  return ranks;
}

NotedTable predictions(const WhatIfSection& section, std::size_t most) {
  NotedTable noted{"What if", step_words(section),
                   Table{{{"change", Align::left, 48}, {"step ms"}, {"saves ms"}, {"saves"}}, {}}};
  const auto ranks = costly_ranks(section);
  noted.left_out = left_out(ranks.size(), most);
  add_row(noted, section, "none: as recorded", section.replayed_ns);
  for (const RankReplay* rank : std::span{ranks}.first(ranks.size() - noted.left_out.rows))
    add_row(noted, section, format("rank {} as fast as its peers", rank->rank.value), *rank->without_rank_ns);
  if (!section.ranks.empty() && section.ideal_ns)
    add_row(noted, section, format("no imbalance {}", between_what(section)), *section.ideal_ns);
  if (section.even_last_stage_ns && is_worth_a_row(section, *section.even_last_stage_ns))
    add_row(noted, section, "last stage with the mean compute of all stages", *section.even_last_stage_ns);
  const auto is_transfer = [](const KindSlowdown& kind) { return kind.kind == "comm"; };
  if (section.ideal_network_ns && std::ranges::any_of(section.kinds, is_transfer))
    add_row(noted, section, "transfers take no time", *section.ideal_network_ns);
  if (section.without_host_delay_ns < section.replayed_ns)  // evened out, a host may take others longer
    add_row(noted, section, format("host time at its mean over {}steps", section.any_peers ? "peers and " : ""),
            section.without_host_delay_ns);
  return noted;
}

/// "comm" and "memory" are names of the JSON report.
std::string_view words_of(const KindSlowdown& kind) {
  if (kind.kind == "comm") return "transfers";
  return kind.kind == "memory" ? std::string_view{"copies"} : std::string_view{kind.kind};
}

std::string kinds_text(const WhatIfSection& section) {
  std::string text;
  for (const KindSlowdown& kind : section.kinds)
    if (kind.slowdown >= 1.005)
      text += format("{}{} {:.2f} x", text.empty() ? "" : ", ", words_of(kind), kind.slowdown);
  return text;
}

/// The most uneven operations, and hosts.
std::string operations_text(const WhatIfSection& section) {
  constexpr std::size_t most = 3;
  constexpr std::size_t widest = 60;
  std::string text;
  std::size_t named = 0;
  for (const auto& [what, list] : {std::pair{"", &section.operations}, {"host ", &section.hosts}})
    for (const NamedSlowdown& one : *list)
      if (one.slowdown >= 1.005 && named < most) {
        text += format("{}{}{} {:.2f} x", text.empty() ? "" : ", ", what, shortened(printable(one.name), widest),
                       one.slowdown);
        ++named;
      }
  return text;
}

}  // namespace

std::vector<NotedTable> what_if_tables(const Report& report, std::size_t most) {
  if (!report.what_if) return {};
  const WhatIfSection& section = *report.what_if;
  NotedTable noted = predictions(section, most);
  if (section.slowdown && *section.slowdown >= 1.005) {
    const std::string kinds = kinds_text(section);
    noted.notes.push_back(format("Steps take {:.2f} times as long as they would without imbalance {}{}{}.",
                                 *section.slowdown, between_what(section),
                                 kinds.empty() ? "" : "; if only one kind of work were uneven: ", kinds));
  }
  if (section.ideal_ns && section.several_classes)
    noted.notes.emplace_back(section.any_peers
                                 ? "Only peers, which are ranks that do equal work, are compared: differences between "
                                   "ranks with different work, such as pipeline stages, remain."
                                 : "No two ranks do equal work, so ranks are not compared with each other: the "
                                   "differences between them remain.");
  if (const std::string uneven = operations_text(section); !uneven.empty())
    noted.notes.push_back(format("How much longer steps take if only one operation or host is uneven: {}.", uneven));
  // Fixing a part can gain a little more than fixing all; what is far outside of 0 to 1 is no share of it.
  const auto is_share = [](const std::optional<double>& share) { return share && *share >= 0 && *share < 1.01; };
  if (is_share(section.last_stage))
    noted.notes.push_back(format("Of the time that uneven work costs, {} comes from the last pipeline stage.",
                                 percent_text(std::min(1.0, *section.last_stage))));
  if (is_share(section.few_ranks))
    noted.notes.push_back(format("Of the time that uneven work costs, {} comes from {}.",
                                 percent_text(std::min(1.0, *section.few_ranks)), counted(section.few, "rank")));
  noted.notes.push_back(format("These times come from a replay of the recording (error {:.1f} %). {}",
                               100 * section.replay_error, not_modelled));
  for (const std::string& doubt : section.doubts) noted.notes.push_back(doubt);
  noted.notes.emplace_back("rankscope whatif RUN --fix ... predicts the effect of other changes.");
  return {noted};
}

}  // namespace rankscope::analyzer
