#include "kernels/merge.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/kernel_names.h"
#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

KernelTimes times_of(KernelTally& tally) {
  KernelTimes times;
  times.exclusive_ns = tally.exclusive_ns;
  auto& sorted = tally.durations;
  if (sorted.empty()) return times;
  std::ranges::sort(sorted);
  times.count = static_cast<std::int64_t>(sorted.size());
  for (const std::int64_t duration : sorted) times.sum_ns += duration;
  times.min_ns = sorted.front();
  times.max_ns = sorted.back();
  times.median_ns = sorted_median(sorted);
  times.p90_ns = sorted_quantile(sorted, 0.9);
  return times;
}

bool longer(const KernelTimes& a, const KernelTimes& b) {
  return std::tie(a.exclusive_ns, a.sum_ns) > std::tie(b.exclusive_ns, b.sum_ns);
}

/// The rows of all keys, the longest first, and where each key went.
struct Ordered {
  std::vector<KernelRow> rows;
  std::vector<std::size_t> row_of_key;
};

Ordered ordered(KernelTable& table) {
  std::vector<std::pair<KernelRow, std::size_t>> rows;
  for (std::size_t i = 0; i < table.keys().size(); ++i) {
    const KernelText& key = table.keys()[i];
    const bool computes = key.kind == ActivityClass::compute;
    rows.push_back({{key.name, short_kernel_name(key.name), key.grid.value_or(""), key.block.value_or(""), key.kind,
                     computes ? tensor_cores_of(key.name) : TensorCores::unknown, times_of(table.tally(i))},
                    i});
  }
  std::ranges::sort(rows, [](const auto& one, const auto& other) {
    const KernelRow& a = one.first;
    const KernelRow& b = other.first;
    if (longer(a.times, b.times) || longer(b.times, a.times)) return longer(a.times, b.times);
    return std::tie(a.name, a.grid, a.block, a.kind) < std::tie(b.name, b.grid, b.block, b.kind);
  });
  Ordered result;
  result.row_of_key.resize(rows.size());
  for (auto& [row, key] : rows) {
    result.row_of_key[key] = result.rows.size();
    result.rows.push_back(std::move(row));
  }
  return result;
}

/// What ran together in the windows, each of which is whole cells.
std::array<std::int64_t, together_count> together_of(const CountedRank& rank, const KernelsPart& part) {
  std::array<std::int64_t, together_count> sums{};
  const std::vector<std::int64_t> windows = windows_of_cells(rank);
  for (std::size_t cell = 1; cell <= rank.cells.bounded(); ++cell)
    for (std::size_t bits = 0; bits < together_count; ++bits)
      sums[bits] += windows[cell] * part.together[cell - 1][bits];
  return sums;
}

std::optional<std::string> text_at(const KernelsPart& part, std::uint32_t row) {
  return row == no_text ? std::nullopt : std::optional{part.texts[row]};
}

/// What is counted of an entry.
struct Share {
  bool begun = false;
  bool time = false;

  Share(const KernelsPart::Entry& entry, const CountedCells& counted)
      : begun(entry.begun > 0 && counted.begins[entry.cell]),
        time(entry.exclusive_ns > 0 && counted.time[entry.cell]) {}
  [[nodiscard]] bool any() const { return begun || time; }
};

constexpr std::uint32_t never = 0xFFFFFFFF;

/// The keys of a part of which anything is counted, in the order in which they first ran.
std::vector<std::uint32_t> counted_keys(const KernelsPart& part, const CountedCells& counted) {
  std::vector<std::uint32_t> first(part.keys.size(), never);
  for (const KernelsPart::Entry& entry : part.entries)
    if (Share{entry, counted}.any()) first[entry.key] = std::min(first[entry.key], entry.first);
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 0; key < first.size(); ++key)
    if (first[key] != never) keys.push_back(key);
  std::ranges::sort(keys, {}, [&](std::uint32_t key) { return std::pair{first[key], key}; });
  return keys;
}

