#include "rankscope/core/rank_choice.h"

#include <algorithm>
#include <charconv>

#include "rankscope/core/format.h"

namespace rankscope {
namespace {

Result<std::int64_t> number(std::string_view text, std::string_view option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return fail(ErrorKind::usage, format("{}: '{}' is no number from 0 up; write ranks as 0,2,4-7", option, text));
  return value;
}

}  // namespace

Result<std::vector<RankId>> ranks_from(std::string_view text, std::string_view option) {
  constexpr std::int64_t most = 1 << 20;
  std::vector<RankId> ranks;
  for (bool more = !text.empty(); more;) {
    const std::string_view word = text.substr(0, text.find(','));
    more = word.size() < text.size();  // a comma follows, and so must a rank
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty() || word.front() == '-')
      return fail(ErrorKind::usage, format("{}: '{}' is no rank; write numbers from 0 up, e.g. 0,2,4-7", option, word));
    const std::size_t dash = word.find('-');
    RS_TRY(const std::int64_t first, number(word.substr(0, dash), option));
    RS_TRY(const std::int64_t last,
           dash == std::string_view::npos ? Result<std::int64_t>{first} : number(word.substr(dash + 1), option));
    if (last < first || last >= most)
      return fail(ErrorKind::usage, format("{}: '{}' is no range of ranks", option, word));
    for (std::int64_t rank = first; rank <= last; ++rank) ranks.push_back(RankId{static_cast<std::uint32_t>(rank)});
  }
  return ranks;
}

}  // namespace rankscope
