#include "rankscope/analyzer/open.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {

Result<std::map<std::string, std::uint32_t>> rank_map_from(std::string_view text) {
  std::map<std::string, std::uint32_t> map;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const std::size_t equals = entry.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(ErrorKind::usage, format("--rank-map must be FILE=RANK,... (has \"{}\")", entry));
    const std::string_view file = entry.substr(0, equals);
    RS_TRY(const std::uint32_t rank, number_of<std::uint32_t>(format("--rank-map: the rank of {}", file),
                                                              {.most = most_ranks - 1}, entry.substr(equals + 1)));
    if (!map.emplace(file, rank).second) return fail(ErrorKind::usage, format("--rank-map: {} is given twice", file));
  }
  return map;
}

}  // namespace rankscope::analyzer
