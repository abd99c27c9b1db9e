#include "steps/parts.h"

#include <algorithm>

namespace rankscope::analyzer {
bool is_asked_for(const ReportOptions& options, RankId rank) {
  return options.ranks.empty() || std::ranges::find(options.ranks, rank) != options.ranks.end();
}

}  // namespace rankscope::analyzer