/// Numbers of a key of a part in the tables of all ranks.
struct KeyPlaces {
  std::size_t name = 0;
  std::size_t key = 0;
};

std::vector<KeyPlaces> number_keys(const KernelsPart& part, const CountedCells& counted, KernelTable& names,
                                   KernelTable& keys) {
  std::vector<KeyPlaces> places(part.keys.size());
  for (const std::uint32_t row : counted_keys(part, counted)) {
    const KernelsPart::Key& key = part.keys[row];
    const std::string& name = part.texts[key.name];
    places[row].name = names.number_of({name, std::nullopt, std::nullopt, key.kind});
    places[row].key = keys.number_of({name, text_at(part, key.grid), text_at(part, key.block), key.kind});
  }
  return places;
}

}  // namespace

void KernelTally::add(const KernelTally& other) {
  exclusive_ns += other.exclusive_ns;
  durations.insert(durations.end(), other.durations.begin(), other.durations.end());
}

std::size_t KernelTable::number_of(KernelText key) {
  const auto [found, added] = numbers_.try_emplace(std::move(key), keys_.size());
  if (added) {
    keys_.push_back(found->first);
    tallies_.emplace_back();
  }
  return found->second;
}

void KernelMerge::add(const CountedRank& rank, const KernelsPart& part) {
  any_ = any_ || !part.entries.empty();
  const CountedCells counted = counted_cells(rank);
  const std::vector<KeyPlaces> places = number_keys(part, counted, names_, keys_);
  std::map<std::size_t, KernelTally> of_rank;  // by number of the name
  RankKernels row;
  std::span<const std::int64_t> durations{part.durations};
  for (const KernelsPart::Entry& entry : part.entries) {
    const auto own = durations.first(entry.begun);
    durations = durations.subspan(entry.begun);
    const Share share{entry, counted};
    if (!share.any()) continue;
    KernelTally tally;
    if (share.time) tally.exclusive_ns = entry.exclusive_ns;
    if (share.begun) tally.durations.assign(own.begin(), own.end());
    of_rank[places[entry.key].name].add(tally);
    keys_.tally(places[entry.key].key).add(tally);
    row.exclusive_ns += tally.exclusive_ns;
  }
  row.rank = rank.rank;
  row.steps = rank.windows.steps;
  for (const TimeRange& window : rank.windows.ranges) row.window_ns += window.length().count();
  row.together = together_of(rank, part);
  take_names(of_rank, row);
  section_.window_ns += row.window_ns;
  section_.exclusive_ns += row.exclusive_ns;
  section_.rank_steps += row.steps;
  section_.ranks.push_back(std::move(row));
}

/// Rows of one rank by number of the name, until finish() knows the rows of the section.
void KernelMerge::take_names(std::map<std::size_t, KernelTally>& of_rank, RankKernels& row) {
  for (auto& [name, tally] : of_rank) {
    if (tally.empty()) continue;
    row.names.push_back({name, times_of(tally)});
    names_.tally(name).add(tally);
  }
  std::ranges::stable_sort(row.names,
                           [](const RankKernelRow& a, const RankKernelRow& b) { return longer(a.times, b.times); });
}

Section<KernelsSection> KernelMerge::finish() && {
  if (!any_) return unavailable("nothing that ran on an accelerator was recorded");
  Ordered names = ordered(names_);
  for (RankKernels& rank : section_.ranks)
    for (RankKernelRow& row : rank.names) row.name = names.row_of_key[row.name];
  section_.names = std::move(names.rows);
  section_.keys = ordered(keys_).rows;
  for (const KernelRow& row : section_.names)
    if (row.kind == ActivityClass::compute)
      section_.tensor_cores_ns[static_cast<std::size_t>(row.tensor_cores)] += row.times.exclusive_ns;
  return std::move(section_);
}

}  // namespace rankscope::analyzer
