// What HTA reads out of the name of a row (metrics.md 19.2, 19.3, 19.7 to 19.9).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/hta/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

struct HtaName {
  HtaClass kind = HtaClass::other;
  bool step = false;         ///< ProfilerStep#N
  bool sync = false;         ///< a synchronization that counts as device work whatever its stream
  bool launch = false;       ///< of 19.7
  bool enqueue = false;      ///< of 19.8
  bool nccl_kernel = false;  ///< of 19.9
};
[[nodiscard]] HtaName hta_name_from(std::string_view name);

/// Looks at each name once.
class HtaNames {
 public:
  explicit HtaNames(const Run& run) : run_(run), known_(run.strings().size(), 0), names_(run.strings().size()) {}
  const HtaName& of(StringId id) {
    if (known_[id.index()] == 0) {
      names_[id.index()] = hta_name_from(run_.text(id));
      known_[id.index()] = 1;
    }
    return names_[id.index()];
  }
  [[nodiscard]] std::string_view text(StringId id) const { return run_.text(id); }

 private:
  const Run& run_;
  std::vector<std::uint8_t> known_;
  std::vector<HtaName> names_;
};

}  // namespace rankscope::analyzer
