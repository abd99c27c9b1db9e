#include <algorithm>
#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "tcp_links/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {

std::vector<NotedTable> tcp_link_tables(const Report& report, std::size_t most) {
  if (!report.tcp_links) return {};
  const TcpLinksSection& section = *report.tcp_links;
  std::vector<const TcpLink*> links;
  const auto busiest = std::ranges::max_element(section.links, {}, &TcpLink::sent_bytes);
  for (const TcpLink& link : section.links)
    if (link.sent_bytes >= busiest->sent_bytes / 100) links.push_back(&link);
  std::ranges::stable_sort(links, [](const TcpLink* a, const TcpLink* b) {
    return std::pair{a->backlog_share, a->sent_bytes} > std::pair{b->backlog_share, b->sent_bytes};
  });
  NotedTable noted{
      "TCP connections", "over the counted steps; data waits until the network accepts it",
      Table{{{"from"}, {"to", Align::left}, {"connections"}, {"sent"}, {"data waited"}, {"speed while data waited"}},
            {}},
      left_out(links.size(), most)};
  for (const TcpLink* const link : std::span{links}.first(std::min(most, links.size())))
    noted.table.rows.push_back({{format("{}", link->from.value)},
                                {link->to.is_set() ? format("{}", link->to.value) : printable(link->remote)},
                                {format("{}", link->connections)},
                                {bytes_text(link->sent_bytes)},
                                {percent_text(link->backlog_share)},
                                {link->gbps ? speed_text(*link->gbps) : std::string{empty_cell}}});
  if (links.size() < section.links.size())
    noted.notes.emplace_back("Connections with less than 1 % of the traffic of the busiest one are not shown.");
  if (section.unwatched > 0)
    noted.notes.push_back(
        format("On each rank, up to {} at a time could not be sampled; the recorder prefers those that send the most.",
               counted(section.unwatched, "connection")));
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
