#include "span_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "rankscope/core/side_by_side.h"

namespace rankscope {
namespace {

constexpr unsigned digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr std::size_t worth_a_radix_sort = 4 * digits;
constexpr std::size_t worth_a_thread = 1 << 16;

struct Key {
  std::uint64_t begin;  ///< from the first of the lane
  std::uint32_t row;
};

using Rows = std::span<std::uint32_t>;

/// Sorts the spans of one lane.
class LaneSorter {
 public:
  explicit LaneSorter(std::span<const Span> spans) : spans_(spans) {}

  void sort(Rows rows) {
    const auto before = [this](std::uint32_t a, std::uint32_t b) { return is_before(a, b); };
    const auto sorted_end = std::ranges::is_sorted_until(rows, before);
    if (sorted_end == rows.end()) return;
    // Mostly in order, and some behind it: collectives are put together when everything else has been read.
    if (rows.end() - sorted_end < sorted_end - rows.begin()) {
      sort({sorted_end, rows.end()});
      std::inplace_merge(rows.begin(), sorted_end, rows.end(), before);
      return;
    }
    if (rows.size() < worth_a_radix_sort) {
      std::ranges::stable_sort(rows, before);
      return;
    }
    sort_by_begin(rows);
    sort_equal_begins(rows);
  }

 private:
  [[nodiscard]] bool is_before(std::uint32_t a, std::uint32_t b) const {
    const TimeRange& left = spans_[a].time;
    const TimeRange& right = spans_[b].time;
    return left.begin != right.begin ? left.begin < right.begin : left.end > right.end;
  }

  /// Stable, from the lowest digit to the highest that differs.
  void sort_by_begin(Rows rows) {
    RunTime first = spans_[rows.front()].time.begin;
    RunTime last = first;
    for (const std::uint32_t row : rows) {
      first = std::min(first, spans_[row].time.begin);
      last = std::max(last, spans_[row].time.begin);
    }
    keys_.resize(rows.size());
    other_.resize(rows.size());
    // Unsigned: times of damaged files may be further apart than a signed difference can tell.
    const auto from = static_cast<std::uint64_t>(ns_of(first));
    for (std::size_t i = 0; i < rows.size(); ++i)
      keys_[i] = {static_cast<std::uint64_t>(ns_of(spans_[rows[i]].time.begin)) - from, rows[i]};
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(ns_of(last)) - from));
    for (unsigned shift = 0; shift < bits; shift += digit_bits) distribute(shift);
    std::ranges::transform(keys_, rows.begin(), &Key::row);
  }

  void distribute(unsigned shift) {
    std::array<std::size_t, digits> place{};
    const auto digit = [shift](const Key& key) { return (key.begin >> shift) & (digits - 1); };
    for (const Key& key : keys_) ++place[digit(key)];
    std::size_t next = 0;
    for (std::size_t& count : place) next += std::exchange(count, next);
    for (const Key& key : keys_) other_[place[digit(key)]++] = key;
    keys_.swap(other_);
  }

  void sort_equal_begins(Rows rows) {
    const auto begin_of = [this](std::uint32_t row) { return spans_[row].time.begin; };
    for (auto from = rows.begin(); from != rows.end();) {
      const auto to =
          std::find_if(from + 1, rows.end(), [&](std::uint32_t row) { return begin_of(row) != begin_of(*from); });
      if (to - from > 1) std::stable_sort(from, to, [this](auto a, auto b) { return is_before(a, b); });
      from = to;
    }
  }

  std::span<const Span> spans_;
  std::vector<Key> keys_;
  std::vector<Key> other_;
};

/// First row of each lane in the order, and the end of the last.
std::vector<std::size_t> group_by_lane(std::span<const Span> spans, std::size_t lane_count, Rows order) {
  std::vector<std::size_t> first(lane_count + 1, 0);
  for (const Span& span : spans) ++first[span.lane.index() + 1];
  for (std::size_t lane = 0; lane < lane_count; ++lane) first[lane + 1] += first[lane];
  std::vector<std::size_t> next = first;
  for (std::uint32_t row = 0; row < spans.size(); ++row) order[next[spans[row].lane.index()]++] = row;
  return first;
}

}  // namespace

std::vector<std::uint32_t> span_order(std::span<const Span> spans, std::size_t lane_count) {
  std::vector<std::uint32_t> order(spans.size());
  const std::vector<std::size_t> first = group_by_lane(spans, lane_count, order);
  const auto sort_lane = [&](std::size_t lane) {
    LaneSorter{spans}.sort(Rows{order}.subspan(first[lane], first[lane + 1] - first[lane]));
  };
  if (spans.size() >= worth_a_thread)
    side_by_side(lane_count, sort_lane);
  else
    for (std::size_t lane = 0; lane < lane_count; ++lane) sort_lane(lane);
  return order;
}

}  // namespace rankscope
