#include "replay/peers.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::replay {
namespace {

/// What may be compared (metrics.md 0, "op key"); 0 where a part does not apply.
struct Key {
  std::uint32_t peer_class = 0;
  std::uint32_t name = 0;
  std::uint64_t shape = 0;  // grid and block of a kernel; bytes of a transfer
  std::uint32_t group_size = 0;
  Work work = Work::host;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.shape * 0x9E3779B97F4A7C15ULL;
    hash ^= (std::uint64_t{key.name} << 32U | key.peer_class) * 0xC2B2AE3D27D4EB4FULL;
    hash ^= (std::uint64_t{key.group_size} << 8U | static_cast<std::uint64_t>(key.work)) * 0x165667B19E3779F9ULL;
    return static_cast<std::size_t>(hash ^ hash >> 29U);
  }
};

class Keys {
 public:
  Keys(const Graph& graph, std::span<const std::uint32_t> classes)
      : run_(*graph.run),
        classes_(classes),
        grid_(run_.strings().find(keys::grid)),
        block_(run_.strings().find(keys::block)) {}

  std::uint32_t operator()(const Item& item) {
    const auto [found, is_new] = rows_.try_emplace(key_of(item), static_cast<std::uint32_t>(rows_.size()));
    return found->second;
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  [[nodiscard]] Key key_of(const Item& item) const {
    Key key;
    key.peer_class = classes_[item.rank];
    key.work = item.work;
    if (!item.span.is_set()) return key;
    const Span& span = run_.span(item.span);
    key.name = span.name.value + 1;
    if (span.collective != Span::no_collective) {
      const Collective& collective = run_.collectives()[span.collective];
      key.name = collective.op.value + 1;
      key.shape = static_cast<std::uint64_t>(collective.bytes) + 1;
      if (collective.group.is_set())
        key.group_size = static_cast<std::uint32_t>(run_.groups()[collective.group.index()].members.size());
    } else if (span.kind == SpanKind::compute) {
      key.shape = shape_of(item.span);
    }
    return key;
  }

  [[nodiscard]] std::uint64_t shape_of(SpanId span) const {
    if (!grid_.is_set()) return 0;
    std::uint64_t shape = 0;
    for (const Attribute& attribute : run_.attributes_of(span)) {
      const std::uint64_t text = attribute.value.text.value + 1ULL;
      if (attribute.key == grid_) shape ^= text << 32U;
      if (attribute.key == block_) shape ^= text;
    }
    return shape;
  }

  const Run& run_;
  std::span<const std::uint32_t> classes_;
  StringId grid_;
  StringId block_;
  std::unordered_map<Key, std::uint32_t, KeyHash> rows_;
};

/// Counts how often a key was met in a step of a rank, over all of its lanes. Items come rank by rank.
class Occurrences {
 public:
  std::uint32_t next(std::uint32_t key, const Item& item) {
    if (item.rank != rank_) counts_.clear();
    rank_ = item.rank;
    return counts_[std::uint64_t{key} << 32U | item.step]++;
  }

 private:
  std::uint32_t rank_ = no_row;
  std::unordered_map<std::uint64_t, std::uint32_t> counts_;  // by (key, step), of this rank
};

std::int64_t mean_of(const Graph& graph, std::span<const std::uint32_t> items) {
  double sum = 0;
  for (const std::uint32_t item : items) sum += static_cast<double>(graph.items[item].ns);
  return static_cast<std::int64_t>(sum / static_cast<double>(items.size()));
}

std::int64_t median_of(const Graph& graph, std::span<const std::uint32_t> items) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(items.size());
  for (const std::uint32_t item : items) lengths.push_back(graph.items[item].ns);
  return median(lengths);
}

}  // namespace

std::vector<std::uint32_t> classes_of(const Run& run, const Graph& graph, const Section<StepsSection>& steps,
                                      const Section<std::vector<RankRow>>& rows) {
  std::vector<std::uint32_t> classes(graph.ranks.size(), 0);
  if (!steps || !rows) return classes;
  std::uint32_t number = 0;
  for (const PeerClass& peers : peer_classes(run, *steps, *rows)) {
    for (const RankRow* row : peers.rows) {
      const auto found = std::ranges::lower_bound(graph.ranks, row->rank);
      if (found != graph.ranks.end() && *found == row->rank)
        classes[static_cast<std::size_t>(found - graph.ranks.begin())] = number;
    }
    ++number;
  }
  return classes;
}

ItemPeers::ItemPeers(const Graph& graph, std::span<const std::uint32_t> classes)
    : classes_(classes.begin(), classes.end()) {
  Keys keys{graph, classes};
  Occurrences occurrences;
  std::vector<std::uint32_t> key(graph.items.size());
  std::vector<std::uint32_t> occurrence(graph.items.size());
  std::vector<std::uint32_t> most;  // occurrences of each key
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = keys(graph.items[i]);
    occurrence[i] = occurrences.next(key[i], graph.items[i]);
    if (key[i] >= most.size()) most.resize(key[i] + 1, 0);
    most[key[i]] = std::max(most[key[i]], occurrence[i] + 1);
  }
  std::vector<std::uint32_t> base(most.size() + 1, 0);
  std::inclusive_scan(most.begin(), most.end(), base.begin() + 1);
  set_of_.resize(key.size());
  first_.assign(base.back() + 1, 0);
  for (std::size_t i = 0; i < key.size(); ++i) {
    set_of_[i] = base[key[i]] + occurrence[i];
    ++first_[set_of_[i] + 1];
  }
  std::inclusive_scan(first_.begin(), first_.end(), first_.begin());
  members_.resize(key.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < key.size(); ++i) members_[next[set_of_[i]]++] = i;
}

std::vector<std::int64_t> ideal_lengths(const Graph& graph, const ItemPeers& peers) {
  std::vector<std::int64_t> lengths(graph.items.size());
  for (std::size_t set = 0; set < peers.size(); ++set) {
    const auto members = peers.set(set);
    if (members.empty()) continue;
    const Work work = graph.items[members.front()].work;
    const bool typical = work == Work::transfer || work == Work::delay;
    // With means a step takes at most the mean of the steps. A median above the mean would make it longer.
    const std::int64_t mean = mean_of(graph, members);
    const std::int64_t ideal = typical ? std::min(median_of(graph, members), mean) : mean;
    for (const std::uint32_t item : members) lengths[item] = ideal;
  }
  return lengths;
}

}  // namespace rankscope::analyzer::replay
