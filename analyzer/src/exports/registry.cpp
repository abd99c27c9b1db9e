#include <array>

#include "exports/chrome.h"
#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

std::span<const ExportInfo> exports() {
  static constexpr std::array all{
      ExportInfo{"chrome", "Chrome trace JSON; opens in ui.perfetto.dev and chrome://tracing", write_chrome},
  };
  return all;
}

}  // namespace rankscope::analyzer
