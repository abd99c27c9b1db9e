#include "split/peers.h"
#include "rankscope/core/model/run.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr double equal_work = 1.02;  // metrics.md 0: compute key counts agree within 2 %

bool is_work(SpanKind kind) {
  return kind == SpanKind::op || kind == SpanKind::compute || kind == SpanKind::forward || kind == SpanKind::backward ||
         kind == SpanKind::optimizer;
}

/// How many compute spans begin inside the counted windows of a rank.
std::int64_t work_count(const Run& run, const StepsSection& steps, RankId rank) {
  const auto process = run.process_row_of(rank);
  const std::span<const StepWindow> windows = windows_of(steps, rank);
  std::int64_t count = 0;
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process) continue;
    auto window = windows.begin();
    for (const Span& span : run.spans_of(lane)) {
      while (window != windows.end() && window->window.end <= span.time.begin) ++window;
      if (window == windows.end()) break;
      if (is_work(span.kind) && window->window.contains(span.time.begin) && steps.counted(window->index)) ++count;
    }
  }
  return count;
}

/// What tells ranks of the same work from others.
enum class Slots : std::uint8_t {
  all,
  but_tensor,  ///< ranks that share layers count as equal
};

/// Place of a rank in the parallel layout, as the program states it; empty if it does not.
std::string stated_place(const Run& run, RankId rank, Slots slots) {
  static constexpr std::array keys{"stage", "pp_rank", "cp_rank", "ep_rank", "tp_rank"};
  const std::size_t count = slots == Slots::all ? keys.size() : keys.size() - 1;
  std::string place;
  for (const char* key : std::span{keys}.first(count)) {
    const std::string_view value = run.metadata(run.process_of(rank), key);
    if (value.empty()) continue;
    if (!place.empty()) place += ", ";
    place += std::string{key} + " " + std::string{value};
  }
  return place;
}

std::vector<PeerClass> by_stated_place(const Run& run, std::span<const RankRow* const> rows, Slots slots) {
  std::map<std::string, PeerClass> classes;
  for (const RankRow* row : rows) {
    PeerClass& peers = classes[stated_place(run, row->rank, slots)];
    peers.rows.push_back(row);
  }
  std::vector<PeerClass> list;
  for (auto& [place, peers] : classes) {
    peers.name = place.empty() ? "tp, pp, cp and ep rank not recorded" : place;
    list.push_back(std::move(peers));
  }
  return list;
}

std::vector<PeerClass> by_work(const Run& run, const StepsSection& steps, std::span<const RankRow* const> rows) {
  std::vector<std::pair<std::int64_t, const RankRow*>> work;
  for (const RankRow* row : rows) work.emplace_back(work_count(run, steps, row->rank), row);
  std::ranges::stable_sort(work, {}, &std::pair<std::int64_t, const RankRow*>::first);
  std::vector<PeerClass> classes;
  std::int64_t least = 0;
  for (const auto& [count, row] : work) {
    if (classes.empty() || static_cast<double>(count) > equal_work * static_cast<double>(least)) {
      classes.emplace_back();
      classes.back().name = "ranks with " + std::to_string(count) + " operations";
      least = count;
    }
    classes.back().rows.push_back(row);
  }
  return classes;
}

}  // namespace

std::vector<PeerClass> peer_classes(const Run& run, const StepsSection& steps, std::span<const RankRow> all) {
  std::vector<const RankRow*> rows;
  for (const RankRow& row : all) {
    if (!row.per_step.empty()) rows.push_back(&row);
  }
  if (rows.empty()) return {};
  const bool stated =
      std::ranges::any_of(rows, [&](const RankRow* row) { return !stated_place(run, row->rank, Slots::all).empty(); });
  std::vector<PeerClass> classes = stated ? by_stated_place(run, rows, Slots::all) : by_work(run, steps, rows);
  const auto is_alone = [](const PeerClass& peers) { return peers.size() < 2; };
  // Without copies of the model the only equal work is that of ranks that split the same layers evenly.
  if (stated && std::ranges::all_of(classes, is_alone)) classes = by_stated_place(run, rows, Slots::but_tensor);
  const bool lonely = std::ranges::any_of(classes, is_alone);
  if (classes.size() == 1) {
    classes.front().name = "all ranks";
    classes.front().is_only = true;
  } else if (!stated && lonely) {
    PeerClass everybody;
    everybody.name = "all ranks";
    everybody.is_only = true;
    everybody.caveat =
        "it is not known which ranks do equal work, and the ranks do not run the same number of operations";
    everybody.rows = std::move(rows);
    return {everybody};
  }
  for (PeerClass& peers : classes) std::ranges::sort(peers.rows, {}, &RankRow::rank);
  return classes;
}

OwnTimes own_times(const PeerClass& peers) {
  OwnTimes times(peers.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (const TimeSplit& split : peers.rows[i]->per_step) times[i].push_back(split.own_ns());
  }
  return times;
}

std::vector<std::int64_t> without(std::span<const std::int64_t> values, std::size_t left_out) {
  std::vector<std::int64_t> others(values.begin(), values.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
  return others;
}

const PeerClass* class_of(std::span<const PeerClass> classes, RankId rank) {
  const auto found = std::ranges::find_if(classes, [rank](const PeerClass& peers) {
    return std::ranges::find(peers.rows, rank, &RankRow::rank) != peers.rows.end();
  });
  return found == classes.end() ? nullptr : &*found;
}

}  // namespace rankscope::analyzer
