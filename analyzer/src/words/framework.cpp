#include "words/framework.h"

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

bool uses_pytorch(const Run& run) {
  if (run.info().source == "kineto") return true;  // the profiler of PyTorch
  for (std::uint32_t i = 0; i < run.strings().size(); ++i) {
    const std::string_view name = run.strings().text(StringId{i});
    if (name.starts_with("aten::") || name.find("at::native::") != name.npos) return true;
  }
  return false;
}

}  // namespace rankscope::analyzer
