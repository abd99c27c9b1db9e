#include "bandwidth/parts.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string subject_of(const SlowPath& path) {
  switch (path.kind) {
    case SlowPath::Kind::group:
      return format("group {} ({}) moves data", path.name, ranks_text(path.ranks));
    case SlowPath::Kind::link:
      return format("the link from rank {} to rank {} moves data", path.ranks.at(0).value, path.ranks.at(1).value);
    case SlowPath::Kind::sender:
      return format("data sent by rank {} moves", path.ranks.at(0).value);
    case SlowPath::Kind::receiver:
      return format("data received by rank {} moves", path.ranks.at(0).value);
  }
  return "?";
}

}  // namespace

std::string size_text(const SizeClass& size) {
  if (size.from_bytes == 0) return format("below {}", bytes_text(size.below_bytes));
  if (size.below_bytes == 0) return format("{} or more", bytes_text(size.from_bytes));
  return format("{} to {}", bytes_text(size.from_bytes), bytes_text(size.below_bytes));
}

std::string title_of(const SlowPath& path) {
  if (path.compared > 0) return format("{} at {:.2f} times the usual speed", subject_of(path), path.ratio);
  const std::string since = path.since_step ? format(" from step {} on", *path.since_step) : " towards the end";
  return format("{} at {:.2f} times its former speed{}", subject_of(path), path.ratio, since);
}

std::string evidence_of(const SlowPath& path) {
  const std::string where = path.compared > 0
                                ? format("for {}", counted(path.compared, format("comparable {}", name_of(path.kind))))
                                : std::string{"before"};
  return format(
      "{} of {} reaches a bus bandwidth of {}, compared with {} {} (medians); this costs {:.0f} % of the ranks' time",
      path.op, size_text(path.size), speed_text(path.gbps), speed_text(path.usual_gbps), where, path.share * 100);
}

}  // namespace rankscope::analyzer
