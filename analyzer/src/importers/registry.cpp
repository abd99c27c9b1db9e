#include <array>

#include "importers/importer.h"
#include "importers/kineto/kineto.h"

namespace rankscope::analyzer {

std::span<const ImporterInfo> importers() {
  static constexpr std::array all{
      ImporterInfo{"kineto", "Kineto JSON of torch.profiler (.json, .json.gz)", kineto::recognises, kineto::read},
  };
  return all;
}

}  // namespace rankscope::analyzer
