#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"
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
  bool inside_host = false;
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
      sum.inside_host = to.is_set() && run_.process_of(to).host == run_.process_of(ends.rank).host;
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

/// What a step takes, and how much of it a faster network could save, both as means over all ranks with steps.
struct MeanStep {
  double ns = 0;  ///< 0: no steps
  std::optional<double> most_saved_ns{};
};
MeanStep mean_step(const Section<std::vector<RankRow>>& rows) {
  MeanStep mean;
  if (!rows) return mean;
  double steps = 0;
  double most_saved_ns = 0;
  bool known = true;
  for (const RankRow* const row : rows_to_sum(*rows)) {
    if (row->per_step.empty()) continue;
    steps += static_cast<double>(row->per_step.size());
    mean.ns += static_cast<double>(row->total.window_ns);
    most_saved_ns += static_cast<double>(row->total.exposed_comm_ns - row->total.exposed_wait_ns);
    known = known && row->why_no_comm.empty();
  }
  if (steps <= 0) return {};
  mean.ns /= steps;
  if (known) mean.most_saved_ns = most_saved_ns / steps;
  return mean;
}

/// Those between two recorded ranks that carry a part of the traffic worth the name, the busiest first.
std::vector<const LinkSum*> comparable(std::span<const LinkSum> sums) {
  std::vector<const LinkSum*> links;
  for (const LinkSum& sum : sums)
    if (sum.link.to.is_set() && sum.link.to != sum.link.from) links.push_back(&sum);
  std::ranges::stable_sort(links, std::greater{}, [](const LinkSum* link) { return link->link.sent_bytes; });
  if (links.empty()) return links;
  const double least = least_traffic * static_cast<double>(links.front()->link.sent_bytes);
  std::erase_if(links, [least](const LinkSum* link) { return static_cast<double>(link->link.sent_bytes) < least; });
  return links;
}

/// The shares of links of one kind that carry at least half as much as the one that is judged: each of these is judged
/// in turn, the busiest first, so that the list only grows.
class Measure {
 public:
  explicit Measure(std::span<const LinkSum* const> links) : links_(links) {}

  /// Of the other links; nothing if there is none.
  [[nodiscard]] std::optional<double> usual_for(const LinkSum& own) {
    for (; next_ < links_.size() && 2 * links_[next_]->link.sent_bytes >= own.link.sent_bytes; ++next_) {
      const double share = links_[next_]->link.backlog_share;
      shares_.insert(std::ranges::upper_bound(shares_, share), share);
    }
    if (shares_.size() < 2) return std::nullopt;
    return median_without(own.link.backlog_share);
  }
  [[nodiscard]] std::size_t others() const { return shares_.size() - 1; }

 private:
  [[nodiscard]] double median_without(double own) const {
    const auto place = static_cast<std::size_t>(std::ranges::lower_bound(shares_, own) - shares_.begin());
    const auto at = [&](std::size_t i) { return shares_[i < place ? i : i + 1]; };
    const std::size_t count = others();
    return median(std::vector{at((count - 1) / 2), at(count / 2)});
  }

  std::span<const LinkSum* const> links_;
  std::size_t next_ = 0;
  std::vector<double> shares_{};  ///< ascending
};

/// Nothing if it is not slow. Without collectives or steps it is not known what it costs.
std::optional<SlowTcpLink> judge(const LinkSum& sum, double usual, const MeanStep& step) {
  const TcpLink& link = sum.link;
  const double excess = link.backlog_share - usual;
  if (excess < least_share || link.backlog_share < least_ratio_to_usual * usual) return std::nullopt;
  SlowTcpLink slow{
      .from = link.from, .to = link.to, .backlog_share = link.backlog_share, .usual_share = usual, .gbps = link.gbps};
  if (!step.most_saved_ns) return slow;
  const double cost = std::min(excess * step.ns, *step.most_saved_ns);
  if (cost < least_share * step.ns) return std::nullopt;
  slow.cost_ns = std::llround(cost);
  return slow;
}

enum class Which : std::uint8_t { sender, receiver };

/// Where each of several links of a sender, or of a receiver, is slow, it is that rank: named once, with its worst
/// link.
void name_rank(Which which, std::span<const LinkSum* const> links, std::vector<SlowTcpLink>& slow) {
  const auto rank_of = [which](const auto& link) { return which == Which::sender ? link.from : link.to; };
  std::map<RankId, std::int64_t> not_slow;
  std::map<RankId, std::int64_t> slow_ones;
  for (const LinkSum* const link : links) ++not_slow[rank_of(link->link)];
  for (const SlowTcpLink& link : slow) {
    --not_slow[rank_of(link)];
    ++slow_ones[rank_of(link)];
  }
  std::vector<SlowTcpLink> kept;
  std::set<RankId> named;
  for (SlowTcpLink& link : slow) {
    const RankId rank = rank_of(link);
    const bool is_all = rank.is_set() && not_slow[rank] == 0 && slow_ones[rank] > 1;
    if (is_all && !named.insert(rank).second) continue;
    if (is_all) (which == Which::sender ? link.to : link.from) = {};
    kept.push_back(link);
  }
  slow = std::move(kept);
}

/// What costs most first; without costs the longest waiting.
void sort_worst_first(std::vector<SlowTcpLink>& slow) {
  std::ranges::stable_sort(slow, std::greater{}, [](const SlowTcpLink& link) {
    return std::pair{link.cost_ns.value_or(0), link.backlog_share};
  });
}

/// Links inside a host and between hosts are not alike, nor are those that carry much and little.
std::vector<SlowTcpLink> slow_links(std::span<const LinkSum* const> links, const MeanStep& step) {
  std::vector<SlowTcpLink> all;
  for (const bool inside_host : {false, true}) {
    std::vector<const LinkSum*> alike;
    std::ranges::copy_if(links, std::back_inserter(alike),
                         [&](const LinkSum* link) { return link->inside_host == inside_host; });
    Measure measure{alike};
    std::vector<SlowTcpLink> slow;
    for (const LinkSum* const sum : alike) {
      if (sum->backlog_seconds < least_backlog_s || sum->link.backlog_share < least_share) continue;
      const std::optional<double> usual = measure.usual_for(*sum);
      std::optional<SlowTcpLink> found = usual ? judge(*sum, *usual, step) : std::nullopt;
      if (!found) continue;
      found->compared = measure.others();
      slow.push_back(*found);
    }
    sort_worst_first(slow);
    name_rank(Which::sender, alike, slow);
    name_rank(Which::receiver, alike, slow);
    all.insert(all.end(), slow.begin(), slow.end());
  }
  sort_worst_first(all);
  return all;
}

}  // namespace

Section<TcpLinksSection> find_tcp_links(const Run& run, const Section<StepsSection>& steps,
                                        const Section<std::vector<RankRow>>& rows, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const Links found{run, steps};
  if (found.empty()) return unavailable(std::string{no_tcp_traffic}, Missed::no);
  if (!rows) return unavailable(rows.error().why);
  const std::vector<LinkSum> sums = found.sums();
  TcpLinksSection section;
  section.unwatched = found.unwatched();
  for (const LinkSum& sum : sums) section.links.push_back(sum.link);
  const auto links = comparable(sums);
  section.slow = slow_links(links, mean_step(rows));
  return section;
}

}  // namespace rankscope::analyzer
