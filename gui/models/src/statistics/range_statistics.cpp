#include "rankscope/gui/models/statistics/range_statistics.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"
#include "statistics/nesting.h"

namespace rankscope::gui {
namespace {

/// Sums by name and kind, over lanes one behind the other.
class NameSums {
 public:
  NameSums(const Run& run, TimeRange range) : run_(run), range_(range), nesting_(range) {}

  void begin_lane() { nesting_.begin_lane(); }

  void add(const Span& span) {
    const std::int64_t inside = intersect(span.time, range_).length().count();
    const std::uint32_t row = row_of(span);
    NameTimes& times = rows_[row];
    ++times.count;
    times.self_ns += inside;
    times.longest_ns = std::max(times.longest_ns, inside);
    // Whatever encloses the span touches the range, too, and was met before it.
    if (const auto around = nesting_.meet(span.time)) rows_[around->owner].self_ns -= around->taken_ns;
    if (!nesting_.is_inside(row)) times.total_ns += inside;
    nesting_.open(span.time, row);
  }

  [[nodiscard]] std::vector<NameTimes> rows() && {
    std::ranges::stable_sort(rows_, std::greater{}, &NameTimes::self_ns);
    return std::move(rows_);
  }

 private:
  std::uint32_t row_of(const Span& span) {
    auto& rows = row_of_name_[static_cast<std::size_t>(span.kind)];
    if (rows.empty()) rows.assign(run_.strings().size(), none);
    std::uint32_t& row = rows[span.name.index()];
    if (row == none) {
      row = static_cast<std::uint32_t>(rows_.size());
      rows_.push_back({span.name, span.kind});
    }
    return row;
  }

  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const Run& run_;
  TimeRange range_;
  Nesting nesting_;
  std::vector<NameTimes> rows_;
  std::array<std::vector<std::uint32_t>, span_kind_count> row_of_name_;
};

bool is_wanted(const Run& run, const Lane& lane, const RangeQuestion& question) {
  if (!question.lanes.empty()) return std::ranges::binary_search(question.lanes, run.id_of(lane));
  return question.ranks.empty() || std::ranges::binary_search(question.ranks, lane.rank);
}

}  // namespace

std::span<const RankId> RangeQuestion::ranks_of(const Run& run) const {
  return ranks.empty() && lanes.empty() ? run.ranks() : std::span<const RankId>{ranks};
}

std::optional<RangeAnswer> answer(const RangeSource& source, const RangeQuestion& question,
                                  const std::stop_token& stop) {
  const Run& run = *source.run;
  RangeAnswer result{question, {}, {}};
  if (source.look != nullptr) {
    for (const RankId rank : question.ranks_of(run)) {
      if (stop.stop_requested()) return std::nullopt;
      result.ranks.push_back({rank, source.look->split(rank, question.range)});
    }
  }
  NameSums sums{run, question.range};
  for (const Lane& lane : run.lanes()) {
    if (stop.stop_requested()) return std::nullopt;
    if (!is_wanted(run, lane, question)) continue;
    sums.begin_lane();
    source.blocks->over(run, lane, question.range, [&](const Span& span) {
      sums.add(span);
      return true;
    });
  }
  result.names = std::move(sums).rows();
  return result;
}

}  // namespace rankscope::gui
