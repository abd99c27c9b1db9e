#include <nlohmann/json.hpp>

#include "render/json_number.h"
#include "tcp_links/parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_links = 4'096;

Json link_json(const TcpLink& link) {
  Json out{{"from", link.from.value}};
  if (link.to.is_set())
    out["to"] = link.to.value;
  else
    out["remote"] = link.remote;
  out["connections"] = link.connections;
  out["sent_bytes"] = link.sent_bytes;
  out["backlog_share"] = rounded(link.backlog_share, 6);
  put(out, "gbps", rounded(link.gbps, 6), "no data waited");
  return out;
}

Json slow_json(const SlowTcpLink& slow) {
  Json out;
  if (slow.from.is_set()) out["from"] = slow.from.value;
  if (slow.to.is_set()) out["to"] = slow.to.value;
  out["backlog_share"] = rounded(slow.backlog_share, 6);
  out["usual_share"] = rounded(slow.usual_share, 6);
  out["compared_with"] = slow.compared;
  put(out, "cost_ns_per_step", slow.cost_ns, cost_is_unknown);
  return out;
}

}  // namespace

Json tcp_links_json(const TcpLinksSection& section) {
  Json out;
  out["links"] = Json::array();
  const std::size_t shown = std::min(section.links.size(), most_links);
  for (std::size_t i = 0; i < shown; ++i) out["links"].push_back(link_json(section.links[i]));
  if (shown < section.links.size()) out["links_left_out"] = section.links.size() - shown;
  out["slow"] = Json::array();
  for (const SlowTcpLink& slow : section.slow) out["slow"].push_back(slow_json(slow));
  out["connections_unwatched"] = section.unwatched;
  return out;
}

}  // namespace rankscope::analyzer
