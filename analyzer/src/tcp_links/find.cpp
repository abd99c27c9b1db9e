#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "math/statistics.h"
#include "rankscope/core/model/tcp_counters.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"
#include "steps/sample_windows.h"
#include "tcp_links/parts.h"

namespace rankscope::analyzer {
namespace {

// metrics.md 6.10
constexpr double least_share = 0.02;
constexpr double least_ratio_to_usual = 3;  // to the usual share
constexpr double least_backlog_s = 0.2;     // 20 looks
constexpr double least_traffic = 0.01;      // of that of the busiest link

/// What one connection did in the counted windows of its rank.
struct Connection {
  double sent_bytes = 0;
  double backlog_seconds = 0;
  double backlog_bytes = 0;
};
/// Addresses of the host itself are the same on every host.
struct End {
  StringId host{};
  std::string_view address;
  auto operator<=>(const End&) const = default;
};
struct Ends {
  RankId rank{};
  End local;
  End remote;
  auto operator<=>(const Ends&) const = default;
};

bool is_of_host_alone(std::string_view address) { return address.starts_with("127.") || address.starts_with("[::1]"); }

End end_at(const Run& run, const CounterTrack& track, std::string_view address) {
  return {is_of_host_alone(address) ? run.processes()[track.process].host : StringId{}, address};
}

/// Links by their ends, while their connections are added up.
using LinkKey = std::tuple<RankId, RankId, std::string_view>;
struct LinkSum {
  TcpLink link;
  double seconds = 0;  ///< of the windows of the sender
  double backlog_seconds = 0;
  double waiting_seconds = 0;  ///< of all connections together
  double waiting_bytes = 0;
};

class Links {
 public:
  Links(const Run& run, const Section<StepsSection>& steps) : run_(run), steps_(steps) {
    for (const CounterTrack& track : run.counters()) {
      if (!track.rank.is_set()) continue;
      const std::string_view name = run.text(track.name);
      if (name == tcp_unwatched_name) note_unwatched(track);
      if (const auto counter = tcp_counter_from(name)) add(track, *counter);
    }
  }

  [[nodiscard]] bool empty() const { return connections_.empty(); }
  [[nodiscard]] std::int64_t unwatched() const { return unwatched_; }

  [[nodiscard]] std::vector<LinkSum> sums() const {
    std::map<End, RankId> owners;
    for (const auto& [ends, connection] : connections_) owners.emplace(ends.local, ends.rank);
    std::map<LinkKey, LinkSum> sums;
    for (const auto& [ends, connection] : connections_) {
      const auto owner = owners.find(ends.remote);
      const RankId to = owner == owners.end() ? RankId{} : owner->second;
      const std::string_view remote = to.is_set() ? std::string_view{} : ends.remote.address;
      LinkSum& sum = sums[{ends.rank, to, remote}];
      sum.link.from = ends.rank;
      sum.link.to = to;
      sum.link.remote = remote;
      sum.seconds = seconds_of(ends.rank);
      add(connection, sum);
    }
    std::vector<LinkSum> all;
    for (auto& [key, sum] : sums) all.push_back(std::move(sum));
    return all;
  }

 private:
  void note_unwatched(const CounterTrack& track) {
    for (const CounterSample& sample : run_.samples_of(track))
      if (std::isfinite(sample.value) && sample.value > 0 && sample.value < 1e9)
        unwatched_ = std::max<std::int64_t>(unwatched_, std::llround(sample.value));
  }

  const CountedWindows& windows_of_rank(RankId rank) {
    const auto known = windows_.find(rank);
    return known != windows_.end() ? known->second
                                   : windows_.emplace(rank, counted_windows(run_, rank, steps_)).first->second;
  }

  [[nodiscard]] double seconds_of(RankId rank) const {
    double seconds = 0;
    for (const TimeRange& range : windows_.at(rank).ranges)
      seconds += static_cast<double>(range.length().count()) * 1e-9;
    return seconds;
  }

  void add(const CounterTrack& track, const TcpCounter& counter) {
    const Ends ends{track.rank, end_at(run_, track, counter.local), end_at(run_, track, counter.remote)};
    const double grown = growth_inside(run_.samples_of(track), windows_of_rank(track.rank).ranges).amount;
    Connection& connection = connections_[ends];
    switch (counter.total) {
      case TcpTotal::sent_bytes:
        connection.sent_bytes += grown;
        return;
      case TcpTotal::backlog_seconds:
        connection.backlog_seconds += grown;
        return;
      case TcpTotal::backlog_bytes:
        connection.backlog_bytes += grown;
        return;
    }
  }

