#include <array>

#include "exports/chrome.h"
#include "exports/kineto.h"
#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

std::span<const ExportInfo> exports() {
  static constexpr std::array all{
      ExportInfo{"chrome", "Chrome trace JSON; opens in ui.perfetto.dev and chrome://tracing", write_chrome},
      ExportInfo{"kineto", "Kineto JSON as torch.profiler writes it: a file, or a folder with a file per rank",
                 write_kineto},
  };
  return all;
}

}  // namespace rankscope::analyzer
