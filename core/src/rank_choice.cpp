#include "rankscope/core/rank_choice.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope {
Result<std::vector<RankId>> ranks_from(std::string_view text, std::string_view option) {
  constexpr Bounds<std::uint32_t> bounds{.least = 0, .most = (1 << 20) - 1};
  std::vector<RankId> ranks;
  for (bool more = !text.empty(); more;) {
    const std::string_view word = text.substr(0, text.find(','));
    more = word.size() < text.size();  // a comma follows, and so must a rank
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t dash = word.find('-');
    const auto first = number_from(word.substr(0, dash), bounds);
    const auto last = dash == std::string_view::npos ? first : number_from(word.substr(dash + 1), bounds);
    if (!first || !last || *last < *first)
      return fail(ErrorKind::usage,
                  format("{} must be ranks from 0 to {}, such as 0,2,4-7 (has \"{}\")", option, bounds.most, word));
    for (std::uint32_t rank = *first; rank <= *last; ++rank) ranks.push_back(RankId{rank});
  }
  return ranks;
}

}  // namespace rankscope