  static void add(const Connection& connection, LinkSum& sum) {
    ++sum.link.connections;
    sum.link.sent_bytes += std::llround(connection.sent_bytes);
    sum.backlog_seconds = std::max(sum.backlog_seconds, connection.backlog_seconds);
    sum.waiting_seconds += connection.backlog_seconds;
    sum.waiting_bytes += connection.backlog_bytes;
    sum.link.backlog_share = sum.seconds > 0 ? std::min(sum.backlog_seconds / sum.seconds, 1.0) : 0;
    if (sum.waiting_seconds > 0) sum.link.gbps = sum.waiting_bytes / sum.waiting_seconds * 1e-9;
  }

  const Run& run_;
  const Section<StepsSection>& steps_;
  std::map<RankId, CountedWindows> windows_{};
  std::map<Ends, Connection> connections_{};
  std::int64_t unwatched_ = 0;
};

/// Mean length and mean exposed transfer of a step, over all ranks with steps; nothing without steps.
struct MeanStep {
  double ns = 0;
  double exposed_transfer_ns = 0;
};
MeanStep mean_step(const Section<std::vector<RankRow>>& rows) {
  MeanStep mean;
  if (!rows) return mean;
  double steps = 0;
  for (const RankRow* const row : rows_to_sum(*rows)) {
    if (row->per_step.empty()) continue;
    steps += static_cast<double>(row->per_step.size());
    mean.ns += static_cast<double>(row->total.window_ns);
    mean.exposed_transfer_ns += static_cast<double>(row->total.exposed_transfer_ns);
  }
  if (steps <= 0) return {};
  return {mean.ns / steps, mean.exposed_transfer_ns / steps};
}

double median_of_others(std::span<const LinkSum* const> links, const LinkSum& own) {
  std::vector<double> shares;
  for (const LinkSum* const link : links)
    if (link != &own) shares.push_back(link->link.backlog_share);
  return median(std::move(shares));
}

/// Those between recorded ranks that carry a part of the traffic worth the name.
std::vector<const LinkSum*> comparable(std::span<const LinkSum> sums) {
  std::int64_t busiest = 0;
  for (const LinkSum& sum : sums)
    if (sum.link.to.is_set()) busiest = std::max(busiest, sum.link.sent_bytes);
  std::vector<const LinkSum*> links;
  for (const LinkSum& sum : sums)
    if (sum.link.to.is_set() &&
        static_cast<double>(sum.link.sent_bytes) >= least_traffic * static_cast<double>(busiest))
      links.push_back(&sum);
  return links;
}

std::vector<SlowTcpLink> slow_links(std::span<const LinkSum* const> links, const MeanStep& step) {
  std::vector<SlowTcpLink> slow;
  if (links.size() < 2) return slow;
  for (const LinkSum* const sum : links) {
    const TcpLink& link = sum->link;
    const double usual = median_of_others(links, *sum);
    const bool stands_out =
        link.backlog_share - usual >= least_share && link.backlog_share >= least_ratio_to_usual * usual;
    if (!stands_out || sum->backlog_seconds < least_backlog_s) continue;
    const double cost = std::min((link.backlog_share - usual) * step.ns, step.exposed_transfer_ns);
    if (step.ns <= 0 || cost < least_share * step.ns) continue;
    slow.push_back({link.from, link.to, link.backlog_share, usual, links.size() - 1, link.gbps, std::llround(cost)});
  }
  std::ranges::stable_sort(slow, std::greater{}, &SlowTcpLink::cost_ns);
  return slow;
}

/// Where each of several links of a sender is slow, it is the sender.
void name_senders(std::span<const LinkSum* const> links, std::vector<SlowTcpLink>& slow) {
  std::map<RankId, std::ptrdiff_t> all;
  for (const LinkSum* const link : links) ++all[link->link.from];
  for (const auto& [from, count] : all) {
    const auto is_of = [rank = from](const SlowTcpLink& link) { return link.from == rank; };
    if (count < 2 || std::ranges::count_if(slow, is_of) < count) continue;
    const auto first = std::ranges::find_if(slow, is_of);
    first->to = {};
    slow.erase(std::remove_if(std::next(first), slow.end(), is_of), slow.end());
  }
}

}  // namespace

Section<TcpLinksSection> find_tcp_links(const Run& run, const Section<StepsSection>& steps,
                                        const Section<std::vector<RankRow>>& rows, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  if (!rows) return unavailable(rows.error().why);
  const Links found{run, steps};
  if (found.empty()) return unavailable(std::string{no_tcp_traffic});
  const std::vector<LinkSum> sums = found.sums();
  TcpLinksSection section;
  section.unwatched = found.unwatched();
  for (const LinkSum& sum : sums) section.links.push_back(sum.link);
  const auto links = comparable(sums);
  section.slow = slow_links(links, mean_step(rows));
  name_senders(links, section.slow);
  return section;
}

}  // namespace rankscope::analyzer
