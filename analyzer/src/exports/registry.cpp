#include <array>

#include "exports/shared/formats.h"

namespace rankscope::analyzer {

std::span<const ExportInfo> exports() {
  static constexpr std::array all{
      ExportInfo{"perfetto", "Perfetto trace (recommended): exact and small; opens in ui.perfetto.dev", write_perfetto},
      ExportInfo{"chrome", "Chrome trace JSON; also opens in chrome://tracing and speedscope", write_chrome},
      ExportInfo{"tensorboard", "folder with a trace per rank for TensorBoard's PyTorch profiler plugin",
                 write_tensorboard},
      ExportInfo{"kineto", "Kineto JSON as torch.profiler writes it: a file, or a folder with a file per rank",
                 write_kineto},
      ExportInfo{"sqlite", "SQLite database with every table of the run, for your own queries", write_sqlite},
  };
  return all;
}

}  // namespace rankscope::analyzer
