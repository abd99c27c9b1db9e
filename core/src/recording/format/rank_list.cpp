#include "rankscope/core/recording/rank_list.h"

#include "rankscope/core/format.h"
#include "rankscope/core/most_ranks.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/recording/format.h"

namespace rankscope::recording {
namespace {

constexpr std::size_t most_listed = std::size_t{1} << 20;  // what a damaged list may claim
constexpr std::size_t shortest_run = 3;
constexpr Bounds<std::uint32_t> rank_bounds{.least = 0, .most = std::uint32_t{most_ranks - 1}};

std::string plain(std::span<const RankId> ranks) {
  std::string text;
  for (const RankId rank : ranks) text += format("{}{}", text.empty() ? "" : ",", rank.value);
  return text;
}

/// How many ranks from the first on have the same distance from one another.
std::size_t run_length(std::span<const RankId> ranks) {
  if (ranks.size() < 2 || ranks[1].value <= ranks[0].value) return 1;
  const std::uint32_t stride = ranks[1].value - ranks[0].value;
  std::size_t length = 2;
  while (length < ranks.size() && ranks[length].value > ranks[length - 1].value &&
         ranks[length].value - ranks[length - 1].value == stride)
    ++length;
  return length;
}

std::string in_runs(std::span<const RankId> ranks) {
  std::string text;
  while (!ranks.empty()) {
    const std::size_t run = run_length(ranks);
    const std::size_t taken = run >= shortest_run ? run : 1;
    text += format("{}{}", text.empty() ? "" : ",", ranks[0].value);
    if (taken > 1) text += format("-{}", ranks[taken - 1].value);
    if (taken > 1 && ranks[1].value - ranks[0].value > 1) text += format(":{}", ranks[1].value - ranks[0].value);
    ranks = ranks.subspan(taken);
  }
  return text;
}

bool take_sign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string rank_list(std::span<const RankId> ranks) {
  std::string text = plain(ranks);
  return text.size() < longest_string ? text : in_runs(ranks);  // as long as that: it may have been cut
}

std::optional<std::vector<RankId>> ranks_in(std::string_view list) {
  std::vector<RankId> ranks;
  while (!list.empty()) {
    const auto first = take_number<std::uint32_t>(list, rank_bounds);
    const auto last = take_sign(list, '-') ? take_number<std::uint32_t>(list, rank_bounds) : first;
    const auto stride = take_sign(list, ':') ? take_number<std::uint32_t>(list, {.least = 1}) : 1;
    if (!first || !last || !stride) return std::nullopt;
    if (*last < *first || (*last - *first) / *stride >= most_listed - ranks.size()) return std::nullopt;
    for (std::uint64_t rank = *first; rank <= *last; rank += *stride)
      ranks.push_back(RankId{static_cast<std::uint32_t>(rank)});
    if (!list.empty() && !take_sign(list, ',')) return std::nullopt;
  }
  return ranks;
}

}  // namespace rankscope::recording
